// TOML text to Value trees: the one door to TOML++.

#ifndef RECIPES_TOML_READER_H_
#define RECIPES_TOML_READER_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "recipes/value.h"

namespace lockstep {

// The whole file as a table. InvalidArgument "file:line: ..." for what is not
// TOML 1.0, a key given twice included.
absl::StatusOr<Value> ParseToml(std::string_view text, const std::string& file);

// A value as --set takes it: TOML, or a string where it is a bare word (what
// begins like no TOML value, or like one and is none: M-M*-, ../corpus, 4x).
// InvalidArgument for a broken quote, bracket or brace, and for nothing.
// `origin` becomes the origin of the value and all in it.
absl::StatusOr<Value> ParseSetValue(std::string_view text,
                                    const Origin& origin);

}  // namespace lockstep

#endif  // RECIPES_TOML_READER_H_
