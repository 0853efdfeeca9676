// Changes to a tensor that its fingerprint must not miss (N11), by the million.
//
// What it is: nine kinds of change, among them those that plainer keys miss, on
// four kinds of contents; each trial a function of its case and number, so that
// a campaign can stop anywhere and go on. What it is not: a proof (128 bits are
// missed by chance once in 2^128). Why so: a weakness of keys is one of
// structure, and shows where change and contents are regular. Results are in
// FINGERPRINT.md; fingerprint_soak.cc is the long run, the test a short one.

#ifndef DETERMINISM_FINGERPRINT_CAMPAIGN_H_
#define DETERMINISM_FINGERPRINT_CAMPAIGN_H_

#include <cstdint>

namespace lockstep {

// An element is a binary32, or a bfloat16 where the contents are.
enum class Change : uint8_t {
  kFlip,         // one bit
  kSignPair,     // the signs of two elements
  kFlipQuad,     // one bit of four elements at equal distance
  kSignBlock,    // the signs of 1 to 256 elements in a row
  kSwap,         // two elements
  kOneHotRows,   // two rows of a one-hot matrix
  kPermutation,  // all rows of a matrix
  kZeroBlock,    // 1 to 256 elements become zero
  kCopyBlock,    // 1 to 256 elements become copies of others
};
constexpr int kChangeCount = 9;
const char* NameOf(Change change);

enum class Contents : uint8_t { kRandom, kConstant, kRamp, kBf16 };
constexpr int kContentsCount = 4;
const char* NameOf(Contents contents);

struct CampaignCounts {
  uint64_t trials = 0;
  uint64_t changed = 0;  // those whose bytes did change
  uint64_t missed = 0;   // of these, by the fingerprint
  // By one 64-bit lane with the key (0x9e3779b1 i + 0x6a09e667) | 1: the
  // canary, which must miss some.
  uint64_t missed_by_affine = 0;
};

// The next `trials` trials of a case.
void RunTrials(Change change, Contents contents, uint64_t trials,
               CampaignCounts& counts);

}  // namespace lockstep

#endif  // DETERMINISM_FINGERPRINT_CAMPAIGN_H_
