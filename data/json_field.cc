#include "data/json_field.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "determinism/status.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

constexpr size_t kKeysTold = 8;
constexpr int kNumberOverflow = 406;  // of the parser's errors

// The parser's events, without a tree: a line may be gigabytes.
class FieldFinder : public nlohmann::json_sax<Json> {
 public:
  explicit FieldFinder(const std::string& field) : field_(field) {}

  bool null() override { return Other("null"); }
  bool boolean(bool) override { return Other("a boolean"); }
  bool number_integer(number_integer_t) override { return Other("a number"); }
  bool number_unsigned(number_unsigned_t) override { return Other("a number"); }
  bool number_float(number_float_t, const string_t&) override {
    return Other("a number");
  }
  bool binary(binary_t&) override { return Other("binary"); }
  bool string(string_t& value) override {
    if (depth_ == 0) return Other("a string");
    if (Chosen()) text_ = std::move(value);
    chosen_ = false;
    return true;
  }
  bool start_object(size_t) override {
    if (depth_ == 0) is_object_ = true;
    return Begin("an object");
  }
  bool start_array(size_t) override { return Begin("an array"); }
  bool end_object() override { return End(); }
  bool end_array() override { return End(); }

  bool key(string_t& name) override {
    if (depth_ != 1) return true;
    chosen_ = name == field_;
    seen_ += chosen_ ? 1 : 0;
    if (keys_ < kKeysTold) names_ += (keys_ == 0 ? "" : ", ") + name;
    if (keys_ == kKeysTold) names_ += ", ...";
    ++keys_;
    return true;
  }
  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 9: ...",
    // "[json.exception.out_of_range.406] number overflow parsing '1e999'"
    const std::string text = error.what();
    const size_t colon = text.find(": ");
    const size_t bracket = text.find("] ");
    error_ = "column " + std::to_string(position) + ": " +
             (colon != text.npos     ? text.substr(colon + 2)
              : bracket != text.npos ? text.substr(bracket + 2)
                                     : text);
    if (error.id == kNumberOverflow) error_ += ": it is no binary64 number";
    return false;
  }

  bool is_object() const { return is_object_; }
  int64_t seen() const { return seen_; }
  const std::string& kind() const { return kind_; }
  const std::string& error() const { return error_; }
  const std::string& names() const { return names_; }
  std::string& text() { return text_; }

 private:
  bool Chosen() const { return chosen_ && depth_ == 1; }
  bool Other(const char* kind) {
    if (Chosen() || depth_ == 0) kind_ = kind;
    chosen_ = false;
    return true;
  }
  bool Begin(const char* kind) {
    if (depth_ > 0) Other(kind);
    if (depth_ == 0 && !is_object_) kind_ = kind;
    ++depth_;
    return true;
  }
  bool End() {
    --depth_;
    return true;
  }

  const std::string& field_;
  int64_t depth_ = 0;
  bool is_object_ = false;
  bool chosen_ = false;  // the next value is the field's
  int64_t seen_ = 0;
  size_t keys_ = 0;
  std::string names_;
  std::string kind_;  // of a value that is no string
  std::string error_;
  std::string text_;
};

}  // namespace

absl::StatusOr<std::string> JsonField(std::string_view line,
                                      const std::string& field,
                                      const std::string& where) {
  // The parser takes a zero byte for the end and would pass what is behind it.
  if (const size_t zero = line.find('\0'); zero != std::string_view::npos) {
    return InputError(
        "the line has a zero byte at column " + std::to_string(zero + 1), where,
        "fetch or make the file anew: it was not written to its "
        "end");
  }
  FieldFinder finder(field);
  if (!Json::sax_parse(line.begin(), line.end(), &finder)) {
    return InputError("not a line of JSON: " + finder.error(), where,
                      "mend or remove the line; in .jsonl each line is one "
                      "JSON object in UTF-8");
  }
  if (!finder.is_object()) {
    return InputError("the line is " + finder.kind() + ", not a JSON object",
                      where,
                      "each line is to be an object with the text in the "
                      "field \"" +
                          field + "\"");
  }
  if (finder.seen() == 0) {
    return InputError("the line has no field \"" + field + "\"; it has: " +
                          (finder.names().empty() ? "none" : finder.names()),
                      where,
                      "name the field that holds the text (`field` of the "
                      "data source, --field), or remove the line");
  }
  if (finder.seen() > 1) {
    return InputError("the line has the field \"" + field + "\" " +
                          std::to_string(finder.seen()) + " times",
                      where, "leave one of them");
  }
  if (!finder.kind().empty()) {
    return InputError(
        "the field \"" + field + "\" is " + finder.kind() + ", not a string",
        where,
        "name the field that holds the text (`field` of the "
        "data source, --field), or remove the line");
  }
  return std::move(finder.text());
}

}  // namespace lockstep
