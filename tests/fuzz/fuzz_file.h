// Bytes as a file in memory, for entries whose parser opens one.
#ifndef LOCKSTEP_TESTS_FUZZ_FUZZ_FILE_H_
#define LOCKSTEP_TESTS_FUZZ_FUZZ_FILE_H_

#include <string>
#include <string_view>

#include "determinism/check.h"
#include "determinism/memory_file_system.h"

namespace lockstep {

inline void PutFile(FileSystem& fs, const std::string& path,
                    std::string_view bytes) {
  LS_CHECK(fs.MakeDirs(DirName(path)).ok());
  auto file = fs.Create(path);
  LS_CHECK(file.ok());
  LS_CHECK((*file)->Append(bytes).ok());
  LS_CHECK((*file)->Close().ok());
}

// What a fuzzer's entry read is used: an optimizer must not drop it.
template <typename T>
inline void Use(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

}  // namespace lockstep

#endif  // LOCKSTEP_TESTS_FUZZ_FUZZ_FILE_H_
