#include "tests/cases/own_stepper.h"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>

#include "determinism/check.h"
#include "determinism/file_system.h"
#include "determinism/float_env.h"
#include "parallel/thread_comm.h"
#include "tools/restore.h"

namespace lockstep {
namespace {

class ZeroVisitor : public StateVisitor {
 public:
  explicit ZeroVisitor(StateGroupSet groups) : groups_(groups) {}

  void Tensor(const StateTensor& tensor) override {
    if (!Takes(tensor.group)) return;
    size_t bytes = SizeOf(tensor.dtype);
    for (const int64_t dim : tensor.box_shape) bytes *= size_t(dim);
    std::memset(tensor.data, 0, bytes);
  }
  void U64(const std::string&, StateGroup group, uint64_t& value) override {
    if (Takes(group)) value = 0;
  }
  void I64(const std::string&, StateGroup group, int64_t& value) override {
    if (Takes(group)) value = 0;
  }
  void F64(const std::string&, StateGroup group, double& value) override {
    if (Takes(group)) value = 0;
  }
  void Bytes(const std::string&, StateGroup, std::string&) override {}

  int64_t count() const { return count_; }

 private:
  bool Takes(StateGroup group) {
    const bool takes = (groups_ & SetOf(group)) != 0;
    count_ += takes ? 1 : 0;
    return takes;
  }

  const StateGroupSet groups_;
  int64_t count_ = 0;
};

class SetVisitor : public StateVisitor {
 public:
  SetVisitor(const std::string& name, uint64_t value)
      : name_(name), value_(value) {}

  void Tensor(const StateTensor&) override {}
  void U64(const std::string& name, StateGroup, uint64_t& value) override {
    if (name != name_) return;
    value = value_;
    ++count_;
  }
  void I64(const std::string&, StateGroup, int64_t&) override {}
  void F64(const std::string&, StateGroup, double&) override {}
  void Bytes(const std::string&, StateGroup, std::string&) override {}

  int64_t count() const { return count_; }

 private:
  const std::string name_;
  const uint64_t value_;
  int64_t count_ = 0;
};

template <class T>
T Must(absl::StatusOr<T> value) {
  LS_CHECK(value.ok()) << std::string(value.status().message());
  return *std::move(value);
}

}  // namespace

OwnStepper::OwnStepper(const RigOptions& options, const std::string& run_dir,
                       std::unique_ptr<Communicator> communicator)
    : communicator_(std::move(communicator)) {
  FileSystem& fs = *PosixFileSystem();
  std::vector<std::string> sets = options.sets;
  sets.push_back("train.steps=" + std::to_string(options.steps));
  run_ = std::make_unique<ResolvedRun>(
      Must(ResolveRun(fs, options.recipe, sets, run_dir)));
  const RunConfig& c = run_->config;
  dataset_ = Must(Dataset::Open(fs, c.data, run_dir, c.seed, c.model.vocab));
  const Machine machine = Must(ChooseMachine(options.threads));
  if (communicator_ == nullptr) {
    communicator_ = std::move(MakeThreadComms(1).front());
  }
  stepper_ = std::make_unique<Stepper>(
      c,
      StepperOptions{machine.threads, machine.isa,
                     run_->schedule_length_samples},
      dataset_.get(), LayoutOfOne(communicator_.get()), nullptr);
  const ScopedFloatEnv float_env;
  LS_CHECK(stepper_->Initialise().ok());
  LS_CHECK(stepper_->RestoreRuntime().ok());
}

StepReport OwnStepper::Step() { return Must(stepper_->Step()); }

void OwnStepper::Load(const std::string& checkpoint_dir) {
  Must(RestoreStepper(*PosixFileSystem(), *stepper_, checkpoint_dir));
}

int64_t ZeroState(const StateRegistry& registry, StateGroupSet groups) {
  ZeroVisitor visitor(groups);
  registry.Visit(visitor);
  return visitor.count();
}

void SetCounter(const StateRegistry& registry, const std::string& name,
                uint64_t value) {
  SetVisitor visitor(name, value);
  registry.Visit(visitor);
  EXPECT_EQ(visitor.count(), 1) << name;
}

}  // namespace lockstep
