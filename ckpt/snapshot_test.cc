// A copy of the state is the state: bytes, fingerprints, and the files made of
// it, whatever threads made the copy.

#include "ckpt/snapshot.h"

#include <gtest/gtest.h>

#include <cstring>

#include "ckpt/load.h"
#include "ckpt/save.h"
#include "ckpt/split_state_for_test.h"
#include "ckpt/test_state.h"
#include "determinism/memory_file_system.h"

namespace lockstep {
namespace {

std::string Hex(const std::vector<TensorFingerprint>& fingerprints) {
  return FieldFingerprint(fingerprints);
}

// N11, N1: the same as from the registry, on any threads and layout.
TEST(CopyState, HasTheFingerprintsAndBytesOfTheState) {
  int64_t compared = 0;
  for (const int ranks : {1, 2}) {
    for (int rank = 0; rank < ranks; ++rank) {
      StateRegistry registry;
      SplitState state(registry, rank, ranks, 301);
      state.MoveTo(7);
      const Snapshot live = LookAtState(registry, rank);
      for (const int threads : {1, 2, 3}) {
        ThreadPool pool(threads);
        StagingMemory memory;
        const auto copy = CopyState(registry, rank, pool, memory);
        ASSERT_TRUE(copy.ok()) << copy.status();
        EXPECT_EQ(Hex(copy->shared), Hex(live.shared));
        EXPECT_EQ(Hex(copy->runtime), Hex(live.runtime));
        EXPECT_EQ(Hex(copy->common), Hex(live.common));
        EXPECT_EQ(copy->image.size(), CopyBytes(registry, rank));
        ASSERT_EQ(copy->entries.size(), live.entries.size());
        for (size_t i = 0; i < live.entries.size(); ++i) {
          const StateEntry& a = live.entries[i];
          const StateEntry& b = copy->entries[i];
          EXPECT_NE(a.data, b.data);
          EXPECT_EQ(a.size_bytes(), b.size_bytes());
          EXPECT_EQ(std::memcmp(a.data, b.data, a.size_bytes()), 0) << a.name;
          ++compared;
        }
      }
    }
  }
  EXPECT_EQ(compared, 3 * (7 + 7 + 5));
}

// N12: a save of the copy is the save of the state.
TEST(CopyState, MakesTheSameFiles) {
  const TestState state(6);
  MemoryFileSystem one, two;
  MakeRun(one);
  MakeRun(two);
  ASSERT_TRUE(SaveCheckpoint(one, OptionsFor(6), state.registry).ok());
  ThreadPool pool(2);
  StagingMemory memory;
  auto copy = CopyState(state.registry, 0, pool, memory);
  ASSERT_TRUE(copy.ok());
  ASSERT_TRUE(SaveSnapshot(two, OptionsFor(6), *copy).ok());
  const std::string dir = "/run/checkpoints/step_00000006";
  ASSERT_EQ(NamesIn(one, dir).size(), 3u);
  for (const std::string& name : NamesIn(one, dir)) {
    EXPECT_EQ(*one.ReadFile(JoinPath(dir, name)),
              *two.ReadFile(JoinPath(dir, name)))
        << name;
  }
}

TEST(StagingMemory, BeginsAPageAndGrows) {
  StagingMemory memory;
  for (const size_t bytes : {1, 5000, 3 << 20}) {
    ASSERT_TRUE(memory.Reserve(bytes).ok());
    EXPECT_GE(memory.bytes().size(), bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.bytes().data()) % 4096, 0u);
    memory.Touch();
    memory.bytes().back() = std::byte{1};
  }
  const auto* before = memory.bytes().data();
  ASSERT_TRUE(memory.Reserve(100).ok());
  EXPECT_EQ(memory.bytes().data(), before);
  EXPECT_TRUE(absl::IsResourceExhausted(memory.Reserve(size_t{1} << 60)));
}

}  // namespace
}  // namespace lockstep
