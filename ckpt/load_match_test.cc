// Checkpoints whose bytes hold and that do not fit: nothing is converted,
// filled in or ignored.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>

#include "ckpt/complaints.h"
#include "ckpt/damage_for_test.h"
#include "ckpt/load.h"
#include "ckpt/verify.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

using MatchTest = DamageTest;

TEST_F(MatchTest, EntriesDeletedAddedOrRenamedAreNamed) {
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
  EXPECT_FALSE(Verify().ok);  // every byte holds, and the header says otherwise
  ExpectNotLoaded("lacks cursor/loss_scale; nearest: cursor/loss_scald");
  Reseal([](CheckpointIndex& i) { std::swap(i.tensors[0], i.tensors[1]); });
  ExpectUnusable("out of order");
}

TEST_F(MatchTest, AnObjectMayBeOnOneSideAloneIfTheCallerSaysSo) {
  struct Extra : Stateful {
    explicit Extra(StateRegistry& r) : Stateful(r, "extra") {}
    void VisitState(StateVisitor& v) override {
      v.U64("a", StateGroup::kCounter, a);
      v.U64("b", StateGroup::kCounter, b);
    }
    uint64_t a = 7, b = 8;
  };
  const LoadOptions free = {.free_object = "extra"};
  TestState plain(6), more(6);
  Extra extra(more.registry);
  ASSERT_TRUE(SaveStep(fs, 6).ok());
  const auto index = LoadCheckpoint(fs, kDir, more.registry, free);
  ASSERT_TRUE(index.ok()) << index.status().message();
  EXPECT_FALSE(HasObject(*index, "extra"));
  EXPECT_EQ(extra.a, 7u);
  ASSERT_TRUE(SaveCheckpoint(fs, OptionsFor(6), more.registry).ok());
  EXPECT_TRUE(LoadCheckpoint(fs, kDir, plain.registry, free).ok());
  EXPECT_FALSE(LoadCheckpoint(fs, kDir, plain.registry).ok());
  EXPECT_FALSE(
      LoadCheckpoint(fs, kDir, plain.registry, {.free_object = "extr"}).ok());
  // On both sides it is like any other.
  Reseal([](CheckpointIndex& i) {
    std::erase_if(i.tensors, [](auto& t) { return t.name == "extra/b"; });
  });
  EXPECT_FALSE(LoadCheckpoint(fs, kDir, more.registry, free).ok());
}

TEST_F(MatchTest, TypesAndShapesMustBeEqual) {
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

// A tensor that a program has in many boxes is complained of once.
TEST(ComplaintsTest, SaysEachThingOnceAndCountsTheRest) {
  Complaints complaints;
  for (int i = 0; i < 30; ++i) complaints.Add("t" + std::to_string(i / 3));
  const std::string text = Text(complaints.Status("unfit:", "a", "b"));
  EXPECT_EQ(text.find("t0"), text.rfind("t0"));
  EXPECT_NE(text.find("t7\n    and 2 more"), std::string::npos) << text;
}

TEST_F(MatchTest, AnIndexThatContradictsItselfIsRefused) {
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
      [](CheckpointIndex& i) { i.tensors[0].boxes[0].tree.root = "no"; },
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

// Each box is held against each: of many that would take hours.
TEST_F(MatchTest, AnIndexFilledWithBoxesIsRefused) {
  Reseal([](CheckpointIndex& i) {
    i.tensors[0].boxes.resize(20'000, i.tensors[0].boxes[0]);
  });
  ExpectUnusable("has more than 16384 boxes");
}

// Hashes that hold over contents that no training makes.
TEST_F(MatchTest, MemoryIsComparedWithTheSaversMemory) {
  Reseal([](CheckpointIndex& i) { i.tensors[0].fingerprint[3] ^= 1; });
  ExpectNotLoaded("has fingerprint");
  Reseal([](CheckpointIndex& i) { i.state_fingerprint[3] ^= 1; });
  ExpectNotLoaded("the state as a whole");
}

}  // namespace
}  // namespace lockstep
