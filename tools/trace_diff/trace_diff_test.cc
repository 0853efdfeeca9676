// Every way in which two traces part is told from every other.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tools/trace_diff/trace_chain.h"

namespace lockstep {
namespace {

TEST(RankPartingTest, EqualTracesDoNotPart) {
  const RankParting parting = Part(0, Chain(), Chain());
  EXPECT_EQ(parting.kind, Parting::kNone);
  EXPECT_EQ(parting.compared, 6);
  EXPECT_EQ(parting.different, 0);
}

TEST(RankPartingTest, AnOriginHasEqualInputs) {
  for (size_t place = 0; place < 6; ++place) {
    Operations b = Chain();
    Spoil(b, place, false);
    const RankParting parting = Part(2, Chain(), b);
    EXPECT_EQ(parting.kind, Parting::kOrigin) << place;
    EXPECT_EQ(parting.rank, 2);
    EXPECT_EQ(parting.identity, b[place].identity) << place;
    EXPECT_EQ(parting.tensor, "y");
    EXPECT_EQ(parting.different, static_cast<int64_t>(6 - place));
  }
}

TEST(RankPartingTest, AReceiverWasGivenWhatNobodyHereMade) {
  Operations b = Chain();
  Spoil(b, 0, true);
  const RankParting parting = Part(0, Chain(), b);
  EXPECT_EQ(parting.kind, Parting::kReceiver);
  EXPECT_EQ(parting.tensor, "x");
}

TEST(RankPartingTest, AnInputMayBeChangedAfterItsProducer) {
  // In b, and then in a: whichever it was, the producer is named.
  for (const bool in_a : {false, true}) {
    Operations a = Chain(), b = Chain();
    Spoil(in_a ? a : b, 2, true);
    const RankParting parting = Part(0, a, b);
    EXPECT_EQ(parting.kind, Parting::kBetween) << in_a;
    EXPECT_EQ(parting.identity, b[2].identity);
    EXPECT_EQ(parting.producer, b[1].identity);
    EXPECT_EQ(parting.tensor, "x");
  }
}

TEST(RankPartingTest, OneThatOnlyOneDidIsControlFlow) {
  // Both did finish the step: what is not there was not done.
  Operations all = Chain();
  TracedOperation end = all[0];
  end.identity = {};
  end.identity.step = 3;
  end.identity.operation = kStepOperation;
  all.push_back(end);
  for (size_t place = 0; place < 6; ++place) {
    Operations b = all;
    const OperationIdentity gone = b[place].identity;
    b.erase(b.begin() + static_cast<ptrdiff_t>(place));
    const RankParting less = Part(0, all, b);
    EXPECT_EQ(less.kind, Parting::kControlFlow) << place;
    EXPECT_TRUE(less.only_in_a);
    EXPECT_EQ(less.identity, gone);
    const RankParting more = Part(0, b, all);
    EXPECT_EQ(more.kind, Parting::kControlFlow) << place;
    EXPECT_FALSE(more.only_in_a);
    EXPECT_EQ(more.identity, gone);
    EXPECT_EQ(more.missing, 1);
  }
}

TEST(RankPartingTest, TheOrderOfRecordsSaysNothing) {
  Operations b = Chain();
  std::rotate(b.begin(), b.begin() + 3, b.end());
  EXPECT_EQ(Part(0, Chain(), b).kind, Parting::kNone);
  Spoil(b, 5, false);  // the last of the first sample
  const RankParting parting = Part(0, Chain(), b);
  EXPECT_EQ(parting.kind, Parting::kOrigin);
  EXPECT_EQ(parting.identity, Chain()[2].identity);
}

TEST(RankPartingTest, OtherKindsOfTensorsAndUnknownInputs) {
  Operations b = Chain();
  b[1].outputs[0].dtype = "BF16";
  EXPECT_EQ(Part(0, Chain(), b).kind, Parting::kShape);
  Operations bare = Chain(), other = Chain();
  for (Operations* all : {&bare, &other}) {
    for (TracedOperation& operation : *all) operation.inputs.clear();
  }
  other[4].outputs[0].value.lane[1] ^= 1;
  const RankParting parting = Part(0, bare, other);
  EXPECT_EQ(parting.kind, Parting::kUnknownInputs);
  EXPECT_EQ(parting.identity, other[4].identity);
}

TEST(TraceDiffTest, ARankThatWasSentOtherNumbersIsNotBlamed) {
  // Rank 0 receives at its first operation, rank 1 is the origin at its fifth.
  RanksOperations a = {{0, Chain()}, {1, Chain()}}, b = a;
  Spoil(b[0], 0, true);
  Spoil(b[1], 4, false);
  const TraceDifference d = Compare(a, b);
  EXPECT_EQ(d.first.kind, Parting::kOrigin);
  EXPECT_EQ(d.first.rank, 1);
  EXPECT_EQ(d.ranks, std::vector<int>{1});
  // All at once: the cause is common.
  RanksOperations c = a;
  Spoil(c[0], 2, false);
  Spoil(c[1], 2, false);
  EXPECT_EQ(Compare(a, c).ranks, (std::vector<int>{0, 1}));
  // What a rank has after the step comes after all operations of all ranks.
  RanksOperations late = a;
  TracedOperation fields;
  fields.identity.step = 3;
  fields.identity.operation = kStepOperation;
  fields.outputs = {Tensor("grads", 9)};
  for (RanksOperations* ranks : {&a, &late}) (*ranks)[0] = {fields};
  late[0][0].outputs[0].value.lane[0] = 10;
  Spoil(late[1], 5, false);
  EXPECT_EQ(Compare(a, late).first.rank, 1);
  a[0] = Chain();
  // Nobody but receivers.
  RanksOperations e = a;
  Spoil(e[0], 0, true);
  EXPECT_EQ(Compare(a, e).first.kind, Parting::kReceiver);
  EXPECT_TRUE(Compare(a, a).equal());
}

// One rank has [8, 4]; two have two columns each. Lanes of parts add up.
TEST(TraceDiffTest, TwoLayoutsAreComparedByWholes) {
  const RanksOperations one = {{0, Chain()}};
  RanksOperations two;
  for (const int rank : {0, 1}) {
    two[rank] = Chain();
    for (TracedOperation& operation : two[rank]) {
      TracedTensor& y = operation.outputs[0];
      y.shape = {8, 2};
      y.global_shape = {8, 4};
      y.held = {{}, {2 * rank, 2 * rank + 2}};
      const Fingerprint part = {{y.value.lane[0] / 2, 5}};
      y.value = rank == 0 ? part
                          : Fingerprint{{y.value.lane[0] - part.lane[0],
                                         y.value.lane[1] - 5}};
    }
  }
  const TraceDifference equal = Compare(one, two);
  EXPECT_TRUE(equal.across_layouts);
  EXPECT_TRUE(equal.equal()) << TraceDifferenceText(equal);
  EXPECT_EQ(equal.compared, 6);
  RanksOperations wrong = two;
  wrong[1][4].outputs[0].value.lane[1] ^= 4;
  const TraceDifference d = Compare(one, wrong);
  EXPECT_EQ(d.first.kind, Parting::kOrigin);
  EXPECT_EQ(d.first.identity, wrong[1][4].identity);
  // Copies that are not equal are no sound whole.
  RanksOperations copies = {{0, Chain()}, {1, Chain()}, {2, Chain()}};
  EXPECT_TRUE(Compare(one, copies).equal());
  copies[2][3].outputs[0].value.lane[0] ^= 1;
  EXPECT_EQ(Compare(one, copies).first.identity, Chain()[3].identity);
}

}  // namespace
}  // namespace lockstep
