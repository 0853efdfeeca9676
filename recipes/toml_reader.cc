#include "recipes/toml_reader.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <sstream>
#include <utility>

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include "absl/status/status.h"

namespace lockstep {
namespace {

// Byte offset of a TOML++ position, whose columns count code points from 1.
size_t OffsetOf(std::string_view text, const toml::source_position& position) {
  size_t offset = 0;
  for (toml::source_index line = 1; line < position.line; ++line) {
    const size_t end = text.find('\n', offset);
    if (end == std::string_view::npos) {
      return text.size();
    }
    offset = end + 1;
  }
  for (toml::source_index column = 1;
       column < position.column && offset < text.size(); ++column) {
    ++offset;
    while (offset < text.size() &&
           (static_cast<unsigned char>(text[offset]) & 0xC0) == 0x80) {
      ++offset;
    }
  }
  return offset;
}

// The number as written, without underscores and leading plus.
std::string NumberAt(std::string_view text, size_t offset) {
  const size_t end = text.find_first_not_of("0123456789+-._eE", offset);
  std::string number;
  for (const char c : text.substr(offset, end - offset)) {
    if (c != '_' && !(c == '+' && number.empty())) {
      number += c;
    }
  }
  return number;
}

class Converter {
 public:
  Converter(std::string_view text, const Origin& origin)
      : text_(text), origin_(origin) {}

  Value Convert(const toml::node& node) const {
    Value value;
    value.origin = origin_;
    if (!origin_.from_set()) {
      value.origin.line = static_cast<int64_t>(node.source().begin.line);
    }
    Fill(node, value);
    return value;
  }

 private:
  void Fill(const toml::node& node, Value& value) const {
    if (const toml::table* table = node.as_table()) {
      value.kind = Value::Kind::kTable;
      for (const auto& [key, member] : *table) {
        value.members.emplace(std::string(key.str()), Convert(member));
      }
    } else if (const toml::array* array = node.as_array()) {
      value.kind = Value::Kind::kList;
      for (const toml::node& item : *array) {
        value.items.push_back(Convert(item));
      }
    } else if (const auto* boolean = node.as_boolean()) {
      value.kind = Value::Kind::kBool;
      value.boolean = boolean->get();
    } else if (const auto* integer = node.as_integer()) {
      value.kind = Value::Kind::kInt;
      value.integer = integer->get();
    } else if (const auto* real = node.as_floating_point()) {
      FillReal(node, real->get(), value);
    } else if (const auto* string = node.as_string()) {
      value.kind = Value::Kind::kString;
      value.text = string->get();
    } else {
      FillOther(node, value);
    }
  }

  // TOML++ turns 1e-400 into 0.0 without a word, so the text decides.
  void FillReal(const toml::node& node, double parsed, Value& value) const {
    value.kind = Value::Kind::kReal;
    value.real = parsed;
    if (std::isfinite(parsed)) {
      value.text = NumberAt(text_, OffsetOf(text_, node.source().begin));
      const auto result = std::from_chars(
          value.text.data(), value.text.data() + value.text.size(), value.real);
      value.underflow =
          result.ec == std::errc::result_out_of_range ||
          (value.real != 0 &&
           std::abs(value.real) < std::numeric_limits<double>::min());
    }
  }

  static void FillOther(const toml::node& node, Value& value) {
    std::ostringstream out;
    node.visit([&](const auto& typed) {
      if constexpr (toml::is_value<decltype(typed)>) {
        out << typed.get();
      }
    });
    value.kind = Value::Kind::kOther;
    value.text = std::move(out).str();
  }

  const std::string_view text_;
  const Origin& origin_;
};

std::string SyntaxText(const toml::parse_error& error) {
  std::string text(error.description());
  constexpr std::string_view kTwice = "cannot redefine existing";
  if (const size_t at = text.find(kTwice); at != std::string::npos) {
    return "given twice:" + text.substr(at + kTwice.size()) +
           " exists already; remove one of the two";
  }
  return "not TOML: " + (text.starts_with("Error ") ? text.substr(6) : text);
}

// Whether the text can only have been meant as TOML.
bool OpensToml(char first) {
  return first == '"' || first == '\'' || first == '[' || first == '{';
}

// Decimal, as a person writes one: what is no TOML then is too large.
bool IsInteger(std::string_view text) {
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && !text.starts_with('0') &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

absl::StatusOr<Value> ParseToml(std::string_view text,
                                const std::string& file) {
  const toml::parse_result result = toml::parse(text, std::string_view(file));
  if (!result) {
    const auto line = static_cast<int64_t>(result.error().source().begin.line);
    const Origin origin{.file = file, .line = line, .set_text = ""};
    return absl::InvalidArgumentError(origin.Where() + ": " +
                                      SyntaxText(result.error()));
  }
  const Origin origin{.file = file, .line = 0, .set_text = ""};
  Value root = Converter(text, origin).Convert(result.table());
  root.origin.line = 0;
  return root;
}

absl::StatusOr<Value> ParseSetValue(std::string_view text,
                                    const Origin& origin) {
  if (text.empty()) {
    return absl::InvalidArgumentError(
        "no value after '='; \"\" is the empty string");
  }
  // Lines would smuggle in keys of their own; a list stays on one line.
  const bool one_line = text.find_first_of("\r\n") == std::string_view::npos;
  const std::string document = "value = " + std::string(text);
  const toml::parse_result result = toml::parse(document);
  if (one_line && result) {
    return Converter(document, origin).Convert(*result.table().get("value"));
  }
  if (OpensToml(text.front())) {
    return absl::InvalidArgumentError(one_line ? SyntaxText(result.error())
                                               : "the value has several lines");
  }
  if (IsInteger(text)) {
    return absl::InvalidArgumentError(
        std::string(text) + " is beyond the integers there are, " +
        std::to_string(std::numeric_limits<int64_t>::min()) + " to " +
        std::to_string(std::numeric_limits<int64_t>::max()));
  }
  Value value;
  value.kind = Value::Kind::kString;
  value.text = std::string(text);
  value.origin = origin;
  return value;
}

}  // namespace lockstep
