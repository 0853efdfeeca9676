// A checkpoint as a careful forger leaves it: every hash and fingerprint holds.
#ifndef LOCKSTEP_TESTS_AUDIT_FORGE_FOR_TEST_H_
#define LOCKSTEP_TESTS_AUDIT_FORGE_FOR_TEST_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "ckpt/checkpoint_index.h"
#include "ckpt/hash_tree.h"
#include "determinism/file_system.h"
#include "determinism/fingerprint.h"

namespace lockstep {

// Flips the lowest bit of the first element of `name`, which has one box.
inline void ForgeTensor(const std::string& checkpoint,
                        const std::string& name) {
  FileSystem& fs = *PosixFileSystem();
  CheckpointIndex index = *ReadIndex(fs, checkpoint);
  std::vector<TensorFingerprint> state;
  int forged = 0;
  for (IndexTensor& t : index.tensors) {
    Fingerprint value;
    for (IndexBox& box : t.boxes) {
      const std::string path = JoinPath(checkpoint, box.file);
      std::string file = *fs.ReadFile(path);
      if (t.name == name) {
        file[box.offset_bytes] = static_cast<char>(file[box.offset_bytes] ^ 1);
        ASSERT_TRUE(WriteFileAtomically(fs, path, file).ok());
        ++forged;
      }
      const std::string bytes = file.substr(box.offset_bytes, box.size_bytes);
      TreeHash hash(index.hash_block_bytes);
      hash.Update(bytes);
      box.tree = hash.Finish();
      value +=
          FingerprintBox(bytes.data(), t.dtype, t.shape, box.start, box.shape);
    }
    t.fingerprint = value.Hex();
    state.push_back({t.name, t.dtype, t.shape, value});
  }
  ASSERT_EQ(forged, 1) << name;
  index.state_fingerprint = FieldFingerprint(state);
  ASSERT_TRUE(WriteFileAtomically(fs, JoinPath(checkpoint, kIndexFile),
                                  IndexToJson(index))
                  .ok());
}

}  // namespace lockstep

#endif  // LOCKSTEP_TESTS_AUDIT_FORGE_FOR_TEST_H_
