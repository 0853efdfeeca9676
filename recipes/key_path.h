// Paths of keys: "seed", "batch.micro", "data.source.0.weight".
//
// What is declared once for all entries of an array of tables has the path
// "data.source[].weight" and is described by a sample entry without values.

#ifndef RECIPES_KEY_PATH_H_
#define RECIPES_KEY_PATH_H_

#include <string>
#include <string_view>
#include <utility>

namespace lockstep {

inline constexpr std::string_view kSample = "[]";

inline bool IsSample(std::string_view path) {
  return path.find(kSample) != std::string_view::npos;
}

// "a.b" of "a" and "b"; "b" of "" and "b".
std::string JoinKey(std::string_view section, std::string_view key);

// "data.source[].weight" of "data.source.0.weight".
std::string DeclaredPath(const std::string& path);

// Section and key: "data.source.0" and "weight".
std::pair<std::string, std::string> SplitLast(const std::string& path);

}  // namespace lockstep

#endif  // RECIPES_KEY_PATH_H_
