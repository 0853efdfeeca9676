#include "model/gradient_buckets.h"

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

#include "determinism/clock.h"
#include "determinism/environment.h"
#include "determinism/state.h"
#include "determinism/status.h"
#include "model/device.h"
#include "parallel/thread_comm.h"
#include "parallel/watchdog.h"

namespace lockstep {
namespace {

constexpr int kRanks = 3;
constexpr int64_t kLayers = 3;

std::vector<ParameterSpec> Specs() {
  ModelConfig config;
  config.pattern = "M-*";
  config.hidden = 32;
  config.vocab = 300;
  return ListParameters(config, DType::kF32, 1);
}

// One data rank's sums: element i of tensor t is a function of all three.
class Rank {
 public:
  Rank(GradientMode mode, int rank)
      : device_(1, Isa::kScalar),
        store_(registry_, device_, Specs(), mode,
               {.data_ranks = kRanks, .data_rank = rank}) {
    for (Parameter& p : store_.all()) {
      for (int64_t i = 0; i < p.count(); ++i) {
        const int64_t value = Value(rank, p.spec.index, i);
        if (mode == GradientMode::kGrid) {
          p.gradient.grid[i] = value;
        } else {
          p.gradient.sum[i] = static_cast<float>(value);
        }
      }
    }
  }

  static int64_t Value(int64_t rank, int64_t tensor, int64_t i) {
    return (rank + 1) * 1000 + tensor * 7 + i % 91;
  }
  // Of the owned rows, those that are not the sum over all ranks.
  int64_t Wrong() const {
    int64_t wrong = 0;
    for (const Parameter& p : store_.all()) {
      for (int64_t i = 0; i < p.owned_count(); ++i) {
        const int64_t at = p.owned_first() + i;
        int64_t sum = 0;
        for (int r = 0; r < kRanks; ++r) sum += Value(r, p.spec.index, at);
        const bool same = store_.mode() == GradientMode::kGrid
                              ? p.gradient.grid[at] == sum
                              : p.gradient.sum[at] == static_cast<float>(sum);
        wrong += same ? 0 : 1;
      }
    }
    return wrong;
  }
  std::vector<int64_t> All() const {
    std::vector<int64_t> all;
    for (size_t i = 0; i < store_.all().size(); ++i) {
      all.push_back(static_cast<int64_t>(i));
    }
    return all;
  }
  ParameterStore& store() { return store_; }

 private:
  StateRegistry registry_;
  Device device_;
  ParameterStore store_;
};

TEST(GradientBucketsTest, N12EveryOwnedRowIsSummedWhateverIsSentTogether) {
  for (const GradientMode mode :
       {GradientMode::kLeafFp32, GradientMode::kGrid}) {
    for (const int64_t bytes : {1, 5'000, 1'000'000'000}) {
      const absl::Status done = RunThreadRanks(kRanks, [&](Communicator& data) {
        Rank rank(mode, data.rank());
        GradientBuckets buckets(rank.store(), data, rank.All(),
                                {.bucket_bytes = bytes});
        buckets.Begin();
        // Rank 2 has no samples: no layer of it is ever done. Rank 1 ends
        // its layers in another order.
        for (int64_t i = kLayers; i >= -1 && data.rank() < 2; --i) {
          buckets.LayerDone(data.rank() == 1 ? kLayers - 1 - i : i);
        }
        EXPECT_EQ(buckets.sent(), data.rank() < 2);
        buckets.SendRest();
        LS_RETURN_IF_ERROR(buckets.Wait());
        EXPECT_EQ(rank.Wrong(), 0) << bytes;
        return absl::OkStatus();
      });
      EXPECT_TRUE(done.ok()) << done;
    }
  }
}

TEST(GradientBucketsTest, ABucketGoesWhenItsLayersAreDoneAndNotBefore) {
  const absl::Status done = RunThreadRanks(kRanks, [](Communicator& data) {
    Rank rank(GradientMode::kGrid, data.rank());
    GradientBuckets buckets(rank.store(), data, rank.All(),
                            {.bucket_bytes = 1});
    buckets.Begin();
    buckets.LayerDone(kLayers - 1);  // the head, which goes first, is not done
    EXPECT_FALSE(buckets.sent());
    buckets.LayerDone(kLayers);
    EXPECT_TRUE(buckets.sent());
    buckets.SendRest();
    return buckets.Wait();
  });
  EXPECT_TRUE(done.ok()) << done;
}

// A rank that is silent in a bucket is named with it.
TEST(GradientBucketsTest, AWatchdogNamesTheBucket) {
  std::mutex mutex;
  LastWords first;
  RealClock clock;
  (void)RunThreadRanks(
      kRanks,
      [&](Communicator& world) {
        Watchdog dog({.rank = world.rank(), .timeout_ms = 300}, &clock,
                     [&](const LastWords& words) {
                       const std::lock_guard lock(mutex);
                       if (words.rank == 0) first = words;
                     });
        LS_ASSIGN_OR_RETURN(auto group, world.Split(0, world.rank()));
        const auto data = WatchCommunicator(std::move(group), &dog, "data");
        Rank rank(GradientMode::kGrid, world.rank());
        GradientBuckets buckets(rank.store(), *data, rank.All(),
                                {.bucket_bytes = 5'000});
        buckets.Begin();
        buckets.LayerDone(kLayers);  // all ranks send head and norm
        if (world.rank() == 1) {
          std::this_thread::sleep_for(std::chrono::milliseconds(900));
          return absl::OkStatus();
        }
        buckets.SendRest();
        return buckets.Wait();
      },
      {.timeout_ms = 300});
  EXPECT_EQ(first.waited_for, std::vector<int>{1});
  EXPECT_EQ(first.group, "data");
  EXPECT_NE(first.collective.find("reduce-scatter (sum of int64) of "),
            std::string::npos)
      << first.collective;
  EXPECT_NE(first.collective.find(", gradient bucket 3 of "), std::string::npos)
      << first.collective;
}

}  // namespace
}  // namespace lockstep
