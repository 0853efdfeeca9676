// A device as fast as it goes by itself: what a checkpoint's bytes would take
// with nothing but the bytes.
//
// What it is: one file written or read past the system's cache, in pieces of
// 4 MiB, one after the other. What it is not: durable, checked or named well.
// Why so: shared machines have slow minutes, and a rate is worth as much as the
// probe beside it.
#ifndef LOCKSTEP_TOOLS_BENCH_RAW_DEVICE_H_
#define LOCKSTEP_TOOLS_BENCH_RAW_DEVICE_H_

#include <cstddef>
#include <span>
#include <string>

#include "absl/status/status.h"

namespace lockstep {

// Makes `path` anew and syncs it. `bytes` begin a page; the last part page of
// them is left out.
absl::Status RawWrite(const std::string& path,
                      std::span<const std::byte> bytes);
// As much of the file as `bytes`, which begin a page, have room for.
absl::Status RawRead(const std::string& path, std::span<std::byte> bytes);
// The system keeps nothing of the file in memory.
absl::Status DropCached(const std::string& path);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BENCH_RAW_DEVICE_H_
