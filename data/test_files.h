// What the tests of data/ share: small files on the test double.

#ifndef DATA_TEST_FILES_H_
#define DATA_TEST_FILES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "data/token_file.h"
#include "data/token_file_writer.h"
#include "determinism/check.h"
#include "determinism/file_system.h"

namespace lockstep {

inline void WriteTestFile(FileSystem& fs, const std::string& path,
                          std::string_view contents) {
  LS_CHECK(fs.MakeDirs(DirName(path)).ok()) << path;
  const absl::Status status = WriteFileAtomically(fs, path, contents);
  LS_CHECK(status.ok()) << std::string(status.message());
}

inline std::string ReadTestFile(FileSystem& fs, const std::string& path) {
  auto contents = fs.ReadFile(path);
  LS_CHECK(contents.ok()) << std::string(contents.status().message());
  return *contents;
}

// A pair of the given documents.
inline TokenFileSummary WriteTestTokens(
    FileSystem& fs, const std::string& prefix, int64_t vocab_size,
    const std::vector<std::vector<int32_t>>& documents,
    int64_t max_sequence_tokens = 1000) {
  LS_CHECK(fs.MakeDirs(DirName(prefix)).ok()) << prefix;
  auto writer =
      TokenFileWriter::Create(fs, prefix, vocab_size, max_sequence_tokens);
  LS_CHECK(writer.ok());
  for (const auto& document : documents) {
    LS_CHECK((*writer)->Append(document).ok());
    LS_CHECK((*writer)->EndDocument().ok());
  }
  auto summary = (*writer)->Finish();
  LS_CHECK(summary.ok()) << std::string(summary.status().message());
  return *summary;
}

inline std::string MessageOf(const absl::Status& status) {
  return std::string(status.message());
}

}  // namespace lockstep

#endif  // DATA_TEST_FILES_H_
