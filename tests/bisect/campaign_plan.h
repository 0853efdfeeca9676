// What a case of the campaign plants, and what bisect is to say of it.
//
// Private to the campaign. A plan follows from the case's number and its kind
// of run; every kind of fault has its turn.
#ifndef LOCKSTEP_TESTS_BISECT_CAMPAIGN_PLAN_H_
#define LOCKSTEP_TESTS_BISECT_CAMPAIGN_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
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

// What is planted, and what bisect is to say of it.
struct Plan {
  Words faults;
  std::string verdict = "operation";
  std::optional<int64_t> step = {};  // absent: whichever differs first
  Place place = {};                  // empty: not looked at
  std::optional<int64_t> rank = {}, sample = {};
  int64_t resumed_at = 0;  // the launch with the fault goes on from this step
};

// Everything that a plan is drawn from.
struct Draw {
  const Layout& layout;
  std::string precision;
  int64_t step;
  Dice& dice;
};

Plan PlanOf(int number, const Draw& draw);

// Of a case whose fault needs ranks that reduce gradients.
inline bool NeedsReplicas(int number) { return number % 12 == 8; }

}  // namespace lockstep

#endif  // LOCKSTEP_TESTS_BISECT_CAMPAIGN_PLAN_H_
