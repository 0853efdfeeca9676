#include "recipes/key_path.h"

#include <algorithm>

namespace lockstep {

std::string JoinKey(std::string_view section, std::string_view key) {
  return section.empty() ? std::string(key)
                         : std::string(section) + "." + std::string(key);
}

std::string DeclaredPath(const std::string& path) {
  std::string declared;
  size_t begin = 0;
  while (begin < path.size()) {
    const size_t end = std::min(path.find('.', begin), path.size());
    const std::string part = path.substr(begin, end - begin);
    const bool index =
        part.find_first_not_of("0123456789") == std::string::npos;
    declared += index && begin > 0 ? "[]" : (begin > 0 ? "." : "") + part;
    begin = end + 1;
  }
  return declared;
}

std::pair<std::string, std::string> SplitLast(const std::string& path) {
  const size_t dot = path.rfind('.');
  return dot == std::string::npos
             ? std::pair(std::string(), path)
             : std::pair(path.substr(0, dot), path.substr(dot + 1));
}

}  // namespace lockstep
