// Maps from key to value, and where two of them differ. Inside ckpt only.

#ifndef CKPT_VALUE_CHANGES_H_
#define CKPT_VALUE_CHANGES_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

using Values = std::map<std::string, std::string>;

// "key = value" lines, as a resolved recipe has them.
Values ParseValueLines(std::string_view text);

struct ValueChange {
  std::string key;
  std::string saved;  // "(absent)" where only the other has the key
  std::string current;
};

// Sorted by key.
std::vector<ValueChange> ChangesBetween(const Values& saved,
                                        const Values& current);

}  // namespace lockstep

#endif  // CKPT_VALUE_CHANGES_H_
