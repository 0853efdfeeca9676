// Checkpoints whose bytes all hold and that no load takes, as somebody leaves
// them who can seal an index.
//
// What it is not: damage that a hash shows (ckpt/damage_for_test.h).
#ifndef LOCKSTEP_TESTS_TRAIN_RESEAL_FOR_TEST_H_
#define LOCKSTEP_TESTS_TRAIN_RESEAL_FOR_TEST_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>

#include "absl/strings/str_cat.h"
#include "ckpt/checkpoint_index.h"
#include "determinism/file_system.h"
#include "tests/train/train_rig.h"

namespace lockstep {

inline void Reseal(const TrainRig& rig, int64_t step,
                   const std::function<void(CheckpointIndex&)>& change) {
  const std::string folder = absl::StrCat("checkpoints/", CheckpointName(step));
  auto index = ReadIndex(*PosixFileSystem(), rig.dir() + "/" + folder);
  ASSERT_TRUE(index.ok()) << index.status();
  change(*index);
  rig.Write(folder + "/index.json", IndexToJson(*index));
}

inline void OtherKind(CheckpointIndex& index) {
  for (IndexTensor& tensor : index.tensors) {
    if (tensor.kind != StateKind::kU64) continue;
    tensor.kind = StateKind::kTensor;
    return;
  }
  ADD_FAILURE() << "no such entry";
}

inline void OtherFingerprint(CheckpointIndex& index) {
  char& digit = index.tensors[0].fingerprint[3];
  digit = digit == '0' ? '1' : '0';
}

}  // namespace lockstep

#endif  // LOCKSTEP_TESTS_TRAIN_RESEAL_FOR_TEST_H_
