#include "tools/saved_operation/saved_operation.h"

#include <gtest/gtest.h>

#include "determinism/memory_file_system.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

KeptTensor Kept(const std::string& name, char first) {
  KeptTensor tensor = {
      .name = name, .dtype = DType::kF32, .shape = {1, 2}, .bytes = {}};
  tensor.bytes = std::string(8, first);
  return tensor;
}

SavedOperation Saved() {
  SavedOperation o;
  o.identity = {.step = 5,
                .attempt = 1,
                .phase = "backward",
                .scope = "layers.3.mixer",
                .operation = "conv1d",
                .first_sample = 32,
                .occurrence = 2};
  o.rank = 1;
  o.tensor = "dx";
  o.run_a = "runs/a \"quoted\"";
  o.run_b = "runs/b";
  o.recipe = "guarantee = \"bitwise\"\n";
  o.vocab = 257;
  o.seed = UINT64_MAX;
  o.samples = {32, 33, 35};
  o.inputs = {Kept("dy", 'a')};
  // Names that come twice, and one with a dot.
  o.outputs_a = {Kept("dx", 'b'), Kept("dx", 'c')};
  o.outputs_b = {Kept("dx", 'd'), Kept("d.x", 'e')};
  o.layer = {Kept("x", 'f')};
  o.parameters = {Kept("backbone.layers.3.norm.weight", 'g')};
  return o;
}

void ExpectSame(const std::vector<KeptTensor>& got,
                const std::vector<KeptTensor>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].name, want[i].name);
    EXPECT_EQ(got[i].shape, want[i].shape);
    EXPECT_EQ(got[i].bytes, want[i].bytes);
  }
}

TEST(SavedOperationTest, IsReadAsItWasWritten) {
  MemoryFileSystem fs;
  ASSERT_TRUE(fs.MakeDirs("out").ok());
  const SavedOperation saved = Saved();
  ASSERT_TRUE(WriteSavedOperation(fs, "out/o.safetensors", saved).ok());
  ASSERT_TRUE(WriteSavedOperation(fs, "out/o.safetensors", saved).ok());
  const auto read = ReadSavedOperation(fs, "out/o.safetensors");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->identity, saved.identity);
  EXPECT_EQ(read->rank, 1);
  EXPECT_EQ(read->tensor, "dx");
  EXPECT_EQ(read->run_a, saved.run_a);
  EXPECT_EQ(read->recipe, saved.recipe);
  EXPECT_EQ(read->vocab, 257);
  EXPECT_EQ(read->seed, UINT64_MAX);
  EXPECT_EQ(read->samples, saved.samples);
  ExpectSame(read->inputs, saved.inputs);
  ExpectSame(read->outputs_a, saved.outputs_a);
  ExpectSame(read->outputs_b, saved.outputs_b);
  ExpectSame(read->layer, saved.layer);
  ExpectSame(read->parameters, saved.parameters);
}

TEST(SavedOperationTest, WhatIsNoneIsRefused) {
  MemoryFileSystem fs;
  ASSERT_TRUE(fs.MakeDirs("out").ok());
  EXPECT_FALSE(ReadSavedOperation(fs, "out/none").ok());
  EXPECT_FALSE(ReadSavedOperation(fs, "out").ok());
  ASSERT_TRUE(WriteFileAtomically(fs, "out/text", "no tensors").ok());
  EXPECT_FALSE(ReadSavedOperation(fs, "out/text").ok());
}

TEST(SavedOperationTest, ALayerIsReadFromItsScope) {
  EXPECT_EQ(LayerOfScope("layers.3.mixer"), 3);
  EXPECT_EQ(LayerOfScope("layers.12"), 12);
  EXPECT_EQ(LayerOfScope("lm_head"), -1);
  EXPECT_EQ(LayerOfScope("layers.x"), -1);
  EXPECT_EQ(LayerOfScope("backbone.layers.3.mixer.in_proj.weight"), -1);
}

}  // namespace
}  // namespace lockstep
