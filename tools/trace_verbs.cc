// `lockstep trace show|diff`: the records of one trace file, for people and
// scripts, and where two folders of them part.
#include "tools/trace_verbs.h"

#include <google/protobuf/util/json_util.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "determinism/file_system.h"
#include "determinism/fingerprint.h"
#include "determinism/status.h"
#include "determinism/trace_writer.h"
#include "tools/trace_diff/tolerance.h"
#include "tools/trace_diff/trace_diff.h"
#include "tools/trace_diff/trace_show.h"
#include "tools/verbs.h"

namespace lockstep {
namespace {

std::string TensorText(const trace::Tensor& tensor) {
  const Fingerprint value = {{tensor.lane0(), tensor.lane1()}};
  std::string shape;
  for (const int64_t size : tensor.shape()) {
    absl::StrAppend(&shape, shape.empty() ? "" : "x", size);
  }
  std::string text = absl::StrCat(tensor.name(), " ", tensor.dtype(), " [",
                                  shape, "] ", value.Hex());
  if (tensor.has_values()) {
    absl::StrAppendFormat(&text, " absmax %g rms %g, %d not finite",
                          tensor.values().absmax(), tensor.values().rms(),
                          tensor.values().non_finite());
  }
  return text;
}

std::string OperationText(const trace::Operation& operation) {
  std::string text =
      absl::StrCat(operation.scope(), ".", operation.operation());
  for (const trace::Tensor& tensor : operation.inputs()) {
    absl::StrAppend(&text, "\n    in   ", TensorText(tensor));
  }
  for (const trace::Tensor& tensor : operation.outputs()) {
    absl::StrAppend(&text, "\n    out  ", TensorText(tensor));
  }
  for (const trace::Kernel& kernel : operation.kernels()) {
    absl::StrAppend(&text, "\n    kernel ", kernel.kernel(), " ",
                    kernel.variant(), ", ", kernel.calls(), " calls");
    if (!kernel.order().empty()) {
      absl::StrAppend(&text, ", ", kernel.items(), " items; ", kernel.order());
    }
  }
  return text;
}

std::string RecordText(const trace::Record& record) {
  const std::string where =
      absl::StrFormat("step %d  %s  micro-batch %d  ", record.step(),
                      record.phase(), record.micro_batch());
  if (record.has_operation()) return where + OperationText(record.operation());
  if (record.has_module_end()) {
    return absl::StrCat(where, record.module_end().scope(), " ",
                        record.module_end().operations(), " operations ",
                        record.module_end().fingerprint());
  }
  if (record.has_phase_end()) {
    return absl::StrCat(where, record.phase_end().operations(), " operations ",
                        record.phase_end().fingerprint());
  }
  std::string text = absl::StrFormat("step %d", record.step());
  // A map's order in memory is another one in each process.
  const std::map<std::string, std::string> fields(
      record.step_end().fields().begin(), record.step_end().fields().end());
  for (const auto& [name, value] : fields) {
    absl::StrAppend(&text, "  ", name, " ", value);
  }
  return text;
}

absl::StatusOr<std::string> RecordJson(const trace::Record& record) {
  std::string text;
  const auto status =
      google::protobuf::util::MessageToJsonString(record, &text);
  if (!status.ok()) return absl::InternalError("a record that is no JSON");
  if (!record.has_step_end()) return text;
  auto json = nlohmann::ordered_json::parse(text);
  json["stepEnd"]["fields"] = std::map<std::string, std::string>(
      record.step_end().fields().begin(), record.step_end().fields().end());
  return json.dump();
}

}  // namespace

absl::StatusOr<Answer> TraceDiffVerb(const TraceDiffOptions& options) {
  if (options.tolerance) {
    LS_ASSIGN_OR_RETURN(
        const ToleranceReport report,
        CompareTracesWithin(*PosixFileSystem(), options.a, options.b,
                            options.growth == 0 ? kGrowth : options.growth));
    return Answer{options.json ? ToleranceJson(report) : ToleranceText(report),
                  report.grows()};
  }
  LS_ASSIGN_OR_RETURN(const TraceDifference difference,
                      CompareTraces(*PosixFileSystem(), options.a, options.b,
                                    {}, /*may_be_cut_otherwise=*/false));
  return Answer{options.json ? TraceDifferenceJson(difference)
                             : TraceDifferenceText(difference),
                !difference.equal() || difference.ends_early()};
}

absl::StatusOr<Answer> TraceShowVerb(const TraceShowOptions& options) {
  const auto info = PosixFileSystem()->Stat(options.file);
  if (!info.ok() || info->is_dir) {
    return InputError("there is no trace file here", options.file,
                      "name a file of a run's traces folder");
  }
  LS_ASSIGN_OR_RETURN(const Trace trace,
                      ReadTrace(*PosixFileSystem(), options.file));
  LS_RETURN_IF_ERROR(CheckAsked(trace, options));
  std::string text;
  for (const trace::Record& record : trace.records) {
    if (!IsAsked(record, options)) continue;
    if (options.json) {
      LS_ASSIGN_OR_RETURN(const std::string line, RecordJson(record));
      absl::StrAppend(&text, line, "\n");
    } else {
      absl::StrAppend(&text, RecordText(record), "\n");
    }
  }
  if (trace.torn_bytes > 0 && !options.json) {
    absl::StrAppend(&text, "# the last record is torn: ", trace.torn_bytes,
                    " bytes\n");
  }
  return Answer{text};
}

}  // namespace lockstep
