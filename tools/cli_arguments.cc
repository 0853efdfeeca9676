// Arguments as they were typed, before and beside the parser's reading of them.
#include <algorithm>
#include <charconv>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "data/piece_text.h"
#include "tools/cli_verb.h"

namespace lockstep {
namespace {

// The verb or option that `argument` names within `app`, or null.
CLI::App* VerbOf(CLI::App& app, const std::string& argument) {
  for (CLI::App* verb : app.get_subcommands({})) {
    if (verb->get_name() == argument) return verb;
  }
  return nullptr;
}

// The option of `argument`, "--name" or "--name=value".
CLI::Option* OptionOf(CLI::App& app, const std::string& argument) {
  if (!argument.starts_with("--")) return nullptr;
  return app.get_option_no_throw(argument.substr(0, argument.find('=')));
}

// What a message or a JSON answer can name.
bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

// No word is nothing but a prompt: what else is empty was meant to be something
// (a shell's variable that is not set), and taken for "none given" it would be
// another command.
std::string EmptyMistake(const std::vector<std::string>& arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].empty()) continue;
    const std::string before = i == 0 ? "" : arguments[i - 1];
    if (before == "--prompt") continue;
    return absl::StrCat("the argument ",
                        before.empty() ? "" : "behind " + before + " ",
                        "is empty; name what is meant, or leave it out");
  }
  return "";
}

bool TakesAValue(const CLI::Option& option) {
  return option.get_items_expected_min() > 0;
}

}  // namespace

CLI::Validator Whole(int64_t least, int64_t most) {
  const std::string range = absl::StrCat("from ", least, " to ", most);
  CLI::Validator validator(absl::StrCat("INT [", least, " - ", most, "]"));
  validator.operation([=](std::string& text) -> std::string {
    int64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, value);
    const bool whole = result.ec == std::errc() && result.ptr == end;
    if (whole && value >= least && value <= most) {
      text = absl::StrCat(value);  // 010 is ten
      return "";
    }
    return absl::StrCat("takes a whole number ", range, ", and got '", text,
                        "'");
  });
  return validator;
}

std::string ArgumentMistake(CLI::App& app,
                            const std::vector<std::string>& arguments) {
  CLI::App* verb = &app;
  for (const std::string& argument : arguments) {
    if (IsUtf8(argument)) continue;
    return absl::StrCat("the argument ", absl::CHexEscape(argument),
                        " is no UTF-8; rename what it names");
  }
  const std::string empty = EmptyMistake(arguments);
  if (!empty.empty()) return empty;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") break;
    if (CLI::App* inner = VerbOf(*verb, argument)) {
      verb = inner;
      continue;
    }
    const CLI::Option* const option = OptionOf(*verb, argument);
    if (option == nullptr || !TakesAValue(*option)) continue;
    if (argument.find('=') + 1 == argument.size()) {
      return absl::StrCat(argument, " has no value; write ", argument,
                          "VALUE, or leave the option out");
    }
    if (argument.find('=') != std::string::npos) continue;
    const bool last = i + 1 == arguments.size();
    if (!last && OptionOf(*verb, arguments[i + 1]) != nullptr) {
      return absl::StrCat(argument, " has no value before ", arguments[i + 1],
                          "; if that is its value, write ", argument, "=",
                          arguments[i + 1]);
    }
    ++i;  // its value, whatever that looks like
  }
  return "";
}

}  // namespace lockstep
