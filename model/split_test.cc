#include "model/split.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "model/config.h"
#include "model/parameters.h"
#include "model/tensor_cut.h"

namespace lockstep {
namespace {

using Ranges = std::vector<HeldRange>;

ModelConfig Config() {
  ModelConfig c;
  c.pattern = "M*-";
  c.vocab = 300;
  c.heads = 8;
  c.kv_heads = 2;
  return c;
}

TEST(SplitTest, EachPartGivesItsShareInMemoryOrder) {
  const TensorSplit split = {
      .dim = 0, .parts = {8, 4}, .units = 0, .length = 12};
  EXPECT_EQ(HeldRanges(split, 1, 0), (Ranges{{0, 8}, {8, 12}}));
  EXPECT_EQ(HeldRanges(split, 4, 1), (Ranges{{2, 4}, {9, 10}}));
  EXPECT_EQ(HeldLength(split, 4, 1), 3);
  EXPECT_EQ(HeldShape({12, 5}, split, 4, 1), (std::vector<int64_t>{3, 5}));
}

TEST(SplitTest, PaddingIsHeldInMemoryOnly) {
  const TensorSplit split = {
      .dim = 0, .parts = {512}, .units = 0, .length = 300};
  EXPECT_EQ(HeldRanges(split, 4, 2), (Ranges{{256, 300}}));
  EXPECT_EQ(HeldRanges(split, 4, 3), Ranges{});
  EXPECT_EQ(HeldLength(split, 4, 3), 0);
  EXPECT_EQ(HeldMemory(split, 4), 128);
}

TEST(SplitTest, N4HeadsBeyondTheirNumberAreCopiedAndTheLowestOwns) {
  const TensorSplit split = {.dim = 0, .parts = {32}, .units = 2, .length = 32};
  EXPECT_EQ(CopiesOf(split, 2), 1);
  EXPECT_EQ(CopiesOf(split, 8), 4);
  EXPECT_EQ(HeldRanges(split, 8, 3), (Ranges{{0, 16}}));
  EXPECT_EQ(HeldRanges(split, 8, 4), (Ranges{{16, 32}}));
  EXPECT_EQ(HeldMemory(split, 8), 16);
  for (int64_t index = 0; index < 8; ++index) {
    EXPECT_EQ(OwnsCopy(split, 8, index), index % 4 == 0) << index;
  }
}

// Four slices of parts of 16 and 8 on two ranks, and of the key/value heads of
// which each is on two ranks.
TEST(SplitTest, N4ASliceIsItsShareOfEachPartWhereverItLies) {
  const TensorSplit split = {
      .dim = 0, .parts = {16, 8}, .units = 0, .length = 24};
  EXPECT_EQ(SliceMemory(split, {2, 0, 4}, 1), (Ranges{{4, 8}, {10, 12}}));
  EXPECT_EQ(SliceMemory(split, {2, 1, 4}, 0), (Ranges{{0, 4}, {8, 10}}));
  const TensorSplit heads = {.dim = 0, .parts = {32}, .units = 2, .length = 32};
  EXPECT_EQ(SliceMemory(heads, {4, 2, 4}, 0), (Ranges{{0, 8}}));
  EXPECT_EQ(SliceMemory(heads, {4, 3, 4}, 0), (Ranges{{8, 16}}));
  EXPECT_EQ(SliceMemory(heads, {4, 3, 8}, 1), (Ranges{{12, 16}}));
}

// Owners of every parameter of the model hold each element once.
TEST(SplitTest, OwnersCoverEveryParameterOnce) {
  int64_t cut = 0;
  for (const ParameterSpec& spec : ListParameters(Config(), DType::kBF16, 4)) {
    if (spec.split.dim < 0) {
      EXPECT_TRUE(OwnsCopy(spec.split, 4, 0) && !OwnsCopy(spec.split, 4, 1));
      continue;
    }
    ++cut;
    const int64_t length = spec.shape[static_cast<size_t>(spec.split.dim)];
    for (const int64_t degree : {1, 2, 4}) {
      std::vector<int> times(static_cast<size_t>(length));
      for (int64_t index = 0; index < degree; ++index) {
        if (!OwnsCopy(spec.split, degree, index)) continue;
        for (const HeldRange& held : HeldRanges(spec.split, degree, index)) {
          for (int64_t i = held.begin; i < held.end; ++i) ++times[i];
        }
      }
      EXPECT_EQ(std::count(times.begin(), times.end(), 1), length)
          << spec.name << ", degree " << degree;
    }
  }
  EXPECT_EQ(cut, 16);  // all but three norms and norm_f
}

TEST(SplitTest, InProjHasFivePartsAndKeyValueHeadsAreUnits) {
  const ModelConfig c = Config();
  int64_t met = 0;
  for (const ParameterSpec& spec : ListParameters(c, DType::kBF16, 4)) {
    if (spec.name.ends_with("in_proj.weight")) {
      const int64_t bc = c.groups * c.state;
      EXPECT_EQ(
          spec.split.parts,
          (std::vector<int64_t>{c.inner(), c.inner(), bc, bc, c.mamba_heads}));
      ++met;
    }
    if (spec.name.ends_with("k_proj.weight")) {
      EXPECT_EQ(CopiesOf(spec.split, 4), 2);
      ++met;
    }
    if (spec.name.ends_with("o_proj.weight")) {
      EXPECT_EQ(spec.split.dim, 1);
      ++met;
    }
  }
  EXPECT_EQ(met, 3);
}

TEST(TensorCutTest, N4WhatTheGridDoesNotCutIsNamedWithTheNearestThatDoes) {
  ModelConfig c = Config();
  EXPECT_FALSE(FindUncut(c, 4, 64).has_value());
  EXPECT_EQ(NearestGrid(c, 4, 64), 4);
  EXPECT_EQ(FindUncut(c, 4, 66)->key, "data.sequence");
  EXPECT_EQ(NearestGrid(c, 4, 66), 2);
  c.ffn = 36;
  EXPECT_EQ(FindUncut(c, 8, 64)->key, "model.ffn");
  EXPECT_EQ(FindUncut(c, 8, 64)->size, 36);
  EXPECT_EQ(NearestGrid(c, 8, 64), 4);
  c = Config();
  c.heads = c.kv_heads = 6;
  EXPECT_EQ(FindUncut(c, 4, 64)->key, "model.heads");
  c.heads = 12;  // six key/value heads cannot be cut into four equal slices
  EXPECT_EQ(FindUncut(c, 4, 64)->key, "model.kv_heads");
  c.kv_heads = 1;  // fewer than the slices, but they divide them
  EXPECT_FALSE(FindUncut(c, 4, 64).has_value());
  EXPECT_EQ(KeyValueCopies(c, 4), 4);
  EXPECT_EQ(HeldConfig(c, 4).kv_heads, 1);
  EXPECT_EQ(HeldConfig(c, 4).heads, 3);
  c.ffn = 7;
  EXPECT_EQ(NearestGrid(c, 4, 64), 1);
}

}  // namespace
}  // namespace lockstep
