// The published answers of Philox4x32-10, for whoever asks whether ours is one.
//
// What it is: the "philox4x32 10" lines of tests/kat_vectors in Random123
// 1.14.0. What it is not: a check. Why so: a test asks of the code, and
// `doctor` of the machine it stands on; one table for both.

#ifndef DETERMINISM_PHILOX_KNOWN_ANSWERS_H_
#define DETERMINISM_PHILOX_KNOWN_ANSWERS_H_

#include <array>
#include <cstdint>

namespace lockstep {

struct PhiloxKnownAnswer {
  std::array<uint32_t, 4> counter;
  std::array<uint32_t, 2> key;
  std::array<uint32_t, 4> result;
};

inline constexpr PhiloxKnownAnswer kPhiloxKnownAnswers[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
     {0xffffffff, 0xffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

}  // namespace lockstep

#endif  // DETERMINISM_PHILOX_KNOWN_ANSWERS_H_
