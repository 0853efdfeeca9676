#include "recipes/value.h"

#include <array>
#include <charconv>
#include <cmath>

namespace lockstep {
namespace {

std::string Escaped(unsigned char c) {
  switch (c) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\n':
      return "\\n";
    case '\t':
      return "\\t";
    case '\r':
      return "\\r";
    default:
      break;
  }
  constexpr std::string_view kHex = "0123456789ABCDEF";
  return std::string("\\u00") + kHex[c >> 4] + kHex[c & 15];
}

std::string TableText(const std::map<std::string, Value>& members) {
  std::string text = "{";
  for (const auto& [key, value] : members) {
    text += (text.size() > 1 ? ", " : "") + key + " = " + CanonicalText(value);
  }
  return text + "}";
}

}  // namespace

std::string Origin::Where() const {
  if (from_set()) {
    return "--set " + set_text;
  }
  return line > 0 ? file + ":" + std::to_string(line) : file;
}

std::string Origin::Source() const { return from_set() ? "--set" : Where(); }

const Value* Value::Member(const std::string& key) const {
  const auto found = members.find(key);
  return found == members.end() ? nullptr : &found->second;
}

std::string_view NameOf(Value::Kind kind) {
  switch (kind) {
    case Value::Kind::kBool:
      return "a boolean";
    case Value::Kind::kInt:
      return "an integer";
    case Value::Kind::kReal:
      return "a real";
    case Value::Kind::kString:
      return "a string";
    case Value::Kind::kList:
      return "a list";
    case Value::Kind::kTable:
      return "a table";
    case Value::Kind::kOther:
      return "a date or time";
  }
  return "unknown";
}

std::string BoolText(bool value) { return value ? "true" : "false"; }

std::string IntText(int64_t value) { return std::to_string(value); }

std::string RealText(double value) {
  if (std::isnan(value)) {
    return "nan";
  }
  if (std::isinf(value)) {
    return value > 0 ? "inf" : "-inf";
  }
  std::array<char, 32> buffer;
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string text(buffer.data(), end);
  // TOML would read "4" as an integer.
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string QuotedText(std::string_view value) {
  std::string text = "\"";
  for (const char c : value) {
    const unsigned char byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F || c == '"' || c == '\\') {
      text += Escaped(byte);
    } else {
      text += c;
    }
  }
  return text + "\"";
}

std::string ListText(const std::vector<std::string>& items) {
  std::string text = "[";
  for (size_t i = 0; i < items.size(); ++i) {
    text += (i > 0 ? ", " : "") + items[i];
  }
  return text + "]";
}

std::string CanonicalText(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kBool:
      return BoolText(value.boolean);
    case Value::Kind::kInt:
      return IntText(value.integer);
    case Value::Kind::kReal:
      return RealText(value.real);
    case Value::Kind::kString:
      return QuotedText(value.text);
    case Value::Kind::kTable:
      return TableText(value.members);
    case Value::Kind::kOther:
      return value.text;
    case Value::Kind::kList:
      break;
  }
  std::vector<std::string> items;
  for (const Value& item : value.items) {
    items.push_back(CanonicalText(item));
  }
  return ListText(items);
}

}  // namespace lockstep
