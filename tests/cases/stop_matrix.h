// Runs stopped three times over, each time at a chosen place and under other
// settings, that must end as the run that never stopped.
//
// What it is: the places, the kinds of run, the settings that may change from
// one launch to the next, and the comparison. What it is not: the choice of
// combinations: pairs.h covers all pairs for every day, a soak takes all. Why
// so: a resume that fails does so in one combination, which nobody tried.
#ifndef LOCKSTEP_TESTS_CASES_STOP_MATRIX_H_
#define LOCKSTEP_TESTS_CASES_STOP_MATRIX_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/train/train_rig.h"

namespace lockstep {

inline constexpr int64_t kMatrixSteps = 14;
inline constexpr int64_t kGenerations = 3;

// Generation g's place is about step 4g, where an epoch ends.
enum class StopPlace {
  kFirstStep,       // killed at the end of the first step of the launch
  kInAccumulation,  // killed after the first micro-batch of a step
  kBeforeEpochEnd,  // saved and stopped one step early
  kAtEpochEnd,
  kAfterEpochEnd,
  kInEvaluation,  // killed as the evaluation's line is written
  kInSave,        // killed at a write, a sync or a rename
};
inline constexpr int64_t kStopPlaces = 7;

// Single source, blend, stages of weights, resets, fp16 that overflows,
// dropout, a batch schedule, one that is given only after the first generation,
// a planted spike whose step is skipped, and samples that are passed over.
const std::vector<std::string>& MatrixKinds();

struct Launch {
  StopPlace place = StopPlace::kFirstStep;
  int64_t micro = 2;
  int64_t threads = 2;
  int64_t save_every = 2;
};

struct Combination {
  std::string kind;
  std::array<Launch, kGenerations> launches;

  std::string Name() const;
};

// What a kind's unbroken run wrote.
class UnbrokenRun {
 public:
  explicit UnbrokenRun(const std::string& kind);

  // Runs the combination, which is of this kind; returns the lines compared.
  int64_t Compare(const Combination& combination) const;

 private:
  RigOptions Options(const Launch& launch, int64_t generation) const;
  // Trains up to the launch's place, the generation's.
  void TrainUntil(const Launch& launch, int64_t generation,
                  const TrainRig& rig) const;

  std::string kind_;
  std::string recipe_;
  std::string unseed_;
  std::vector<std::string> metrics_;
  std::string evaluations_;
};

}  // namespace lockstep

#endif  // LOCKSTEP_TESTS_CASES_STOP_MATRIX_H_
