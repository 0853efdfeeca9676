// One recipe laid over another: file over base, --set over file.
//
// Tables merge key by key; anything else, lists and arrays of tables included,
// is replaced as a whole. Each value that lost is kept, so that a run can say
// which of two settings it obeyed and where both stand.

#ifndef RECIPES_LAYERS_H_
#define RECIPES_LAYERS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "recipes/value.h"

namespace lockstep {

// Path of a key ("data.source.0.weight") to its replaced values, strongest
// first.
using Overridden = std::map<std::string, std::vector<Value>>;

// Lays `top` over `base`.
void Overlay(Value top, Value& base, Overridden& overridden);

// Applies "section.key=value" (toml_reader.h, ParseSetValue) to `root`. A
// number in the path is an index: of an entry that exists, or of the next one,
// which is then begun. InvalidArgument, without the origin, and `root` as it
// was, for a path that leads nowhere.
absl::Status ApplySet(const std::string& set, Value& root,
                      Overridden& overridden);

}  // namespace lockstep

#endif  // RECIPES_LAYERS_H_
