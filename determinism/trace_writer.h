// Records what each operation of a run produced, as fingerprints, to a file a
// rank; bisect compares two such files.
//
// A TraceWriter is an OperationObserver: it reads tensors and writes nothing
// but its file (N12). Not a copy of tensors, unless asked for: a record holds
// name, dtype, shape, count and fingerprint (N11). Levels:
//   step       what the train loop hands to RecordFields, nothing else
//   phase      and one combined fingerprint a (step, attempt, phase, micro), of
//              what modules hand to each other
//   module     and one a scope within it, of all outputs of its operations
//   operation  and every tensor of every operation, and the kernels' variants
//   kernel     and in which order each kernel adds, and how many items it had
// The combined fingerprints are of outputs; inputs are in operations only.
// A file that cannot be written does not stop the operation it watches: the
// error waits in status() and the loop asks there. Grammar: TRACE_FORMAT.md.

#ifndef DETERMINISM_TRACE_WRITER_H_
#define DETERMINISM_TRACE_WRITER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "determinism/file_system.h"
#include "determinism/fingerprint.h"
#include "determinism/operation.h"
#include "determinism/trace.pb.h"

namespace lockstep {

enum class TraceLevel : uint8_t { kStep, kPhase, kModule, kOperation, kKernel };

const char* NameOf(TraceLevel level);
absl::StatusOr<TraceLevel> TraceLevelFromName(std::string_view name);

// What is recorded of a tensor's elements, beside its fingerprint: each takes
// in the one before it.
enum class TraceValues : uint8_t {
  kNone,
  kStatistics,  // absmax, rms, how many are not finite
  kSample,      // some elements, the same on every layout
  kBytes,       // all of them
};
inline constexpr int64_t kSampledElements = 16;

const char* NameOf(TraceValues values);
absl::StatusOr<TraceValues> TraceValuesFromName(std::string_view name);

// Runs item(i) for i in [0, n), in any order and on any threads.
using TraceLoop =
    std::function<void(int64_t n, const std::function<void(int64_t)>& item)>;

struct TraceOptions {
  TraceLevel level = TraceLevel::kStep;
  int64_t first_step = 0;         // inclusive
  int64_t last_step = INT64_MAX;  // inclusive
  std::string scope = {};         // "layers.3" takes layers.3.mixer, not
                                  // layers.30; empty takes all
  bool inputs = false;            // inputs of operations as well
  TraceValues values = TraceValues::kNone;
  int ranks = 0;        // of the run, for the header; 0: not said
  TraceLoop loop = {};  // large tensors are read by it; empty: by the caller
};

class TraceWriter : public OperationObserver {
 public:
  // Creates `path`, or continues it: the torn tail of a killed writer is moved
  // off, the header must be of the same version and rank (InputError).
  static absl::StatusOr<std::unique_ptr<TraceWriter>> Open(
      FileSystem& fs, const std::string& path, int rank, TraceOptions options);
  ~TraceWriter() override;

  void OnOperation(const OperationEvent& event) override;

  // The fields of N11 (name -> 32 hex) after a step. Ends the step: what was
  // gathered for phases is written and all is flushed.
  absl::Status RecordFields(int64_t step, int attempt,
                            const std::map<std::string, std::string>& fields);

  const absl::Status& status() const { return status_; }
  absl::Status Close();

 private:
  struct PhaseKey {
    int64_t step;
    int attempt;
    Phase phase;
    int64_t micro_batch;
    friend bool operator==(const PhaseKey&, const PhaseKey&) = default;

    trace::Record NewRecord() const {
      trace::Record record;
      record.set_step(step);
      record.set_attempt(attempt);
      record.set_phase(NameOf(phase));
      record.set_micro_batch(micro_batch);
      return record;
    }
  };

  TraceWriter(std::unique_ptr<WritableFile> file, TraceOptions options);
  bool Wanted(const OperationEvent& event) const;
  void Write(const trace::Record& record);
  void Gather(const OperationEvent& event);
  void WriteOperation(const OperationEvent& event, trace::Record record);
  void EndPhase();

  std::unique_ptr<WritableFile> file_;
  const TraceOptions options_;
  absl::Status status_;
  // Operations under way, as one fingerprint.
  struct Gathered {
    std::vector<TensorFingerprint> tensors = {};
    int64_t operations = 0;

    void Add(const OperationEvent& event,
             const std::vector<TensorFingerprint>& outputs);
  };

  PhaseKey phase_ = {};
  Gathered in_phase_;
  // By scope, in the order in which they began; at level `module` alone.
  std::vector<std::pair<std::string, Gathered>> in_modules_;
};

struct Trace {
  trace::Header header;
  std::vector<trace::Record> records;
  // Bytes of an incomplete or damaged last record; 0 for a file closed well.
  uint64_t torn_bytes = 0;
};

// InputError for what is no trace or of another schema version. Records stop
// at the first one that is incomplete; damage before the end, which no killed
// writer leaves behind, is DataLoss.
absl::StatusOr<Trace> ReadTrace(FileSystem& fs, const std::string& path);

// The fingerprint of a tensor as a trace has it, whoever reads it.
TensorFingerprint FingerprintOf(const TensorRef& tensor,
                                const TraceLoop& loop = {});

}  // namespace lockstep

#endif  // DETERMINISM_TRACE_WRITER_H_
