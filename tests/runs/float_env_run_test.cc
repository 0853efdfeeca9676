// N2 on whole steps: every computing thread rounds and flushes as written, also
// after a library has changed the float environment under it.
#include <gtest/gtest.h>
#include <xmmintrin.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "determinism/float_env.h"
#include "determinism/operation.h"
#include "parallel/thread_comm.h"
#include "parallel/thread_pool.h"
#include "tests/cases/own_stepper.h"
#include "tests/cases/spoiling_comm.h"

namespace lockstep {
namespace {

constexpr int64_t kThreads = 3;

// Puts back what a test changed.
class KeptFloatEnv {
 public:
  KeptFloatEnv() : saved_(_mm_getcsr()) {}
  ~KeptFloatEnv() { _mm_setcsr(saved_); }

 private:
  unsigned saved_;
};

// A range a thread: how many there were, and how many computed under N2.
struct Census {
  std::set<std::thread::id> threads;
  int64_t strict = 0;
};
Census Count(ThreadPool& pool) {
  Census census;
  std::mutex mutex;
  pool.ParallelFor(pool.threads(), [&](int64_t begin, int64_t end) {
    const std::lock_guard<std::mutex> lock(mutex);
    census.threads.insert(std::this_thread::get_id());
    if (FloatEnvIsStrict()) census.strict += end - begin;
    SpoilFloatEnv();  // and leaves it so: the next range must not see it
  });
  return census;
}

// Looks at all threads after every operation of a step.
class Probe : public OperationObserver {
 public:
  explicit Probe(ThreadPool& pool) : pool_(pool) {}
  void OnOperation(const OperationEvent&) override {
    ++operations;
    strict_rank += FloatEnvIsStrict() ? 1 : 0;
    const Census census = Count(pool_);
    strict_ranges += census.strict;
    EXPECT_EQ(census.threads.size(), size_t{kThreads});
  }
  int64_t operations = 0, strict_rank = 0, strict_ranges = 0;

 private:
  ThreadPool& pool_;
};

RigOptions Options() {
  return {.sets = {"precision.mode=bf16", "model.hidden_dropout=0.1",
                   "data.sequence=32", "batch.global=4", "schedule.warmup=1"},
          .steps = 3,
          .threads = kThreads};
}

StepReport ThreeSteps(OwnStepper& stepper) {
  stepper.Step();
  stepper.Step();
  return stepper.Step();
}

TEST(FloatEnvRunTest, N2HoldsOnEveryThreadAfterEveryOperation) {
  OwnStepper stepper(Options(), testing::TempDir() + "/float_env_probe");
  Probe probe(stepper->device().threads());
  stepper->AddObserver(&probe);
  ThreeSteps(stepper);
  EXPECT_GT(probe.operations, 300);
  EXPECT_EQ(probe.strict_ranges, kThreads * probe.operations);
  // The rank's own range spoilt it too, inside a range; that was put back.
  EXPECT_EQ(probe.strict_rank, probe.operations);
}

TEST(FloatEnvRunTest, N2WhatALibraryChangedChangesNoBit) {
  const KeptFloatEnv kept;
  OwnStepper quiet(Options(), testing::TempDir() + "/float_env_quiet");
  const StepReport want = ThreeSteps(quiet);
  OwnStepper spoilt(
      Options(), testing::TempDir() + "/float_env_spoilt",
      std::make_unique<SpoilingComm>(std::move(MakeThreadComms(1).front())));
  StepReport got;
  for (int step = 0; step < 3; ++step) {
    SpoilFloatEnv();
    Count(spoilt->device().threads());
    got = spoilt.Step();
    EXPECT_FALSE(FloatEnvIsStrict()) << "the caller's own is put back";
  }
  ASSERT_EQ(want.fingerprint.size(), 7u);
  EXPECT_EQ(got.fingerprint, want.fingerprint);
  EXPECT_EQ(got.loss, want.loss);
  EXPECT_EQ(got.grad_norm, want.grad_norm);
}

// Canary: the changed environment changes numbers where nobody sets it right.
TEST(FloatEnvRunTest, CanaryTheSpoiltEnvironmentShows) {
  const KeptFloatEnv kept;
  const volatile float minus = -1.0f, three = 3.0f, small = 0x1p-120f;
  // Volatile, so that each is computed where it is written.
  volatile float strict_third, strict_tiny;
  {
    const ScopedFloatEnv float_env;
    EXPECT_TRUE(FloatEnvIsStrict());
    strict_third = minus / three;
    strict_tiny = small * 0x1p-20f;
  }
  SpoilFloatEnv();
  EXPECT_FALSE(FloatEnvIsStrict());
  const volatile float third = minus / three, tiny = small * 0x1p-20f;
  _mm_setcsr(0x1f80u);
  EXPECT_NE(float{third}, float{strict_third});
  EXPECT_NE(float{tiny}, 0.0f);
  EXPECT_EQ(float{strict_tiny}, 0.0f);
}

}  // namespace
}  // namespace lockstep
