// ReadTrace of trace_writer.h, and the bytes behind it.

#include <algorithm>
#include <utility>

#include "determinism/status.h"
#include "determinism/trace_frame.h"
#include "determinism/trace_raw.h"
#include "determinism/trace_writer.h"

namespace lockstep {
namespace {

absl::Status NoTrace(const std::string& path, const std::string& what) {
  return InputError(what, path,
                    "give a file that this version's `trace` level wrote");
}

absl::Status TakeHeader(const std::string& path, std::string_view bytes,
                        trace::Header& header) {
  trace::Record record;
  if (!record.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return DamagedTrace(path, trace_frame::kMagic.size());
  }
  if (record.body_case() != trace::Record::kHeader) {
    return NoTrace(path, "the first record is no header");
  }
  header = record.header();
  if (header.schema() == trace_frame::kSchema) return absl::OkStatus();
  return NoTrace(path, "trace of schema " + std::to_string(header.schema()) +
                           "; this version knows schema " +
                           std::to_string(trace_frame::kSchema));
}

}  // namespace

absl::Status DamagedTrace(const std::string& path, uint64_t offset) {
  return absl::DataLossError(
      "a damaged record with sound ones behind it\n  where: " + path +
      ", byte " + std::to_string(offset) +
      "\n  do: replay the steps to trace them anew; check the device");
}

absl::StatusOr<trace::Header> ReadTraceHeader(FileSystem& fs,
                                              const std::string& path) {
  constexpr uint64_t kMostBytes = uint64_t{1} << 16;
  LS_ASSIGN_OR_RETURN(const auto file, fs.OpenRead(path));
  std::string contents(std::min<uint64_t>(file->Size(), kMostBytes), '\0');
  LS_RETURN_IF_ERROR(file->ReadAt(0, contents.size(), contents.data()));
  std::string_view rest = contents, bytes;
  if (!rest.starts_with(trace_frame::kMagic)) {
    return NoTrace(path, "not a trace file");
  }
  rest.remove_prefix(trace_frame::kMagic.size());
  trace::Header header;
  if (!trace_frame::TakeFrame(rest, bytes)) {
    return NoTrace(path, "no sound header");
  }
  LS_RETURN_IF_ERROR(TakeHeader(path, bytes, header));
  return header;
}

absl::StatusOr<RawTrace> ReadRawTrace(FileSystem& fs, const std::string& path) {
  LS_ASSIGN_OR_RETURN(const auto file, fs.OpenRead(path));
  const auto size = static_cast<size_t>(file->Size());
  RawTrace result;
  // Once, and to where it stays: traces are large.
  result.contents = std::make_unique_for_overwrite<char[]>(size);
  LS_RETURN_IF_ERROR(file->ReadAt(0, size, result.contents.get()));
  const std::string_view contents(result.contents.get(), size);
  std::string_view rest = contents;
  if (!rest.starts_with(trace_frame::kMagic)) {
    return NoTrace(path, "not a trace file");
  }
  rest.remove_prefix(trace_frame::kMagic.size());
  std::string_view bytes;
  for (bool first = true; trace_frame::TakeFrame(rest, bytes); first = false) {
    if (first) {
      LS_RETURN_IF_ERROR(TakeHeader(path, bytes, result.header));
    } else {
      result.records.push_back(bytes);
    }
  }
  if (result.header.schema() == 0) return NoTrace(path, "no sound header");
  if (trace_frame::HoldsFrame(rest)) {
    return DamagedTrace(path, contents.size() - rest.size());
  }
  result.torn_bytes = rest.size();
  return result;
}

absl::StatusOr<Trace> ReadTrace(FileSystem& fs, const std::string& path) {
  LS_ASSIGN_OR_RETURN(const RawTrace raw, ReadRawTrace(fs, path));
  Trace result;
  result.header = raw.header;
  result.torn_bytes = raw.torn_bytes;
  result.records.resize(raw.records.size());
  for (size_t i = 0; i < raw.records.size(); ++i) {
    const std::string_view bytes = raw.records[i];
    const auto offset =
        static_cast<uint64_t>(bytes.data() - raw.contents.get());
    trace::Record& record = result.records[i];
    if (!record.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
      return DamagedTrace(path, offset);
    }
    if (record.body_case() == trace::Record::kHeader) {
      return NoTrace(path, "a second header at byte " + std::to_string(offset));
    }
  }
  return result;
}

}  // namespace lockstep
