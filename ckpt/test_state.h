// A small state with one entry of each kind, and what tests do with it.
//
// Two tensors with moments, counters, a scaler, bytes, and runtime weights made
// from the masters by the one function Rebuild. Not a model.

#ifndef CKPT_TEST_STATE_H_
#define CKPT_TEST_STATE_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "ckpt/save.h"
#include "determinism/dtype.h"
#include "determinism/file_system.h"
#include "determinism/state.h"

namespace lockstep {

class TestModel : public Stateful {
 public:
  explicit TestModel(StateRegistry& registry) : Stateful(registry, "model") {}

  void Rebuild() {
    runtime.clear();
    for (const float value : a) runtime.push_back(ToBF16(value).bits);
  }

  void VisitState(StateVisitor& v) override {
    const auto tensor = [&v](const std::string& name, StateGroup group,
                             DType dtype, std::vector<int64_t> shape,
                             void* data) {
      v.Tensor({name, group, dtype, shape,
                std::vector<int64_t>(shape.size(), 0), shape, data});
    };
    tensor("a.weight", StateGroup::kMaster, DType::kF32, {3, 5}, a.data());
    tensor("b.bias", StateGroup::kMaster, DType::kF32, {4}, b.data());
    tensor("a.weight.exp_avg", StateGroup::kMoment, DType::kF32, {3, 5},
           m.data());
    tensor("a.weight.exp_avg_sq", StateGroup::kMoment, DType::kF32, {3, 5},
           v_.data());
    tensor("a.weight.runtime", StateGroup::kRuntime, DType::kBF16, {3, 5},
           runtime.data());
    v.U64("updates", StateGroup::kCounter, updates);
  }

  std::vector<float> a = std::vector<float>(15);
  std::vector<float> b = std::vector<float>(4);
  std::vector<float> m = std::vector<float>(15);
  std::vector<float> v_ = std::vector<float>(15);
  std::vector<uint16_t> runtime = std::vector<uint16_t>(15);
  uint64_t updates = 0;
};

class TestCursor : public Stateful {
 public:
  explicit TestCursor(StateRegistry& registry) : Stateful(registry, "cursor") {}

  void VisitState(StateVisitor& v) override {
    v.I64("sample", StateGroup::kData, sample);
    v.F64("loss_scale", StateGroup::kScaler, loss_scale);
    v.Bytes("skip_list", StateGroup::kData, skip_list);
  }

  int64_t sample = 0;
  double loss_scale = 0;
  std::string skip_list;
};

// Owns a registry and the state of a made-up step; equal steps are equal bits.
struct TestState {
  TestState() : model(registry), cursor(registry) {}
  explicit TestState(int64_t step) : TestState() { Fill(step); }

  void Fill(int64_t step) {
    const float s = static_cast<float>(step);
    for (size_t i = 0; i < 15; ++i) {
      const float x = static_cast<float>(i) + 1;
      model.a[i] = x / 7 + s;
      model.m[i] = x / 3 - s;
      model.v_[i] = x / 11 + s;
    }
    for (size_t i = 0; i < 4; ++i) model.b[i] = static_cast<float>(i) - s / 9;
    model.updates = static_cast<uint64_t>(step) * 3 + (uint64_t{1} << 63);
    model.Rebuild();
    cursor.sample = step * 16;
    cursor.loss_scale = 0.1 * static_cast<double>(step);
    cursor.skip_list.assign(static_cast<size_t>(step % 5), '\xff');
  }

  std::string Fingerprint() const { return StateFingerprint(registry); }

  StateRegistry registry;
  TestModel model;
  TestCursor cursor;
};

inline constexpr char kRun[] = "/run";

inline SaveOptions OptionsFor(int64_t step) {
  return {.run_dir = kRun,
          .step = step,
          .run_id = "run-a",
          .manifest_json = "{\"manifest\": \"of the run\"}\n",
          .ledger_head = std::string(64, '0')};
}

// run_dir exists durably.
inline void MakeRun(FileSystem& fs) {
  if (!fs.MakeDirs(kRun).ok() || !fs.SyncDir("/").ok()) std::abort();
}

inline absl::StatusOr<SavedCheckpoint> SaveStep(FileSystem& fs, int64_t step) {
  const TestState state(step);
  return SaveCheckpoint(fs, OptionsFor(step), state.registry);
}

inline void Overwrite(FileSystem& fs, const std::string& path,
                      const std::string& bytes) {
  if (!WriteFileAtomically(fs, path, bytes).ok()) std::abort();
}

// By value: what `*fs.List(dir)` refers to is gone before a loop begins.
inline std::vector<std::string> NamesIn(FileSystem& fs,
                                        const std::string& dir) {
  absl::StatusOr<std::vector<std::string>> names = fs.List(dir);
  if (!names.ok()) std::abort();
  return *std::move(names);
}

inline std::string Text(const absl::Status& status) {
  return std::string(status.message());
}

}  // namespace lockstep

#endif  // CKPT_TEST_STATE_H_
