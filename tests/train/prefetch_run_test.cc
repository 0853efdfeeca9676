// Reading ahead changes nothing: not what a step reads, not what a checkpoint
// holds, not the step that meets an error (huggingface/accelerate#3034,
// meta-pytorch/data#1520, marin-community/levanter#876).
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "data/order.h"
#include "determinism/status.h"
#include "tests/train/data_for_test.h"
#include "tests/train/train_rig.h"

namespace lockstep {
namespace {

constexpr int64_t kSteps = 8;

struct Cell {
  int threads;
  int depth;
};
constexpr Cell kCells[] = {{0, 0}, {0, 1}, {0, 4}, {1, 0}, {1, 1},
                           {1, 4}, {3, 1}, {3, 4}, {5, 64}};

std::vector<std::string> Sets(const Cell& cell) {
  return {absl::StrCat("data.prefetch=", cell.depth),
          absl::StrCat("data.prefetch_threads=", cell.threads),
          "batch.schedule=0:8,12:4,28:8", "model.hidden_dropout=0.1"};
}

// Epochs of 10 and 20 samples, weights that change inside a batch that is read
// ahead, documents reset, a batch schedule, and a range that is passed over.
TEST(PrefetchRunTest, EveryCellIsTheSameRunAndSoIsItsResume) {
  const std::string recipe = WriteRecipe(
      "prefetch",
      "validation_fraction = 0.01\nreset_at_documents = true\n"
      "[[data.weights_schedule]]\nfrom_sample = 27\nweights = [0, 1]\n" +
          Source(WriteSource("pa", 10)) + Source(WriteSource("pb", 20)) +
          "weight = 0\n");
  std::string unseed;
  std::vector<std::string> metrics;
  for (const Cell& cell : kCells) {
    const std::string name =
        absl::StrCat("prefetch_", cell.threads, "_", cell.depth);
    RigOptions options = {.recipe = recipe,
                          .sets = Sets(cell),
                          .steps = kSteps,
                          .skip_samples = {"18-21"}};
    const TrainRig rig(name), stopped(name + "_stopped");
    const std::string mine = rig.Unseed(options);
    if (metrics.empty()) {
      metrics = rig.Metrics();
      unseed = mine;
      ASSERT_EQ(metrics.size(), static_cast<size_t>(kSteps));
    }
    EXPECT_EQ(mine, unseed) << name;
    EXPECT_EQ(rig.Metrics(), metrics) << name;
    options.until = 5;
    stopped.Unseed(options);
    // Resumed with other prefetching: it is no part of the trajectory.
    options.until.reset();
    options.sets = Sets({3 - cell.threads % 3, 2});
    EXPECT_EQ(stopped.Unseed(options), unseed) << name;
    EXPECT_EQ(stopped.Metrics(), metrics) << name;
  }
}

// One token of the 45th sample is no token of the vocabulary.
std::string WriteDamaged() {
  constexpr int64_t kSamples = 97;
  const auto bad =
      static_cast<int64_t>(SampleAt(1, 0, kSamples, 44)) * kSequence + 16;
  const std::string prefix = testing::TempDir() + "/damaged";
  auto writer =
      TokenFileWriter::Create(*PosixFileSystem(), prefix, 400, 1 << 20);
  EXPECT_TRUE(writer.ok());
  for (int64_t k = 0; k < kSamples * kSequence + 1 + 45; ++k) {
    const std::vector<int32_t> token = {
        k == bad ? 300 : static_cast<int32_t>(k * k % 257)};
    EXPECT_TRUE((*writer)->Append(token).ok());
    if (k == kSamples * kSequence) {
      EXPECT_TRUE((*writer)->EndDocument().ok());
    }
  }
  EXPECT_TRUE((*writer)->EndDocument().ok());
  EXPECT_TRUE((*writer)->Finish().ok());
  return prefix;
}

TEST(PrefetchRunTest, AnErrorIsMetByTheStepThatNeedsTheSample) {
  const std::string recipe = WriteRecipe(
      "damaged", "validation_fraction = 0.01\n" + Source(WriteDamaged()));
  std::string message;
  std::vector<std::string> metrics;
  for (const Cell& cell : kCells) {
    const TrainRig rig(absl::StrCat("damaged_", cell.threads, "_", cell.depth));
    RigOptions options = {
        .recipe = recipe,
        .sets = {absl::StrCat("data.prefetch=", cell.depth),
                 absl::StrCat("data.prefetch_threads=", cell.threads)},
        .steps = kSteps};
    const RigResult result = rig.Train(options);
    EXPECT_EQ(ExitCodeFor(result.status), 2);
    if (metrics.empty()) {
      message = std::string(result.status.message());
      metrics = rig.Metrics();
    }
    EXPECT_EQ(std::string(result.status.message()), message);
    EXPECT_EQ(rig.Metrics(), metrics);
    EXPECT_EQ(metrics.size(), 5u);
    // A run that ends before never hears of it.
    const TrainRig shorter(
        absl::StrCat("shorter_", cell.threads, "_", cell.depth));
    options.until = 5;
    shorter.Unseed(options);
  }
  EXPECT_NE(message.find("300"), std::string::npos) << message;
}

}  // namespace
}  // namespace lockstep
