// A state that is shared out to ranks: tensors of several blocks, cut into rows
// and moved on by steps. Not a model.

#ifndef CKPT_SPLIT_STATE_FOR_TEST_H_
#define CKPT_SPLIT_STATE_FOR_TEST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "determinism/dtype.h"
#include "determinism/state.h"

namespace lockstep {

// Rank `rank` of `ranks` has its share of the rows; of one rank all.
class SplitState : public Stateful {
 public:
  SplitState(StateRegistry& registry, int rank, int ranks, int64_t rows = 60)
      : Stateful(registry, "split"),
        rows_(rows),
        first_(rows * rank / ranks),
        count_(rows * (rank + 1) / ranks - first_),
        values_(5 * Size()),
        runtime_(Size()) {}

  // To what it is after so many steps.
  void MoveTo(int64_t step) {
    step_ = step;
    const auto salt = static_cast<float>(step);
    for (size_t k = 0; k < 5; ++k) {
      for (size_t i = 0; i < Size(); ++i) {
        // By the place in the whole tensor.
        const size_t at = static_cast<size_t>(first_ * kColumns) + i;
        values_[k * Size() + i] =
            static_cast<float>(at % 1013 + 7 * k) + 0.25f * salt;
      }
    }
    for (size_t i = 0; i < Size(); ++i) {
      runtime_[i] = ToBF16(values_[i]).bits;
    }
    note_.assign(static_cast<size_t>(step % 3), 'n');
  }
  void MakeRuntime() {
    for (size_t i = 0; i < Size(); ++i) {
      runtime_[i] = ToBF16(values_[i]).bits;
    }
  }

  void VisitState(StateVisitor& v) override {
    const char* const names[] = {"w", "w.exp_avg", "w.exp_avg_sq", "x", "y"};
    for (size_t k = 0; k < 5; ++k) {
      const StateGroup group =
          k == 0 || k > 2 ? StateGroup::kMaster : StateGroup::kMoment;
      v.Tensor({names[k],
                group,
                DType::kF32,
                {rows_, kColumns},
                {first_, 0},
                {count_, kColumns},
                values_.data() + k * Size()});
    }
    v.Tensor({"w.runtime",
              StateGroup::kRuntime,
              DType::kBF16,
              {rows_, kColumns},
              {first_, 0},
              {count_, kColumns},
              runtime_.data()});
    v.I64("step", StateGroup::kCounter, step_);
    v.Bytes("note", StateGroup::kData, note_);
  }

  int64_t step() const { return step_; }

 private:
  static constexpr int64_t kColumns = 1013;
  size_t Size() const { return static_cast<size_t>(count_ * kColumns); }

  const int64_t rows_, first_, count_;
  std::vector<float> values_;
  std::vector<uint16_t> runtime_;
  int64_t step_ = 0;
  std::string note_;
};

}  // namespace lockstep

#endif  // CKPT_SPLIT_STATE_FOR_TEST_H_
