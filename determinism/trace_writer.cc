#include "determinism/trace_writer.h"

#include <utility>

#include "determinism/status.h"
#include "determinism/tensor_place.h"
#include "determinism/trace_frame.h"
#include "determinism/trace_tensor.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"

namespace lockstep {
namespace {

// Equal records give equal bytes, maps included.
std::string Serialize(const trace::Record& record) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    record.SerializeToCodedStream(&coded);
  }
  return bytes;
}

void FillKernels(trace::Operation& operation, const OperationEvent& event,
                 TraceLevel level) {
  if (level == TraceLevel::kKernel) operation.set_threads(event.threads);
  for (const KernelRun& run : event.kernels) {
    trace::Kernel& kernel = *operation.add_kernels();
    kernel.set_kernel(std::string(run.kernel));
    kernel.set_variant(std::string(run.variant));
    kernel.set_calls(run.calls);
    if (level < TraceLevel::kKernel) continue;
    kernel.set_order(std::string(run.order));
    kernel.set_items(run.items);
  }
}

trace::Record HeaderRecord(int rank, const TraceOptions& options) {
  trace::Record record;
  trace::Header& header = *record.mutable_header();
  header.set_schema(trace_frame::kSchema);
  header.set_rank(static_cast<uint32_t>(rank));
  header.set_level(NameOf(options.level));
  header.set_first_step(options.first_step);
  if (options.last_step != INT64_MAX) header.set_last_step(options.last_step);
  header.set_scope(options.scope);
  header.set_ranks(static_cast<uint32_t>(options.ranks));
  return record;
}

std::string Text(const trace::Header& header) {
  std::string text = "rank " + std::to_string(header.rank()) + ", level " +
                     header.level() + ", steps from " +
                     std::to_string(header.first_step());
  if (header.last_step() > 0) {
    text += " to " + std::to_string(header.last_step());
  }
  return text + (header.scope().empty() ? "" : ", scope " + header.scope());
}

// Makes a file that an earlier writer left ready to be continued.
absl::Status Repair(FileSystem& fs, const std::string& path,
                    const trace::Header& header) {
  LS_ASSIGN_OR_RETURN(const Trace before, ReadTrace(fs, path));
  if (Text(before.header) != Text(header)) {
    return InputError("the file holds a trace of " + Text(before.header), path,
                      "ask for the same again, or move the file away and "
                      "trace " +
                          Text(header) + " to a new one");
  }
  if (before.torn_bytes == 0) return absl::OkStatus();
  LS_ASSIGN_OR_RETURN(std::string contents, fs.ReadFile(path));
  contents.resize(contents.size() - before.torn_bytes);
  return WriteFileAtomically(fs, path, contents);
}

}  // namespace

absl::StatusOr<std::unique_ptr<TraceWriter>> TraceWriter::Open(
    FileSystem& fs, const std::string& path, int rank, TraceOptions options) {
  const trace::Record header = HeaderRecord(rank, options);
  bool is_new = !fs.Exists(path);
  if (!is_new) {
    LS_ASSIGN_OR_RETURN(const FileInfo info, fs.Stat(path));
    is_new = info.size == 0;  // killed between its creation and the header
  }
  if (!is_new) LS_RETURN_IF_ERROR(Repair(fs, path, header.header()));
  LS_ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file, fs.OpenAppend(path));
  if (is_new) LS_RETURN_IF_ERROR(file->Append(trace_frame::kMagic));
  std::unique_ptr<TraceWriter> writer(
      new TraceWriter(std::move(file), std::move(options)));
  if (is_new) writer->Write(header);
  // At once and in one piece, so that a killed run leaves all of it or nothing.
  writer->status_.Update(writer->file_->Flush());
  LS_RETURN_IF_ERROR(writer->status_);
  return writer;
}

TraceWriter::TraceWriter(std::unique_ptr<WritableFile> file,
                         TraceOptions options)
    : file_(std::move(file)), options_(std::move(options)) {}

TraceWriter::~TraceWriter() = default;

bool TraceWriter::Wanted(const OperationEvent& event) const {
  if (options_.level == TraceLevel::kStep || !status_.ok()) return false;
  if (event.step < options_.first_step || event.step > options_.last_step) {
    return false;
  }
  const std::string_view wanted = options_.scope;
  return wanted.empty() || event.scope == wanted ||
         (event.scope.starts_with(wanted) && event.scope[wanted.size()] == '.');
}

void TraceWriter::OnOperation(const OperationEvent& event) {
  if (!Wanted(event)) return;
  const PhaseKey key = {event.step, event.attempt, event.phase,
                        event.micro_batch};
  if (in_phase_.operations > 0 && !(key == phase_)) EndPhase();
  phase_ = key;
  options_.level < TraceLevel::kOperation
      ? Gather(event)
      : WriteOperation(event, key.NewRecord());
}

void TraceWriter::WriteOperation(const OperationEvent& event,
                                 trace::Record record) {
  trace::Operation& operation = *record.mutable_operation();
  operation.set_scope(std::string(event.scope));
  operation.set_operation(std::string(event.operation));
  operation.set_occurrence(event.occurrence);
  operation.set_first_sample(event.first_sample);
  if (!event.SamplesAreConsecutive()) {
    operation.mutable_samples()->Add(event.sample_ids.begin(),
                                     event.sample_ids.end());
  }
  if (options_.inputs) {
    for (const TensorRef& tensor : event.inputs) {
      trace_internal::Fill(*operation.add_inputs(), tensor, options_);
    }
  }
  std::vector<TensorFingerprint> outputs;
  for (const TensorRef& tensor : event.outputs) {
    trace::Tensor& out = *operation.add_outputs();
    trace_internal::Fill(out, tensor, options_);
    outputs.push_back({std::string(tensor.name), tensor.dtype,
                       UnshardedShape(tensor),
                       Fingerprint{{out.lane0(), out.lane1()}}});
  }
  FillKernels(operation, event, options_.level);
  in_phase_.Add(event, outputs);
  Write(record);
}

absl::Status TraceWriter::RecordFields(
    int64_t step, int attempt,
    const std::map<std::string, std::string>& fields) {
  if (in_phase_.operations > 0) EndPhase();
  if (step >= options_.first_step && step <= options_.last_step) {
    trace::Record record;
    record.set_step(step);
    record.set_attempt(attempt);
    auto& out = *record.mutable_step_end()->mutable_fields();
    for (const auto& [name, value] : fields) out[name] = value;
    Write(record);
  }
  status_.Update(file_->Flush());
  return status_;
}

void TraceWriter::Write(const trace::Record& record) {
  if (!status_.ok()) return;
  status_ = file_->Append(trace_frame::Frame(Serialize(record)));
}

absl::Status TraceWriter::Close() {
  if (in_phase_.operations > 0) EndPhase();
  status_.Update(file_->Close());
  return status_;
}

}  // namespace lockstep
