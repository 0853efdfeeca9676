// Keys of which a recipe gives one: the run's length in steps, samples or
// tokens.
//
// What it is: where a stronger place gives one of them, the weaker place's
// others are put out, as a value of the same key would be. What it is not: the
// check that one is given: two of one place both stay, for the reader of the
// section to refuse. Why so: they are three names of one value, and whoever
// sets a length over a recipe's own cannot take that one out of the file.

#ifndef RECIPES_ONE_OF_H_
#define RECIPES_ONE_OF_H_

#include <string>
#include <vector>

#include "recipes/layers.h"
#include "recipes/value.h"

namespace lockstep {

// Before `top` is laid over `base`.
void PutOutOthers(const Value& top, Value& base, Overridden& overridden);

// Before all of the --set texts are applied to `base`; what is no setting of
// such a key counts as none.
void PutOutOthers(const std::vector<std::string>& sets, Value& base,
                  Overridden& overridden);

}  // namespace lockstep

#endif  // RECIPES_ONE_OF_H_
