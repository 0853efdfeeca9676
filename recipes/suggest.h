// What a user may have meant by a word that is none of the known ones.

#ifndef RECIPES_SUGGEST_H_
#define RECIPES_SUGGEST_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

// EditDistance (determinism/nearest.h), where upper case equals lower and a
// hyphen an underscore.
int64_t WordDistance(std::string_view a, std::string_view b);

// The least distant of `words` (the first of several), "" of none.
std::string NearestWord(std::string_view word,
                        const std::vector<std::string>& words);

// What to say of an unknown key `section`.`key`. `known` are the paths of all
// keys ("optimizer.lr", "data.source[].weight"). In this order: the same word
// up to hyphens and case in the section, the same word in another section, a
// near word (or one of which `key`'s initials are the name) in the section,
// then elsewhere: "did you mean optimizer.lr?". Else "nearest valid key: ...".
std::string SuggestKey(std::string_view section, std::string_view key,
                       const std::vector<std::string>& known);

// The same for a section's name: "did you mean [optimizer]?".
std::string SuggestSection(std::string_view section,
                           const std::vector<std::string>& known);

}  // namespace lockstep

#endif  // RECIPES_SUGGEST_H_
