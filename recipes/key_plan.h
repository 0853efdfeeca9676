// How one key of a section is read, between Section's typed methods, which make
// the plan, and Section::Handle, which does the same for each. Internal.

#ifndef RECIPES_KEY_PLAN_H_
#define RECIPES_KEY_PLAN_H_

#include <functional>
#include <string>

#include "recipes/take.h"
#include "recipes/value.h"

namespace lockstep {

// `take` stores a sound value and gives its canonical
// text, or says what is wrong.
struct KeyPlan {
  std::string type;
  std::string default_text;
  std::string help;
  bool trajectory = true;
  bool required = false;
  std::function<Taken<std::string>(const Value&)> take;
};

}  // namespace lockstep

#endif  // RECIPES_KEY_PLAN_H_
