// All keys of the sections read, for `recipe show --help` and the like.

#include <string>

#include "recipes/recipe_state.h"

namespace lockstep {

std::string RecipeState::HelpText() const {
  std::string text;
  for (const std::string& section : section_order_) {
    std::string block;
    for (const std::string& path : key_order_) {
      const KeyRecord& record = keys_.at(path);
      if (record.section != section) {
        continue;
      }
      block += "  " + record.key + " = " + record.default_text + "\n      " +
               record.help + "; " + record.type +
               (record.trajectory ? "" : "; not in the trajectory") + "\n";
    }
    if (block.empty()) {
      continue;
    }
    const size_t array = section.find("[]");
    text +=
        array != std::string::npos
            ? "[[" + section.substr(0, array) + "]]\n"
            : (section.empty() ? "(top level)" : "[" + section + "]") + "\n";
    text += block;
  }
  return text;
}

}  // namespace lockstep
