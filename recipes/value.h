// One value of a recipe and where it was written.
//
// TOML++ is slow to compile, so one file (toml_reader.cc) turns its tree into
// this one and nothing else includes it. Dates and times are no recipe's
// business: they survive as kOther, so that a wrong one can be pointed at.

#ifndef RECIPES_VALUE_H_
#define RECIPES_VALUE_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

// A line of a file, or an argument of --set (`set_text` is then the argument).
struct Origin {
  std::string file;
  int64_t line = 0;  // from 1; 0: the file as a whole
  std::string set_text;

  bool from_set() const { return !set_text.empty(); }
  std::string Where() const;   // "a.toml:3", "--set a.b=4"
  std::string Source() const;  // "a.toml:3", "--set"
};

class Value {
 public:
  enum class Kind { kBool, kInt, kReal, kString, kList, kTable, kOther };

  Kind kind = Kind::kTable;
  bool boolean = false;
  int64_t integer = 0;
  double real = 0;
  // A real that was written as more than zero and is zero or subnormal, which
  // arithmetic would flush to zero.
  bool underflow = false;
  std::string text;  // of kString; as written of kReal and kOther
  std::vector<Value> items;
  std::map<std::string, Value> members;
  Origin origin;

  bool is(Kind k) const { return kind == k; }
  // Null when there is none, or when this is no table.
  const Value* Member(const std::string& key) const;
};

// "an integer", for messages.
std::string_view NameOf(Value::Kind kind);

// Canonical TOML: the same value has one text, and a real's text gives the same
// binary64 back.
std::string BoolText(bool value);
std::string IntText(int64_t value);
std::string RealText(double value);
std::string QuotedText(std::string_view value);
std::string ListText(const std::vector<std::string>& items);
std::string CanonicalText(const Value& value);

}  // namespace lockstep

#endif  // RECIPES_VALUE_H_
