// The files of a recipe: the one named, and what it extends, layered.

#ifndef RECIPES_FILES_H_
#define RECIPES_FILES_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "recipes/layers.h"
#include "recipes/value.h"

namespace lockstep {

struct LayeredFiles {
  Value root;
  Overridden overridden;
};

// Gives a file's text.
using ReadText =
    std::function<absl::StatusOr<std::string>(const std::string& path)>;

// `extends` counts from the folder of the file that says it, and is no key of
// the result. InvalidArgument: a file that cannot be read or is not TOML, a
// circle, an `extends` that is no string.
absl::StatusOr<LayeredFiles> LoadFiles(const std::string& path,
                                       const ReadText& read);

}  // namespace lockstep

#endif  // RECIPES_FILES_H_
