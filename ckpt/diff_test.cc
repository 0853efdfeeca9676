// What two checkpoints differ in, whatever boxes they lie in.

#include "ckpt/diff.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "ckpt/damage_for_test.h"
#include "ckpt/reshard_for_test.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

constexpr char kOther[] = "/other/checkpoints/step_00000006";

class DiffTest : public DamageTest {
 protected:
  void SaveOther(const std::function<void(TestState&)>& change) {
    TestState state(6);
    change(state);
    SaveOptions options = OptionsFor(6);
    options.run_dir = "/other";
    ASSERT_TRUE(fs.MakeDirs("/other").ok());
    ASSERT_TRUE(SaveCheckpoint(fs, options, state.registry).ok());
  }
  CheckpointDiff Diff(const std::string& a = kDir,
                      const std::string& b = kOther) {
    auto diff = DiffCheckpoints(fs, a, b);
    EXPECT_TRUE(diff.ok()) << diff.status();
    return diff.ok() ? *std::move(diff) : CheckpointDiff();
  }
};

TEST_F(DiffTest, EqualStatesInOtherBoxesAreEqual) {
  ASSERT_TRUE(ReshardCheckpoint(fs, {kDir, "/three", ThreeRanks()}).ok());
  const CheckpointDiff diff = Diff(kDir, "/three");
  EXPECT_TRUE(diff.differences.empty());
  EXPECT_NE(DiffToText(diff).find("equal: all "), std::string::npos);
  EXPECT_EQ(DiffToJson(diff).find("{\"equal\":true,"), 0u);
}

TEST_F(DiffTest, OfATensorTheFirstPlaceTheCountAndTheGreatestDistance) {
  SaveOther([](TestState& s) {
    s.model.a[7] = std::nextafter(s.model.a[7], 1e9f);
    s.model.a[13] = std::nextafter(std::nextafter(s.model.a[13], 0.f), 0.f);
    s.model.Rebuild();
  });
  ASSERT_TRUE(ReshardCheckpoint(fs, {kDir, "/three", ThreeRanks()}).ok());
  for (const char* a : {kDir, "/three"}) {
    const CheckpointDiff diff = Diff(a);
    ASSERT_EQ(diff.differences.size(), 1u);
    const TensorDifference& d = diff.differences[0];
    EXPECT_EQ(d.name, "model/a.weight");
    EXPECT_EQ(d.what, "contents");
    EXPECT_EQ(d.elements, 15);
    EXPECT_EQ(d.different, 2);
    EXPECT_EQ(d.first, (std::vector<int64_t>{1, 2}));
    EXPECT_EQ(d.max_ulp, 2u);
    EXPECT_NE(d.a, d.b);
    EXPECT_NE(DiffToJson(diff).find(R"("first":[1,2],"max_ulp":2)"),
              std::string::npos);
    EXPECT_NE(DiffToText(diff).find("2 of 15 elements, first [1,2]: "),
              std::string::npos);
  }
}

TEST_F(DiffTest, ZerosDifferAndAreNotApart) {
  SaveOther([](TestState& s) { s.model.b[0] = 0.f; });
  const std::string zero = "/zero/checkpoints/step_00000006";
  TestState state(6);
  state.model.b[0] = -0.f;
  SaveOptions options = OptionsFor(6);
  options.run_dir = "/zero";
  ASSERT_TRUE(fs.MakeDirs("/zero").ok());
  ASSERT_TRUE(SaveCheckpoint(fs, options, state.registry).ok());
  const CheckpointDiff diff = Diff(zero);
  ASSERT_EQ(diff.differences.size(), 1u);
  EXPECT_EQ(diff.differences[0].different, 1);
  EXPECT_EQ(diff.differences[0].max_ulp, 0u);
}

TEST_F(DiffTest, ScalarsAndBytesAreShownWithBothValues) {
  SaveOther([](TestState& s) {
    s.cursor.sample += 3;
    s.cursor.skip_list += "\x01";
  });
  const CheckpointDiff diff = Diff();
  ASSERT_EQ(diff.differences.size(), 2u);
  EXPECT_EQ(diff.differences[0].name, "cursor/sample");
  EXPECT_EQ(diff.differences[0].a, "96");
  EXPECT_EQ(diff.differences[0].b, "99");
  EXPECT_EQ(diff.differences[0].max_ulp, 3u);
  EXPECT_EQ(diff.differences[1].name, "cursor/skip_list");
  EXPECT_EQ(diff.differences[1].a, "ff (1 bytes)");
  EXPECT_EQ(diff.differences[1].b, "ff01 (2 bytes)");
  EXPECT_NE(DiffToText(diff).find(
                "1 of 2 bytes, from byte 1 on: ff (1 bytes) and ff01"),
            std::string::npos)
      << DiffToText(diff);
  EXPECT_EQ(diff.differences[1].first, std::vector<int64_t>{1});
}

TEST_F(DiffTest, MissingAndExtraOnesAreNamedAndSoAreTypes) {
  CheckpointIndex other = index;
  other.tensors.erase(other.tensors.begin());
  other.tensors.back().dtype = DType::kF16;
  other.tensors[2].shape = {7};
  other.runtime[0].fingerprint[0] ^= 1;
  const auto differences = DiffIndices(index, other);
  ASSERT_EQ(differences.size(), 4u);
  EXPECT_EQ(differences[0].name, index.tensors[0].name);
  EXPECT_EQ(differences[0].what, "only in A");
  EXPECT_EQ(differences[1].what, "shape");
  EXPECT_EQ(differences[2].what, "dtype");
  EXPECT_EQ(differences[3].what, "runtime weights");
  EXPECT_EQ(DiffIndices(other, index)[0].what, "only in B");
}

TEST_F(DiffTest, BytesThatAreNotWhatTheIndexSaysAreNoAnswer) {
  SaveOther([](TestState& s) { s.model.b[3] = 1.f; });
  const std::string path =
      JoinPath(kOther, index.files.rbegin()->first);  // the shard
  std::string bytes = *fs.ReadFile(path);
  const IndexTensor& b = index.tensors[6];
  ASSERT_EQ(b.name, "model/b.bias");
  bytes[b.boxes[0].offset_bytes] ^= 1;
  Overwrite(fs, path, bytes);
  const auto diff = DiffCheckpoints(fs, kDir, kOther);
  EXPECT_EQ(ExitCodeFor(diff.status()), 4);
  EXPECT_NE(Text(diff.status()).find("model/b.bias"), std::string::npos);
}

// Equal indices, and one shard of the two that does not hold: cut short, a bit
// flipped in any tensor or the header, bytes behind the end, gone.
TEST_F(DiffTest, DamageIsNeverCalledEqual) {
  SaveOther([](TestState&) {});
  ASSERT_TRUE(Diff().differences.empty());
  const std::string shard = index.files.rbegin()->first;
  const std::string path = JoinPath(kOther, shard);
  const std::string good = *fs.ReadFile(path);
  std::vector<std::string> damaged = {good.substr(0, good.size() - 1),
                                      good + "x"};
  damaged.push_back(good);
  damaged.back()[20] ^= 1;
  for (const IndexTensor& tensor : index.tensors) {
    damaged.push_back(good);
    damaged.back()[tensor.boxes[0].offset_bytes] ^= 1;
  }
  ASSERT_GT(damaged.size(), 10u);
  for (const std::string& bytes : damaged) {
    Overwrite(fs, path, bytes);
    for (const bool swapped : {false, true}) {
      const auto diff = swapped ? DiffCheckpoints(fs, kOther, kDir)
                                : DiffCheckpoints(fs, kDir, kOther);
      ASSERT_EQ(ExitCodeFor(diff.status()), 4);
      EXPECT_NE(Text(diff.status()).find(shard), std::string::npos);
    }
  }
  ASSERT_TRUE(fs.Remove(path).ok());
  EXPECT_EQ(ExitCodeFor(DiffCheckpoints(fs, kDir, kOther).status()), 4);
}

// A quick look says that it was one, and what it did not read.
TEST_F(DiffTest, AQuickLookSaysWhatItDidNotRead) {
  SaveOther([](TestState&) {});
  const std::string path = JoinPath(kOther, index.files.rbegin()->first);
  Overwrite(fs, path, fs.ReadFile(path)->substr(0, 5000));
  const auto diff = DiffCheckpoints(fs, kDir, kOther, /*quick=*/true);
  ASSERT_TRUE(diff.ok()) << diff.status();
  EXPECT_TRUE(diff->differences.empty());
  const std::string text = DiffToText(*diff);
  EXPECT_EQ(text.find("to the bit"), std::string::npos);
  EXPECT_NE(text.find("by the fingerprints of their indices"),
            std::string::npos);
  EXPECT_NE(text.find("was not read"), std::string::npos);
  EXPECT_NE(DiffToJson(*diff).find(R"("quick":true)"), std::string::npos);
}

// Hashes that hold and a fingerprint that is another's: bytes decide, and the
// index is not believed.
TEST_F(DiffTest, AFingerprintThatIsNotOfTheBytesIsNoAnswer) {
  SaveOther([](TestState& s) { s.model.b[3] = 1.f; });
  auto other = *ReadIndex(fs, kOther);
  for (size_t t = 0; t < other.tensors.size(); ++t) {
    other.tensors[t].fingerprint = index.tensors[t].fingerprint;
  }
  Overwrite(fs, JoinPath(kOther, "index.json"), IndexToJson(other));
  ASSERT_TRUE(VerifyCheckpoint(fs, kOther)->ok);
  const auto diff = DiffCheckpoints(fs, kDir, kOther);
  EXPECT_EQ(ExitCodeFor(diff.status()), 4);
  EXPECT_NE(Text(diff.status()).find("model/b.bias"), std::string::npos);
}

}  // namespace
}  // namespace lockstep
