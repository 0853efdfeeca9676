// What of a recipe's text makes the learning-rate curve.
//
// What it is: the keys that shape the curve, and the derived values that say
// what it is in samples. What it is not: the curve (model/schedule.h), or a
// verdict (difference_table.h). Why so: a value that follows from a key must
// not be asked about beside that key. The manifest's own field of the length
// goes by the name of the derived value: one difference. Inside ckpt only.

#ifndef CKPT_CURVE_KEYS_H_
#define CKPT_CURVE_KEYS_H_

#include <string_view>

namespace lockstep {

// Whether `key` is of the curve in samples, and the two resolved recipes differ
// in a key that shapes it; else it is the batch that bends the curve.
bool FollowsFromAnotherKey(std::string_view key, std::string_view saved,
                           std::string_view current);

}  // namespace lockstep

#endif  // CKPT_CURVE_KEYS_H_
