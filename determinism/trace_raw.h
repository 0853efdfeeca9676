// The records of a trace file as bytes, for who compares many of them.
//
// What it is: framing, checksums, header and torn end of a file, checked as
// ReadTrace does, which parses these very records. What it is not: their
// meaning. Why so: of two long traces nearly all records are equal, and equal
// bytes need no parsing.
#ifndef DETERMINISM_TRACE_RAW_H_
#define DETERMINISM_TRACE_RAW_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "determinism/file_system.h"
#include "determinism/trace.pb.h"

namespace lockstep {

struct RawTrace {
  trace::Header header;
  // In `contents`, without the header.
  std::vector<std::string_view> records;
  std::unique_ptr<char[]> contents;
  uint64_t torn_bytes = 0;
};

// As ReadTrace, but a record that is framed well and parses to nothing is for
// the caller to find.
absl::StatusOr<RawTrace> ReadRawTrace(FileSystem& fs, const std::string& path);

// Of a file whose records are not wanted yet.
absl::StatusOr<trace::Header> ReadTraceHeader(FileSystem& fs,
                                              const std::string& path);

// What to say of such a record.
absl::Status DamagedTrace(const std::string& path, uint64_t offset);

}  // namespace lockstep

#endif  // DETERMINISM_TRACE_RAW_H_
