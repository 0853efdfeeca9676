// ReadTrace of trace_writer.h.

#include <utility>

#include "determinism/status.h"
#include "determinism/trace_frame.h"
#include "determinism/trace_writer.h"

namespace lockstep {
namespace {

absl::Status NoTrace(const std::string& path, const std::string& what) {
  return InputError(what, path,
                    "give a file that this version's `trace` level wrote");
}

absl::Status Damaged(const std::string& path, uint64_t offset) {
  return absl::DataLossError(
      "a damaged record with sound ones behind it\n  where: " + path +
      ", byte " + std::to_string(offset) +
      "\n  do: replay the steps to trace them anew; check the device");
}

absl::Status TakeHeader(const std::string& path, const trace::Record& record,
                        trace::Header& header) {
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

absl::StatusOr<Trace> ReadTrace(FileSystem& fs, const std::string& path) {
  LS_ASSIGN_OR_RETURN(const std::string contents, fs.ReadFile(path));
  std::string_view rest = contents;
  if (!rest.starts_with(trace_frame::kMagic)) {
    return NoTrace(path, "not a trace file");
  }
  rest.remove_prefix(trace_frame::kMagic.size());
  Trace result;
  std::string_view bytes;
  for (bool first = true; trace_frame::TakeFrame(rest, bytes); first = false) {
    const uint64_t offset = contents.size() - rest.size() - bytes.size();
    trace::Record record;
    if (!record.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
      return Damaged(path, offset);
    }
    if (first) {
      LS_RETURN_IF_ERROR(TakeHeader(path, record, result.header));
    } else if (record.body_case() == trace::Record::kHeader) {
      return NoTrace(path, "a second header at byte " + std::to_string(offset));
    } else {
      result.records.push_back(std::move(record));
    }
  }
  if (result.header.schema() == 0) return NoTrace(path, "no sound header");
  std::string_view after = trace_frame::AfterFrame(rest);
  if (trace_frame::TakeFrame(after, bytes)) {
    return Damaged(path, contents.size() - rest.size());
  }
  result.torn_bytes = rest.size();
  return result;
}

}  // namespace lockstep
