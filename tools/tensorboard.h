// RUN/tb: the run's scalars as TensorBoard reads them.
//
// What it is: one event file a launch, TFRecord frames of Event messages
// (tensorboard.proto). What it is not: a record that anything is compared by,
// which metrics.jsonl is: values are binary32 here. Why so: people look at runs
// with TensorBoard. Each call is flushed to the system, so a killed process
// loses no step that it finished; nothing is synced, so a power cut may.
//
//   frame = length masked_crc(length) data masked_crc(data)
//   length = u64, crc = u32, little-endian; masked_crc(x) =
//   rotate_right(CRC-32C(x), 15) + 0xa282ead8
//
// A launch begins its file with `brain.Event:2` and a SessionLog START at its
// first step, by which a reader drops what an earlier launch wrote from that
// step on: the tail that a resume has abandoned.
#ifndef LOCKSTEP_TOOLS_TENSORBOARD_H_
#define LOCKSTEP_TOOLS_TENSORBOARD_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "determinism/clock.h"
#include "determinism/file_system.h"
#include "tools/evaluation.h"
#include "tools/step_report.h"

namespace lockstep {

uint32_t MaskedCrc32c(std::string_view data);
// One TFRecord.
std::string EventFrame(std::string_view record);

using Scalars = std::vector<std::pair<std::string, double>>;
Scalars ScalarsOf(const StepReport& report);
Scalars ScalarsOf(const Evaluation& evaluation);

class EventFile {
 public:
  // A new file in `dir`, which is made if need be. Its name sorts behind those
  // that are there, since readers go by name: events.out.tfevents.SECONDS.WHO.
  // Clock and file system are borrowed.
  static absl::StatusOr<std::unique_ptr<EventFile>> Open(FileSystem& fs,
                                                         Clock& clock,
                                                         const std::string& dir,
                                                         const std::string& who,
                                                         int64_t first_step);

  absl::Status Append(int64_t step, const Scalars& scalars);
  const std::string& path() const { return path_; }

 private:
  EventFile(std::unique_ptr<WritableFile> file, Clock& clock, std::string path)
      : file_(std::move(file)), clock_(clock), path_(std::move(path)) {}
  absl::Status Begin(int64_t first_step);
  double Seconds() const;

  std::unique_ptr<WritableFile> file_;
  Clock& clock_;
  const std::string path_;
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_TENSORBOARD_H_
