// Trees of hashes: the rule, and that damage is named by its blocks alone.

#include "ckpt/hash_tree.h"

#include <gtest/gtest.h>

#include "absl/strings/escaping.h"
#include "ckpt/load.h"
#include "ckpt/reshard.h"
#include "ckpt/test_state.h"
#include "ckpt/verify.h"
#include "determinism/memory_file_system.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

constexpr char kDir[] = "/run/checkpoints/step_00000006";
constexpr char kShard[] =
    "/run/checkpoints/step_00000006/rank_00000.safetensors";
constexpr size_t kHalves = 7;  // of blocks that the large tensor has

// One tensor of three blocks and a half, and one of a few bytes.
class LargeModel : public Stateful {
 public:
  explicit LargeModel(StateRegistry& registry) : Stateful(registry, "model") {}
  void VisitState(StateVisitor& v) override {
    const auto rows = static_cast<int64_t>(large.size());
    v.Tensor({"large",
              StateGroup::kMaster,
              DType::kF32,
              {rows},
              {0},
              {rows},
              large.data()});
    v.Tensor({"small",
              StateGroup::kMaster,
              DType::kF32,
              {3},
              {0},
              {3},
              small.data()});
  }
  void Fill() {
    for (size_t i = 0; i < large.size(); ++i) {
      large[i] = static_cast<float>(i * 7 % 1001);
    }
    small = {1, 2, 3};
  }

  std::vector<float> large =
      std::vector<float>(kHalves * kHashBlockBytes / 2 / sizeof(float));
  std::vector<float> small = std::vector<float>(3);
};

struct LargeState {
  StateRegistry registry;
  LargeModel model = LargeModel(registry);
};

TEST(HashTree, TheRootIsOverTheDigestsOfTheLeaves) {
  const std::string bytes(2500, 'x');
  TreeHash hash(1000);
  for (const size_t cut : {size_t{1}, size_t{999}, size_t{500}, size_t{1000}}) {
    hash.Update(std::string_view(bytes).substr(0, cut));
  }
  const HashTree tree = hash.Finish();
  const std::string full = Sha256Hex(bytes.substr(0, 1000));
  const std::string rest = Sha256Hex(bytes.substr(0, 500));
  EXPECT_EQ(tree.leaves, (std::vector<std::string>{full, full, rest}));
  EXPECT_EQ(tree.root, Sha256Hex(absl::HexStringToBytes(full) +
                                 absl::HexStringToBytes(full) +
                                 absl::HexStringToBytes(rest)));
  TreeHash one(1000), whole(0), nothing(1000);
  one.Update(std::string_view(bytes).substr(0, 1000));
  EXPECT_EQ(one.Finish().root, full);
  whole.Update(bytes);
  EXPECT_EQ(whole.Finish().root, Sha256Hex(bytes));
  EXPECT_EQ(nothing.Finish().root, Sha256Hex(""));
}

class HashTreeTest : public testing::Test {
 protected:
  HashTreeTest() {
    MakeRun(fs_);
    LargeState state;
    state.model.Fill();
    index_ = SaveCheckpoint(fs_, OptionsFor(6), state.registry)->index;
    shard_ = *fs_.ReadFile(kShard);
  }

  const IndexBox& Large() const { return index_.tensors[0].boxes[0]; }
  absl::Status Load() {
    LargeState state;
    return LoadCheckpoint(fs_, kDir, state.registry).status();
  }
  // Of byte `at` of the large tensor, in the file.
  void Flip(uint64_t at) {
    shard_[Large().offset_bytes + at] ^= 1;
    Overwrite(fs_, kShard, shard_);
  }
  void ExpectDamage(const std::vector<ByteRange>& ranges) {
    const VerifyResult result = *VerifyCheckpoint(fs_, kDir);
    ASSERT_EQ(result.damage.size(), ranges.size()) << result.Summary();
    for (size_t i = 0; i < ranges.size(); ++i) {
      EXPECT_EQ(result.damage[i].tensor, "model/large");
      EXPECT_EQ(result.damage[i].from, Large().offset_bytes + ranges[i].from);
      EXPECT_EQ(result.damage[i].to, Large().offset_bytes + ranges[i].to);
      const std::string named = std::to_string(result.damage[i].from) + " to " +
                                std::to_string(result.damage[i].to);
      EXPECT_NE(Text(Load()).find(named), std::string::npos) << Load();
    }
  }

  MemoryFileSystem fs_;
  CheckpointIndex index_;
  std::string shard_;
};

constexpr uint64_t kBlock = kHashBlockBytes;
constexpr uint64_t kEnd = kHalves * kHashBlockBytes / 2;

TEST_F(HashTreeTest, AFlipNamesItsBlockAndNoOther) {
  ASSERT_TRUE(Load().ok());
  EXPECT_EQ(Large().tree.leaves.size(), 4u);
  EXPECT_TRUE(index_.tensors[1].boxes[0].tree.leaves.empty());
  for (const uint64_t at :
       {uint64_t{0}, kBlock - 1, kBlock, kBlock + 5, 3 * kBlock, kEnd - 1}) {
    Flip(at);
    const uint64_t from = at / kBlock * kBlock;
    ExpectDamage({{from, std::min(from + kBlock, kEnd)}});
    EXPECT_EQ(ExitCodeFor(Load()), 4);
    Flip(at);
  }
  ASSERT_TRUE(VerifyCheckpoint(fs_, kDir)->ok);
}

TEST_F(HashTreeTest, NeighboursAreOneRangeAndOthersAreNot) {
  Flip(2);
  Flip(kBlock);
  ExpectDamage({{0, 2 * kBlock}});
  Flip(kEnd - 1);
  ExpectDamage({{0, 2 * kBlock}, {3 * kBlock, kEnd}});
}

// As version 1 had it: one hash a box, and no word of blocks.
TEST_F(HashTreeTest, AnIndexWithoutBlocksIsReadAndNamesWholeBoxes) {
  index_.format_version = 1;
  index_.hash_block_bytes = 0;
  for (IndexTensor& tensor : index_.tensors) {
    IndexBox& box = tensor.boxes[0];
    box.tree = {Sha256Hex(shard_.substr(box.offset_bytes, box.size_bytes))};
  }
  const std::string text = IndexToJson(index_);
  EXPECT_EQ(text.find("hash_block_bytes"), std::string::npos);
  EXPECT_EQ(text.find("leaves"), std::string::npos);
  Overwrite(fs_, std::string(kDir) + "/index.json", text);
  EXPECT_EQ(IndexToJson(*ReadIndex(fs_, kDir)), text);
  EXPECT_TRUE(VerifyCheckpoint(fs_, kDir)->ok);
  EXPECT_TRUE(Load().ok()) << Load();
  const auto again = ReshardCheckpoint(fs_, {kDir, "/run/again", {}});
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->index.tensors[0].boxes[0].tree.leaves.size(), 4u);
  EXPECT_TRUE(VerifyCheckpoint(fs_, "/run/again")->ok);
  Flip(kBlock);
  ExpectDamage({{0, kEnd}});
}

// Sealed, and yet no tree over the box.
TEST_F(HashTreeTest, ATreeThatDoesNotFitIsRefused) {
  const auto refused = [&](const std::string& part, auto change) {
    CheckpointIndex changed = index_;
    change(changed, changed.tensors[0].boxes[0].tree);
    const auto read = IndexFromJson(IndexToJson(changed), "i");
    EXPECT_NE(Text(read.status()).find(part), std::string::npos)
        << part << " in " << read.status();
  };
  refused("another root", [](CheckpointIndex&, HashTree& tree) {
    std::swap(tree.leaves[0], tree.leaves[3]);
  });
  refused("other leaves", [](CheckpointIndex&, HashTree& tree) {
    tree.leaves.pop_back();
    tree = TreeOf(tree.leaves);
  });
  refused("other leaves",
          [](CheckpointIndex&, HashTree& tree) { tree.leaves.clear(); });
  refused("no SHA-256",
          [](CheckpointIndex&, HashTree& tree) { tree.leaves[1] = "x"; });
  refused("other leaves", [](CheckpointIndex& index, HashTree&) {
    index.hash_block_bytes *= 4;
  });
  refused("whole MiB", [](CheckpointIndex& index, HashTree&) {
    index.hash_block_bytes = 1000;
  });
  refused("newer program",
          [](CheckpointIndex& index, HashTree&) { ++index.format_version; });
}

}  // namespace
}  // namespace lockstep
