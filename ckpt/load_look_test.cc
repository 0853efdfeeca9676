// What is looked at while it comes is what has come.

#include "ckpt/load_look.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "ckpt/arrivals.h"
#include "ckpt/state_entries.h"
#include "ckpt/test_state.h"
#include "parallel/over_ranks.h"

namespace lockstep {
namespace {

TEST(Arrivals, ABoxIsThereWithTheLastOfItsReads) {
  int box = 0, other = 0;
  Arrivals arrivals;
  arrivals.Expect(&box);
  arrivals.Expect(&box);
  EXPECT_TRUE(arrivals.Await(&other));  // nobody reads it
  bool arrived_twice = false;
  std::thread reader([&] {
    arrivals.Arrived(&box);
    arrived_twice = true;
    arrivals.Arrived(&box);
  });
  EXPECT_TRUE(arrivals.Await(&box));
  EXPECT_TRUE(arrived_twice);
  reader.join();
}

TEST(Arrivals, NobodyWaitsForWhatWillNotCome) {
  int box = 0, there = 0;
  Arrivals arrivals;
  arrivals.Expect(&box);
  arrivals.Expect(&there);
  arrivals.Arrived(&there);
  std::thread reader([&] { arrivals.GiveUp(); });
  EXPECT_FALSE(arrivals.Await(&box));
  EXPECT_TRUE(arrivals.Await(&there));
  reader.join();
}

class LoadLookTest : public testing::Test {
 protected:
  static constexpr StateGroupSet kShared = kSharedState & kSavedState;

  // Where each box is, and what will come to it; until then it is poison.
  LoadLookTest()
      : state_(3),
        expected_(StateTensorFingerprints(state_.registry, kShared)) {
    for (const StateEntry& entry : CollectState(state_.registry, kShared)) {
      auto* const data = static_cast<char*>(entry.data);
      contents_[data].assign(data, data + entry.size_bytes());
    }
    for (auto& [data, bytes] : contents_) {
      std::memset(data, 0x7f, bytes.size());
      arrivals_.Expect(data);
    }
  }

  void Come(char* data) {
    std::memcpy(data, contents_.at(data).data(), contents_.at(data).size());
    arrivals_.Arrived(data);
  }

  TestState state_;
  std::map<char*, std::string> contents_;
  std::vector<TensorFingerprint> expected_;
  Arrivals arrivals_;
};

TEST_F(LoadLookTest, ReadsNothingBeforeItIsThere) {
  const AdamBetas betas[] = {{0.9, 0.95}};
  const auto bound = MomentBound::Of(betas);
  std::vector<char*> order;
  for (const auto& [data, bytes] : contents_) order.push_back(data);
  ASSERT_EQ(order.size(), 4u);
  do {
    for (auto& [data, bytes] : contents_) {
      std::memset(data, 0x7f, bytes.size());
    }
    Arrivals again;
    for (char* const data : order) again.Expect(data);
    LoadLook look(state_.registry, bound, again);
    for (char* const data : order) {
      std::memcpy(data, contents_.at(data).data(), contents_.at(data).size());
      again.Arrived(data);
    }
    const LookedAt found = look.Finish();
    EXPECT_EQ(FieldFingerprint(found.shared), FieldFingerprint(expected_));
    // The made-up first moments are beyond what the second ones allow, but not
    // beside those that stood there before.
    ASSERT_EQ(found.insanities.size(), 1u);
    EXPECT_NE(found.insanities[0].find("its second moment 3.09"),
              std::string::npos)
        << found.insanities[0];
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_F(LoadLookTest, FindsWhatNoTrainedStateCanHold) {
  LoadLook look(state_.registry, std::nullopt, arrivals_);
  contents_.at(reinterpret_cast<char*>(state_.model.v_.data())).back() ^=
      '\x80';
  for (const auto& [data, bytes] : contents_) Come(data);
  const LookedAt found = look.Finish();
  EXPECT_NE(FieldFingerprint(found.shared), FieldFingerprint(expected_));
  ASSERT_EQ(found.insanities.size(), 1u);
  EXPECT_NE(found.insanities[0].find("exp_avg_sq"), std::string::npos);
}

// A load that fails takes its look with it.
TEST_F(LoadLookTest, EndsWithALoadThatFailed) {
  const LoadLook look(state_.registry, std::nullopt, arrivals_);
  Come(contents_.begin()->first);
}

}  // namespace
}  // namespace lockstep
