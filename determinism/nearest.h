// The valid name nearest to a mistyped one, for error messages.
//
// Nearest by edit distance (insert, delete, replace, swap of neighbours count
// one each), the earlier of equals. Always answers, however far: a reader finds
// a far suggestion odd, and an absent one useless. Lower-case ASCII expected.

#ifndef DETERMINISM_NEAREST_H_
#define DETERMINISM_NEAREST_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace lockstep {

int64_t EditDistance(std::string_view a, std::string_view b);

// Empty only if `valid` is.
std::string_view NearestName(std::string_view name,
                             std::span<const std::string_view> valid);

// "a, b, c".
std::string JoinNames(std::span<const std::string_view> names);

}  // namespace lockstep

#endif  // DETERMINISM_NEAREST_H_
