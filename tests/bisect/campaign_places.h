// Where a case of the campaign plants, and what a trace shows there.
//
// Private to the campaign: places of recipes/debug.toml, the first output of
// each, and the rank that does it.
#ifndef LOCKSTEP_TESTS_BISECT_CAMPAIGN_PLACES_H_
#define LOCKSTEP_TESTS_BISECT_CAMPAIGN_PLACES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

using Words = std::vector<std::string>;

// Numbers below `n`, each its own function of the case.
class Dice {
 public:
  explicit Dice(int number) : number_(static_cast<uint64_t>(number)) {}
  size_t operator()(size_t n) {
    const uint64_t word = SplitMix(number_ * 1000 + ++drawn_);
    return static_cast<size_t>(word % n);
  }
  template <typename T>
  const T& Of(const std::vector<T>& all) {
    return all[(*this)(all.size())];
  }

 private:
  // Steele, Lea, Flood: Fast splittable pseudorandom number generators (2014).
  static uint64_t SplitMix(uint64_t x) {
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
  }

  const uint64_t number_;
  uint64_t drawn_ = 0;
};

struct Layout {
  std::string name;
  int64_t ranks;
  Words sets;
};

// All kinds of layout that cases have.
const std::vector<Layout>& Layouts();

struct Place {
  std::string scope, operation, phase;
};

// ",at=..." of a fault.
std::string At(const Place& place);
// Any operation of a pass, or a parameter's final gradient.
Place AnyPlace(Dice& dice);
// A weight that is trained, by its name.
std::string AnyWeight(Dice& dice);
// Of a mixer, forward: whose first output is given as a whole to an operation
// that announces what it was given.
Place AnyPlaceOfWholeOutput(Dice& dice);
// Of a mixer: what recomputation does.
Place AnyPlaceOfRecompute(Dice& dice);
// A product or a norm whose terms are all on each rank that does it; norms are
// where another order shows, in fp32.
Place PlaceOfSums(Dice& dice, const Layout& layout,
                  const std::string& precision);
// The name of its first output.
std::string TensorAt(const Place& place);
// Of a scope of the model, -1 for all else: the pipeline rank that has it,
// where the last of two stages begins with layer `cut`.
int64_t StageOf(const std::string& scope, int64_t cut);

}  // namespace lockstep

#endif  // LOCKSTEP_TESTS_BISECT_CAMPAIGN_PLACES_H_
