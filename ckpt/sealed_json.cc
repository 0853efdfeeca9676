#include "ckpt/sealed_json.h"

#include <limits>
#include <utility>

#include "determinism/sha256.h"

namespace lockstep {
namespace {

constexpr std::string_view kSealStart = "  \"sha256\": \"";
constexpr std::string_view kSealEnd = "\"\n}\n";
constexpr size_t kSealBytes = kSealStart.size() + 64 + kSealEnd.size();

std::string SealOf(std::string_view body) {
  std::string seal(kSealStart);
  return seal.append(Sha256Hex(body)).append(kSealEnd);
}

const OrderedJson& EmptyObject() {
  static const OrderedJson* const empty =
      new OrderedJson(OrderedJson::object());
  return *empty;
}

const OrderedJson& EmptyArray() {
  static const OrderedJson* const empty = new OrderedJson(OrderedJson::array());
  return *empty;
}

}  // namespace

std::string SealJson(const OrderedJson& object) {
  std::string body =
      object.dump(2, ' ', false, OrderedJson::error_handler_t::replace);
  body.resize(body.size() - 2);  // "\n}"
  body += ",\n";
  return body + SealOf(body);
}

absl::StatusOr<OrderedJson> OpenSealedJson(std::string_view text) {
  if (text.size() <= kSealBytes) {
    return absl::InvalidArgumentError("is cut short: there is no seal");
  }
  const std::string_view body = text.substr(0, text.size() - kSealBytes);
  if (text.substr(body.size()) != SealOf(body)) {
    return absl::InvalidArgumentError(
        "does not match its SHA-256: changed or cut short");
  }
  OrderedJson parsed = OrderedJson::parse(text, nullptr, false);
  if (!parsed.is_object()) {
    return absl::InvalidArgumentError("is not a JSON object");
  }
  return parsed;
}

std::string CompactJson(const OrderedJson& value) {
  return value.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

JsonFields::JsonFields(const OrderedJson& object, std::string path)
    : object_(object), path_(std::move(path)) {
  if (!object_.is_object()) {
    Complain("is not an object");
  }
}

void JsonFields::Complain(std::string_view what) {
  if (error_.empty()) {
    error_ = path_ + " " + std::string(what);
  }
}

const OrderedJson* JsonFields::Find(const char* key) {
  const auto found = object_.is_object() ? object_.find(key) : object_.end();
  if (found == object_.end()) {
    Complain(std::string("has no field \"") + key + "\"");
    return nullptr;
  }
  return &*found;
}

void JsonFields::WrongType(const char* key, const char* wanted) {
  Complain(std::string("has a field \"") + key + "\" that is not " + wanted);
}

void JsonFields::Get(const char* key, bool& out) {
  const OrderedJson* value = Find(key);
  if (value == nullptr) return;
  if (!value->is_boolean()) return WrongType(key, "true or false");
  out = value->get<bool>();
}

void JsonFields::Get(const char* key, int64_t& out) {
  const OrderedJson* value = Find(key);
  if (value == nullptr) return;
  if (!value->is_number_integer() ||
      (value->is_number_unsigned() &&
       value->get<uint64_t>() >
           static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))) {
    return WrongType(key, "a 64-bit integer");
  }
  out = value->get<int64_t>();
}

void JsonFields::Get(const char* key, uint64_t& out) {
  const OrderedJson* value = Find(key);
  if (value == nullptr) return;
  if (!value->is_number_unsigned()) {
    return WrongType(key, "an unsigned integer");
  }
  out = value->get<uint64_t>();
}

void JsonFields::Get(const char* key, std::string& out) {
  const OrderedJson* value = Find(key);
  if (value == nullptr) return;
  if (!value->is_string()) return WrongType(key, "a string");
  out = value->get<std::string>();
}

void JsonFields::GetIfThere(const char* key, std::string& out) {
  if (object_.contains(key)) Get(key, out);
}

void JsonFields::Get(const char* key, std::vector<int64_t>& out) {
  out.clear();
  for (const OrderedJson& item : Array(key)) {
    if (!item.is_number_integer() || item.is_number_float()) {
      return WrongType(key, "a list of integers");
    }
    if (item.is_number_unsigned() &&
        item.get<uint64_t>() >
            static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return WrongType(key, "a list of 64-bit integers");
    }
    out.push_back(item.get<int64_t>());
  }
}

void JsonFields::Get(const char* key, std::vector<std::string>& out) {
  out.clear();
  for (const OrderedJson& item : Array(key)) {
    if (!item.is_string()) return WrongType(key, "a list of strings");
    out.push_back(item.get<std::string>());
  }
}

void JsonFields::Get(const char* key, std::map<std::string, std::string>& out) {
  out.clear();
  for (const auto& [name, value] : Object(key).items()) {
    if (!value.is_string()) return WrongType(key, "a map to strings");
    out[name] = value.get<std::string>();
  }
}

const OrderedJson& JsonFields::Object(const char* key) {
  const OrderedJson* value = Find(key);
  if (value == nullptr) return EmptyObject();
  if (!value->is_object()) {
    WrongType(key, "an object");
    return EmptyObject();
  }
  return *value;
}

const OrderedJson& JsonFields::Array(const char* key) {
  const OrderedJson* value = Find(key);
  if (value == nullptr) return EmptyArray();
  if (!value->is_array()) {
    WrongType(key, "a list");
    return EmptyArray();
  }
  return *value;
}

bool IsSha256Hex(std::string_view text) {
  return text.size() == 64 &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace lockstep
