// Small token files and recipes for whole runs over data of a known size.
//
// What it is: debug.toml with sources whose number of samples a test chooses.
// What it is not: text: tokens are written as they are. Why so: where an epoch
// ends must be exact.
#ifndef LOCKSTEP_TESTS_TRAIN_DATA_FOR_TEST_H_
#define LOCKSTEP_TESTS_TRAIN_DATA_FOR_TEST_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "data/token_file_writer.h"
#include "determinism/file_system.h"

namespace lockstep {

inline constexpr int64_t kSequence = 32;

// A token file of `samples` training samples in documents of 20 tokens, and a
// last document of 45 that a run may hold out.
inline std::string WriteSource(const std::string& name, int64_t samples) {
  FileSystem& fs = *PosixFileSystem();
  const std::string prefix = testing::TempDir() + "/" + name;
  auto writer = TokenFileWriter::Create(fs, prefix, 257, 1 << 20);
  EXPECT_TRUE(writer.ok());
  const int64_t tokens = samples * kSequence + 1;
  for (int64_t k = 0; k < tokens + 45; ++k) {
    const std::vector<int32_t> token = {
        static_cast<int32_t>((k * k / 3 + name[0] + samples) % 257)};
    EXPECT_TRUE((*writer)->Append(token).ok());
    if ((k < tokens && k % 20 == 19) || k == tokens - 1 || k == tokens + 44) {
      EXPECT_TRUE((*writer)->EndDocument().ok());
    }
  }
  EXPECT_TRUE((*writer)->Finish().ok());
  return prefix;
}

// debug.toml with other data, as a file of its own.
inline std::string WriteRecipe(const std::string& name,
                               const std::string& data) {
  char folder[4096];
  EXPECT_NE(getcwd(folder, sizeof(folder)), nullptr);
  const std::string path = testing::TempDir() + "/" + name + ".toml";
  EXPECT_TRUE(
      WriteFileAtomically(*PosixFileSystem(), path,
                          absl::StrCat("extends = \"", folder,
                                       "/recipes/debug.toml\"\n[data]\n", data))
          .ok());
  return path;
}

inline std::string Source(const std::string& prefix) {
  return absl::StrCat("[[data.source]]\npath = \"", prefix, "\"\n");
}

}  // namespace lockstep

#endif  // LOCKSTEP_TESTS_TRAIN_DATA_FOR_TEST_H_
