// What ranks send each other, and what a launch does beside its steps.
#include <gtest/gtest.h>

#include "tools/trace_diff/trace_chain.h"

namespace lockstep {
namespace {

TracedOperation Message(const char* operation, uint64_t value) {
  return {.identity = {.step = 3,
                       .phase = "message",
                       .scope = "pipeline.forward",
                       .operation = operation,
                       .first_sample = 10},
          .micro_batch = 0,
          .inputs = {},
          .outputs = {Tensor("stream", value)}};
}

// Rank 0 sends what rank 1 receives.
TEST(TraceDiffTest, AMessageIsBlamedOnlyWhereItWasChangedOnItsWay) {
  RanksOperations a = {{0, Chain()}, {1, {Message("receive", 4)}}};
  RanksOperations sent = {{0, Chain()}, {1, {Message("receive", 54)}}};
  Spoil(sent[0], 2, false);  // the third operation made another stream
  a[0].push_back(Message("send", 4));
  sent[0].push_back(Message("send", 54));
  const TraceDifference d = Compare(a, sent);
  EXPECT_EQ(d.first.kind, Parting::kOrigin);
  EXPECT_EQ(d.first.rank, 0);
  EXPECT_EQ(d.partings[1].kind, Parting::kReceiver);
  RanksOperations changed = a;
  changed[1][0].outputs[0].value.lane[0] += 50;
  for (const auto& lost : {Compare(a, changed), Compare(changed, a)}) {
    EXPECT_EQ(lost.first.kind, Parting::kBetween);
    EXPECT_EQ(lost.first.rank, 1);
    EXPECT_EQ(lost.first.identity.operation, "receive");
    EXPECT_EQ(lost.first.producer.operation, "send");
  }
}

// A resumed run has loaded and saved where the other did not; where both have,
// what they read counts, and before all else.
TEST(TraceDiffTest, LoadsAndSavesOfOneRunAloneAreNoOtherWay) {
  TracedOperation load = {.identity = {.step = 3,
                                       .phase = "load",
                                       .scope = "weight",
                                       .operation = "m"},
                          .micro_batch = 0,
                          .inputs = {},
                          .outputs = {Tensor("m", 70)}};
  TracedOperation save = load;
  save.identity.phase = "save";
  const RanksOperations plain = {{0, Chain()}};
  RanksOperations resumed = {{0, {load}}};
  for (const TracedOperation& operation : Chain()) {
    resumed[0].push_back(operation);
  }
  resumed[0].push_back(save);
  for (const auto& d : {Compare(plain, resumed), Compare(resumed, plain)}) {
    EXPECT_TRUE(d.equal()) << TraceDifferenceText(d);
    EXPECT_EQ(d.missing, 0);
  }
  RanksOperations other = resumed;
  other[0][0].outputs[0].value.lane[0] ^= 1;
  other[0][3].outputs[0].value.lane[0] ^= 1;
  EXPECT_EQ(Compare(resumed, other).first.identity, load.identity);
}

}  // namespace
}  // namespace lockstep
