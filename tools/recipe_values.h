// A resolved recipe's text as values by key, and where two of them differ.
//
// What it is: "key = value" lines taken apart. What it is not: a recipe: it
// checks nothing (recipes/recipe.h), nor a verdict on a difference
// (ckpt/manifest_compare.h). Why so: a manifest keeps this text, and a verb
// that is given a recipe beside a run must say by key what does not fit.
#ifndef LOCKSTEP_TOOLS_RECIPE_VALUES_H_
#define LOCKSTEP_TOOLS_RECIPE_VALUES_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace lockstep {

std::map<std::string, std::string> RecipeValues(const std::string& text);

// Whether the key is none of a recipe: its value follows from others.
bool FollowsFromOthers(const std::string& key);

// "key: A -> B" for each key that `counts` admits and that is not the same in
// both texts; "(absent)" stands for the value of a key that one lacks. Sorted.
std::vector<std::string> ChangedValues(
    const std::string& from, const std::string& to,
    const std::function<bool(const std::string& key)>& counts);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_RECIPE_VALUES_H_
