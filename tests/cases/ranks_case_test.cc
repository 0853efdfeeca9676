// Sums over ranks, and batches that ranks cannot share evenly.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "determinism/same_bits.h"
#include "tests/cases/small_run.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

struct RankLayout {
  int data, pipeline, tensor;
  std::string more = "parallel.interleave=1";
};

RigOptions On(RigOptions options, const RankLayout& layout) {
  options.sets.insert(
      options.sets.end(),
      {absl::StrCat("parallel.data=", layout.data),
       absl::StrCat("parallel.pipeline=", layout.pipeline),
       absl::StrCat("parallel.tensor=", layout.tensor), layout.more});
  options.ranks = layout.data * layout.pipeline * layout.tensor;
  options.threads = 1;
  return options;
}

std::string NameOf(const RankLayout& layout) {
  return absl::StrCat(layout.data, "x", layout.pipeline, "x", layout.tensor,
                      " ", layout.more);
}

// Every rank divided by its own count of tokens and then ranks were averaged: a
// token on a rank with few weighed five times as much
// (huggingface/transformers#34242, pytorch/torchtitan#1842,
// PrimeIntellect-ai/prime-rl#2358). Three ranks have 5, 1 and 0 tokens that
// count; the update is that of one rank with all six.
TEST(RanksCaseTest, ATokenWeighsTheSameOnWhicheverRankItIs) {
  std::vector<std::vector<int32_t>> documents = {{1, 2, 3, 4, 5, 6}};
  for (int32_t id = 7; id < 10; ++id) documents.push_back({id});
  documents.push_back({10, 11});
  for (int32_t id = 12; id < 17; ++id) documents.push_back({id});
  documents.push_back({20, 21, 22, 23, 24, 25});  // held out
  const std::string recipe = WriteSmallRecipe(
      "uneven_ranks", "reset_at_documents = true\n" +
                          SourceOf(WriteDocuments("uneven_ranks", documents)));
  for (const std::string guarantee : {"layout_invariant", "bitwise"}) {
    const RigOptions options = {
        .recipe = recipe,
        .sets = {"data.sequence=5", "batch.global=3", "batch.micro=1",
                 "grid.tensor=1", "guarantee=" + guarantee},
        .steps = 6};
    const TrainRig one = SmallRig("uneven_one"), three = SmallRig("uneven");
    const std::string unseed = one.Unseed(On(options, {1, 1, 1}));
    const std::string got = three.Unseed(On(options, {3, 1, 1}));
    const std::vector<Json> want = Lines(one), lines = Lines(three);
    ASSERT_EQ(lines.size(), 6u);
    for (const Json& line : lines) EXPECT_EQ(line["valid_tokens"], 6);
    if (guarantee == "layout_invariant") {
      EXPECT_EQ(got, unseed);
      EXPECT_TRUE(SameLines(three.Metrics(), one.Metrics()));
    }
    // On the rung below only the order of three fp32 sums differs.
    EXPECT_EQ(lines[0]["loss_bits"], want[0]["loss_bits"]);
    const double norm = want[0]["grad_norm"];
    EXPECT_NEAR(lines[0]["grad_norm"].get<double>(), norm, norm * 0x1p-20);
  }
}

// People could not tell what a checker's column of errors meant, since a
// tolerance stood in place of the value (NVIDIA/nccl-tests#176,
// NVIDIA/nccl-tests#52). One wrong bit is told with the count, its place and
// both values.
TEST(RanksCaseTest, OneWrongBitIsToldByPlaceAndBothValues) {
  std::vector<float> want(1000, 1.0f), got = want;
  EXPECT_TRUE(SameBits<float>(got, want));
  got[417] = 0x1.000002p0f;
  const testing::AssertionResult result = SameBits<float>(got, want);
  EXPECT_FALSE(result);
  EXPECT_STREQ(result.message(),
               "1 of 1000 differ, first at 417: 0x3f800001, wanted 0x3f800000");
  EXPECT_FALSE(SameBits<float>({}, {})) << "nothing was compared";
}

const std::vector<RankLayout>& Layouts() {
  static const auto& layouts =
      *new std::vector<RankLayout>{{2, 1, 1},
                                   {4, 1, 1},
                                   {1, 1, 2},
                                   {1, 1, 4, "parallel.sequence=true"},
                                   {1, 2, 1, "parallel.interleave=2"},
                                   {2, 2, 2, "parallel.sequence=true"}};
  return layouts;
}

// Weights that all tensor ranks have were counted once a rank
// (ROCm/TransformerEngine#715, NVIDIA-NeMo/RL#3788), and the norm of all was
// added again over replicas, so that what should not have been clipped was
// (modelscope/twinkle#290): factors of 1.4 and more. On the rung that orders
// sums by rank the norm is the same number to a few roundings, and with a limit
// just above it nothing is clipped.
TEST(RanksCaseTest, TheNormCountsEveryParameterOnce) {
  RigOptions options = {.recipe = SmallRecipe("norms", 60),
                        .sets = {"batch.micro=1", "optimizer.clip=0"},
                        .steps = 6,
                        .until = 1};
  const TrainRig one = SmallRig("norms_one");
  one.Unseed(On(options, {1, 1, 1}));
  const double norm = Lines(one)[0]["grad_norm"];
  options.sets[1] = absl::StrCat("optimizer.clip=", norm * 1.001);
  for (const RankLayout& layout : Layouts()) {
    const TrainRig rig = SmallRig("norms");
    rig.Unseed(On(options, layout));
    const Json line = Lines(rig)[0];
    EXPECT_NEAR(line["grad_norm"].get<double>(), norm, norm * 1e-5)
        << NameOf(layout);
    EXPECT_EQ(line["grad_norm_bits"], line["grad_norm_clipped_bits"])
        << NameOf(layout);
  }
}

// Partial sums of the embedding's gradient were mixed where stages, replicas
// and sharded moments met (NVIDIA/Megatron-LM#844). Its first moment, and the
// head's, after one step are those of one rank.
TEST(RanksCaseTest, EmbeddingAndHeadGetTheirWholeGradient) {
  const RigOptions options = {
      .recipe = SmallRecipe("embedding", 60),
      .sets = {"guarantee=layout_invariant", "batch.micro=1"},
      .steps = 6,
      .until = 1};
  const TrainRig one = SmallRig("embedding_one");
  one.Unseed(On(options, {1, 1, 1}));
  const auto fingerprint = [](const TrainRig& rig, const std::string& name) {
    return Json::parse(EntriesOf(rig, 1).at(name))["fingerprint"];
  };
  for (const RankLayout& layout : Layouts()) {
    const TrainRig rig = SmallRig("embedding");
    rig.Unseed(On(options, layout));
    for (const std::string name :
         {"optimizer/backbone.embeddings.weight.exp_avg",
          "optimizer/lm_head.weight.exp_avg"}) {
      EXPECT_EQ(fingerprint(rig, name), fingerprint(one, name))
          << name << ", " << NameOf(layout);
    }
  }
}

// Ranks with unequal numbers of batches waited for each other
// (pytorch/pytorch#141069, meta-pytorch/torchrec#189), and so did a pipeline
// with fewer micro-batches than stages (pytorch/torchtitan#775). 97 samples,
// four a step, over two epochs, on layouts that neither divides.
TEST(RanksCaseTest, UnequalSharesEndAndAreTheSameRun) {
  const RigOptions options = {
      .recipe = SmallRecipe("shares", 97),
      .sets = {"guarantee=layout_invariant", "batch.micro=1",
               "model.hidden_dropout=0.1"},
      .steps = 50};
  const TrainRig one = SmallRig("shares_one");
  const std::string unseed = one.Unseed(On(options, {1, 1, 1}));
  for (const RankLayout& layout :
       {RankLayout{2, 1, 1}, RankLayout{3, 1, 1},
        RankLayout{1, 4, 1, "batch.micro=2"},
        RankLayout{3, 2, 1, "parallel.interleave=2"}}) {
    const TrainRig rig = SmallRig("shares");
    EXPECT_EQ(rig.Unseed(On(options, layout)), unseed) << NameOf(layout);
    EXPECT_TRUE(SameLines(rig.Metrics(), one.Metrics())) << NameOf(layout);
  }
}

}  // namespace
}  // namespace lockstep
