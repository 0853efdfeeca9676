// Damage to a checkpoint: found, named by file and tensor, never loaded.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "ckpt/find.h"
#include "ckpt/load.h"
#include "ckpt/test_state.h"
#include "ckpt/verify.h"
#include "determinism/memory_file_system.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

constexpr char kDir[] = "/run/checkpoints/step_00000006";

std::string PathOf(const std::string& name) { return JoinPath(kDir, name); }

class DamageTest : public testing::Test {
 protected:
  DamageTest() {
    MakeRun(fs);
    index = SaveStep(fs, 6)->index;
  }

  std::string Read(const std::string& name) {
    return *fs.ReadFile(PathOf(name));
  }
  absl::Status LoadStatus() {
    TestState state(1);
    return LoadCheckpoint(fs, kDir, state.registry).status();
  }
  VerifyResult Verify() { return *VerifyCheckpoint(fs, kDir); }
  void ExpectUnusable(const std::string& part) {
    EXPECT_FALSE(Verify().ok) << part;
    ExpectNotLoaded(part);
  }
  void ExpectNotLoaded(const std::string& part) {
    const absl::Status status = LoadStatus();
    EXPECT_EQ(ExitCodeFor(status), 4) << part;
    EXPECT_NE(Text(status).find(part), std::string::npos)
        << part << " in " << status;
  }
  // The index as a forger would leave it: with a seal that holds.
  void Reseal(const std::function<void(CheckpointIndex&)>& change) {
    CheckpointIndex changed = index;
    change(changed);
    Overwrite(fs, PathOf("index.json"), IndexToJson(changed));
  }

  MemoryFileSystem fs;
  CheckpointIndex index;
};

TEST_F(DamageTest, TheUndamagedOneVerifies) {
  const VerifyResult result = Verify();
  EXPECT_TRUE(result.ok) << result.Summary();
  EXPECT_TRUE(LoadStatus().ok());
  EXPECT_EQ(VerifyResultToJson(result), R"({"ok":true,"step":6,"damage":[]})");
  EXPECT_EQ(IndexToJson(result.index), Read("index.json"));
  EXPECT_EQ(IndexToJson(*IndexFromJson(Read("index.json"), "i")),
            Read("index.json"));
}

TEST_F(DamageTest, EveryFlippedBitOfIndexAndManifestIsFound) {
  for (const std::string name : {"index.json", "manifest.json"}) {
    const std::string good = Read(name);
    for (size_t bit = 0; bit < good.size() * 8; ++bit) {
      std::string bad = good;
      bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
      if (name == "index.json") {
        ASSERT_FALSE(IndexFromJson(bad, name).ok()) << bit;
        continue;
      }
      Overwrite(fs, PathOf(name), bad);
      const VerifyResult result = Verify();
      ASSERT_EQ(result.damage.size(), 1u) << bit;
      ASSERT_EQ(result.damage[0].file, name);
      ASSERT_EQ(ExitCodeFor(LoadStatus()), 4) << bit;
    }
    Overwrite(fs, PathOf(name), good);
  }
  EXPECT_TRUE(Verify().ok);
}

TEST_F(DamageTest, RandomFlippedBitsOfTheShardAreFoundAndNamed) {
  const std::string name = "rank_00000.safetensors";
  const std::string good = Read(name);
  uint64_t random = 12345;
  for (int i = 0; i < 1000; ++i) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const size_t bit = (random >> 33) % (good.size() * 8);
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    Overwrite(fs, PathOf(name), bad);
    const VerifyResult result = Verify();
    ASSERT_EQ(result.damage.size(), 1u) << bit;
    const Damage& damage = result.damage[0];
    ASSERT_EQ(damage.file, name);
    ASSERT_LE(damage.from, bit / 8);
    ASSERT_GT(damage.to, bit / 8);
    ASSERT_EQ(damage.tensor.empty(), bit / 8 < index.files[name].header_bytes);
    ASSERT_EQ(ExitCodeFor(LoadStatus()), 4) << bit;
  }
}

TEST_F(DamageTest, TruncationAndTrailingBytes) {
  for (const std::string name :
       {"index.json", "manifest.json", "rank_00000.safetensors"}) {
    const std::string good = Read(name);
    for (const size_t cut :
         {size_t{0}, size_t{1}, good.size() / 2, good.size() - 1}) {
      Overwrite(fs, PathOf(name), good.substr(0, cut));
      EXPECT_FALSE(Verify().ok) << name << " cut at " << cut;
      EXPECT_FALSE(LoadStatus().ok()) << name << " cut at " << cut;
    }
    Overwrite(fs, PathOf(name), good + "x");
    EXPECT_FALSE(Verify().ok) << name;
    EXPECT_FALSE(LoadStatus().ok()) << name;
    ASSERT_TRUE(fs.Remove(PathOf(name)).ok());
    EXPECT_FALSE(Verify().ok) << name;
    EXPECT_FALSE(LoadStatus().ok()) << name;
    Overwrite(fs, PathOf(name), good);
  }
  EXPECT_TRUE(LoadStatus().ok());
}

TEST_F(DamageTest, AShardOfAnotherStep) {
  ASSERT_TRUE(SaveStep(fs, 7).ok());
  Overwrite(
      fs, PathOf("rank_00000.safetensors"),
      *fs.ReadFile("/run/checkpoints/step_00000007/rank_00000.safetensors"));
  ExpectUnusable("another file stands here");
  // A whole folder under the name of another step.
  for (const std::string& name : NamesIn(fs, kDir)) {
    Overwrite(fs, PathOf(name),
              *fs.ReadFile("/run/checkpoints/step_00000007/" + name));
  }
  EXPECT_FALSE(Verify().ok);
}

TEST_F(DamageTest, EntriesDeletedAddedOrRenamedAreNamed) {
  // A consistent checkpoint of a program with other state.
  struct Extra : Stateful {
    explicit Extra(StateRegistry& r) : Stateful(r, "extra") {}
    void VisitState(StateVisitor& v) override {
      v.U64("counter", StateGroup::kCounter, counter);
    }
    uint64_t counter = 1;
  };
  TestState more(6);
  Extra extra(more.registry);
  ASSERT_TRUE(SaveCheckpoint(fs, OptionsFor(6), more.registry).ok());
  EXPECT_TRUE(Verify().ok);
  ExpectNotLoaded("no place for extra/counter");

  ASSERT_TRUE(SaveStep(fs, 6).ok());
  const absl::Status missing = LoadCheckpoint(fs, kDir, more.registry).status();
  EXPECT_EQ(ExitCodeFor(missing), 4);
  EXPECT_NE(Text(missing).find("lacks extra/counter; nearest: "),
            std::string::npos);

  // By a forger of the index: the shard's bytes would belong to nobody.
  Reseal([](CheckpointIndex& i) { i.tensors.erase(i.tensors.begin()); });
  ExpectUnusable("");
  Reseal([](CheckpointIndex& i) { i.tensors[0].name = "cursor/loss_scald"; });
  EXPECT_TRUE(Verify().ok);  // every byte holds
  ExpectNotLoaded("lacks cursor/loss_scale; nearest: cursor/loss_scald");
  Reseal([](CheckpointIndex& i) { std::swap(i.tensors[0], i.tensors[1]); });
  ExpectUnusable("out of order");
}

TEST_F(DamageTest, TypesAndShapesMustBeEqual) {
  // An I64 entry read as U64 has the same bytes and another meaning.
  const auto at = [](CheckpointIndex& i, const std::string& name) {
    return std::find_if(i.tensors.begin(), i.tensors.end(),
                        [&](const IndexTensor& t) { return t.name == name; });
  };
  Reseal([&](CheckpointIndex& i) {
    at(i, "model/a.weight")->dtype = DType::kI32;
  });
  ExpectNotLoaded(
      "model/a.weight is tensor I32 [3,5] in the checkpoint and tensor F32 "
      "[3,5] in the program");
  Reseal([&](CheckpointIndex& i) {
    auto tensor = at(i, "model/a.weight");
    tensor->shape = tensor->boxes[0].shape = {5, 3};
  });
  ExpectNotLoaded("[5,3] in the checkpoint");
  Reseal([&](CheckpointIndex& i) {
    at(i, "cursor/sample")->kind = StateKind::kTensor;
  });
  ExpectNotLoaded("cursor/sample is tensor");
}

TEST_F(DamageTest, AnIndexThatContradictsItselfIsRefused) {
  const std::function<void(CheckpointIndex&)> kChanges[] = {
      [](CheckpointIndex& i) { i.tensors[0].boxes.clear(); },
      [](CheckpointIndex& i) {
        i.tensors[0].boxes.push_back(i.tensors[0].boxes[0]);
      },
      [](CheckpointIndex& i) { i.tensors[0].boxes[0].start[0] = -1; },
      [](CheckpointIndex& i) { i.tensors[0].boxes[0].start[0] = 1; },
      [](CheckpointIndex& i) { i.tensors[0].boxes[0].shape[0] = INT64_MAX; },
      [](CheckpointIndex& i) { i.tensors[0].shape[0] = INT64_MAX; },
      [](CheckpointIndex& i) { i.tensors[0].boxes[0].size_bytes = 4; },
      [](CheckpointIndex& i) { i.tensors[0].boxes[0].offset_bytes += 8; },
      [](CheckpointIndex& i) { i.tensors[0].boxes[0].offset_bytes = ~0ull; },
      [](CheckpointIndex& i) { i.tensors[0].boxes[0].file = "/etc/passwd"; },
      [](CheckpointIndex& i) { i.tensors[0].boxes[0].file = "manifest.json"; },
      [](CheckpointIndex& i) { i.tensors[0].boxes[0].sha256 = "no"; },
      [](CheckpointIndex& i) { i.files["../x"] = i.files.begin()->second; },
      [](CheckpointIndex& i) { i.files.clear(); },
      [](CheckpointIndex& i) { i.files.erase("manifest.json"); },
      [](CheckpointIndex& i) { i.step = -1; },
      [](CheckpointIndex& i) { ++i.format_version; },
  };
  for (const auto& change : kChanges) {
    CheckpointIndex changed = index;
    change(changed);
    EXPECT_FALSE(IndexFromJson(IndexToJson(changed), "i").ok())
        << &change - kChanges;
  }
}

// Hashes that hold over contents that no training makes.
TEST_F(DamageTest, MemoryIsComparedWithTheSaversMemory) {
  Reseal([](CheckpointIndex& i) { i.tensors[0].fingerprint[3] ^= 1; });
  ExpectNotLoaded("has fingerprint");
  Reseal([](CheckpointIndex& i) { i.state_fingerprint[3] ^= 1; });
  ExpectNotLoaded("the state as a whole");
}

TEST_F(DamageTest, DiffNamesTheTensorsThatDiffer) {
  TestState other(6);
  other.model.b[2] = 17;
  SaveOptions options = OptionsFor(8);
  const auto saved = SaveCheckpoint(fs, options, other.registry);
  const auto differences = DiffCheckpoints(index, saved->index);
  ASSERT_EQ(differences.size(), 1u);
  EXPECT_EQ(differences[0].name, "model/b.bias");
  EXPECT_TRUE(DiffCheckpoints(index, index).empty());
}

}  // namespace
}  // namespace lockstep
