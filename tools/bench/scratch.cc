#include "tools/bench/scratch.h"

#include <stdlib.h>

#include "determinism/status.h"

namespace lockstep {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

}  // namespace

absl::StatusOr<Scratch> Scratch::Make(const std::string& parent) {
  const char* system = getenv("TMPDIR");
  std::string name = (!parent.empty()     ? parent
                      : system != nullptr ? system
                                          : "/tmp") +
                     std::string("/lockstep-bench-XXXXXX");
  if (mkdtemp(name.data()) == nullptr) {
    return InputError("cannot make a folder to measure in", name,
                      "name one that can be written with --scratch");
  }
  return Scratch(name);
}

Scratch::~Scratch() {
  if (!dir_.empty()) PosixFileSystem()->RemoveTree(dir_).IgnoreError();
}

absl::Status WriteBenchText(FileSystem& fs, const std::string& path,
                            uint64_t bytes) {
  LS_ASSIGN_OR_RETURN(const auto file, fs.Create(path));
  uint64_t state = 1;
  std::string block;
  for (uint64_t written = 0; written < bytes; written += block.size()) {
    block.clear();
    while (block.size() < kMiB) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      for (int shift = 60; shift > 0; shift -= 5) {
        block += "etaoinshrdlucmfwypvbgkjqxz  .,\n\n"[(state >> shift) & 31];
      }
    }
    block.resize(kMiB);
    LS_RETURN_IF_ERROR(file->Append(block));
  }
  LS_RETURN_IF_ERROR(file->Sync());
  return file->Close();
}

std::vector<std::string> BenchTextSets(const std::string& path) {
  return {"data.source.0.text=" + path, "data.source.0.document_bytes=4096"};
}

}  // namespace lockstep
