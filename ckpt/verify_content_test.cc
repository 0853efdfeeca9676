// Contents behind hashes that hold, and files that nobody saved.

#include "ckpt/verify_content.h"

#include <gtest/gtest.h>

#include "ckpt/damage_for_test.h"
#include "ckpt/manifest.h"
#include "ckpt/manifest_for_test.h"
#include "ckpt/sealed_json.h"
#include "determinism/fingerprint.h"
#include "determinism/sha256.h"

namespace lockstep {
namespace {

constexpr char kShard[] = "rank_00000.safetensors";

class ContentTest : public DamageTest {
 protected:
  // With a manifest that is one.
  ContentTest() {
    const TestState state(6);
    SaveOptions options = OptionsFor(6);
    options.manifest_json = ManifestToJson(Sample());
    EXPECT_TRUE(fs.RemoveTree(kDir).ok());
    index = SaveCheckpoint(fs, options, state.registry)->index;
  }
  VerifyResult Content() { return *VerifyContent(fs, kDir); }
  IndexTensor& Named(CheckpointIndex& i, const std::string& name) {
    for (IndexTensor& tensor : i.tensors) {
      if (tensor.name == name) return tensor;
    }
    ADD_FAILURE() << name;
    return i.tensors[0];
  }
  void ExpectOnly(const std::string& file, const std::string& tensor,
                  const std::string& part) {
    const VerifyResult result = Content();
    EXPECT_FALSE(result.ok);
    ASSERT_EQ(result.damage.size(), 1u) << result.Summary();
    EXPECT_EQ(result.damage[0].file, file);
    EXPECT_EQ(result.damage[0].tensor, tensor);
    EXPECT_NE(result.damage[0].what.find(part), std::string::npos)
        << result.Summary();
    EXPECT_LT(result.damage[0].from, result.damage[0].to);
  }
};

TEST_F(ContentTest, ASoundOneHolds) {
  EXPECT_TRUE(Content().ok) << Content().Summary();
}

// A bit that was wrong before the file was hashed.
TEST_F(ContentTest, BytesThatTheSaverDidNotSee) {
  std::string bytes = Read(kShard);
  Reseal([&](CheckpointIndex& i) {
    IndexBox& box = Named(i, "model/b.bias").boxes[0];
    bytes[box.offset_bytes + 1] ^= 2;
    TreeHash hash;
    hash.Update(
        std::string_view(bytes).substr(box.offset_bytes, box.size_bytes));
    box.tree = hash.Finish();
  });
  Overwrite(fs, PathOf(kShard), bytes);
  EXPECT_TRUE(Verify().ok);
  ExpectOnly(kShard, "model/b.bias", "the saver saw");
}

TEST_F(ContentTest, FingerprintsThatAreNotOfTheBytes) {
  Reseal([&](CheckpointIndex& i) {
    Named(i, "cursor/sample").fingerprint[3] ^= 1;
  });
  ExpectOnly(kShard, "cursor/sample", "the saver saw");
  Reseal([](CheckpointIndex& i) { i.state_fingerprint[3] ^= 1; });
  ExpectOnly("index.json", "", "whole state");
}

// An index and a header that say different things: hashes of both hold.
TEST_F(ContentTest, AHeaderThatSaysOtherwise) {
  Reseal([&](CheckpointIndex& i) {
    Named(i, "model/a.weight").dtype = DType::kI32;
  });
  ExpectOnly(kShard, "model/a.weight", "the header has no such tensor");
  Reseal([&](CheckpointIndex& i) { i.tensors.back().name += "d"; });
  ExpectOnly(kShard, index.tensors.back().name + "d",
             "the header has no such tensor");
}

TEST_F(ContentTest, AnIndexOfAnotherRunThanItsManifest) {
  Reseal([](CheckpointIndex& i) { i.run_id = "run-b"; });
  ExpectOnly("index.json", "", "and the manifest beside it of run-a");
  std::string manifest = Read("manifest.json");
  manifest[manifest.size() / 2] ^= 1;
  Overwrite(fs, PathOf("manifest.json"), manifest);
  Reseal([&](CheckpointIndex& i) {
    i.files["manifest.json"].sha256 = Sha256Hex(manifest);
  });
  EXPECT_TRUE(Verify().ok);
  ExpectOnly("manifest.json", "", "");
}

// A load would take another kind of entry for it.
TEST_F(ContentTest, AKindThatDoesNotGoWithItsType) {
  Reseal([&](CheckpointIndex& i) {
    Named(i, "cursor/sample").kind = StateKind::kF64;
  });
  ExpectOnly("index.json", "", "not its kind's");
  ExpectUnusable("not its kind's");
  Reseal([&](CheckpointIndex& i) {
    Named(i, "model/a.weight").kind = StateKind::kBytes;
  });
  ExpectOnly("index.json", "", "not its kind's");
}

// Where all boxes have one block, too.
TEST_F(ContentTest, BlocksOfNoOrOfAbsurdSize) {
  OrderedJson json = *OpenSealedJson(IndexToJson(index));
  json.erase("sha256");
  json["hash_block_bytes"] = 0;
  Overwrite(fs, PathOf("index.json"), SealJson(json));
  ExpectOnly("index.json", "", "blocks of no bytes");
  Reseal([](CheckpointIndex& i) { i.hash_block_bytes = uint64_t{1} << 41; });
  ExpectOnly("index.json", "", "more than a TiB");
}

TEST_F(ContentTest, AFileThatNobodySaved) {
  Overwrite(fs, PathOf("rank_00001.safetensors"), "more");
  EXPECT_TRUE(Verify().ok);  // it harms no load
  EXPECT_TRUE(LoadStatus().ok());
  ExpectOnly("rank_00001.safetensors", "", "none of the checkpoint's files");
}

}  // namespace
}  // namespace lockstep
