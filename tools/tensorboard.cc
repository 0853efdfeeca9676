#include "tools/tensorboard.h"

#include <algorithm>
#include <bit>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "determinism/crc32c.h"
#include "determinism/status.h"
#include "tools/tensorboard.pb.h"

namespace lockstep {
namespace {

constexpr char kPrefix[] = "events.out.tfevents.";
// Digits of a Unix time until the year 2286.
constexpr size_t kDigits = 10;

template <typename T>
std::string_view BytesOf(const T& value) {
  static_assert(std::endian::native == std::endian::little);
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

// The seconds in the name of the last event file, or 0.
int64_t LastSeconds(const std::vector<std::string>& names) {
  int64_t last = 0;
  for (const std::string& name : names) {
    int64_t seconds = 0;
    if (absl::StartsWith(name, kPrefix) &&
        absl::SimpleAtoi(name.substr(sizeof(kPrefix) - 1, kDigits), &seconds)) {
      last = std::max(last, seconds);
    }
  }
  return last;
}

absl::Status AppendEvent(WritableFile& file, const tensorboard::Event& event) {
  LS_RETURN_IF_ERROR(file.Append(EventFrame(event.SerializeAsString())));
  return file.Flush();
}

void AddPart(Scalars& scalars, const std::string& scope,
             const EvaluationPart& part) {
  scalars.emplace_back(scope + "/loss", part.loss);
  scalars.emplace_back(scope + "/bits_per_byte", part.bits_per_byte);
}

}  // namespace

uint32_t MaskedCrc32c(std::string_view data) {
  return std::rotr(Crc32c(data), 15) + 0xa282ead8u;
}

std::string EventFrame(std::string_view record) {
  const uint64_t length = record.size();
  const uint32_t length_crc = MaskedCrc32c(BytesOf(length));
  const uint32_t record_crc = MaskedCrc32c(record);
  return std::string(BytesOf(length))
      .append(BytesOf(length_crc))
      .append(record)
      .append(BytesOf(record_crc));
}

Scalars ScalarsOf(const StepReport& r) {
  Scalars scalars = {{"train/loss", r.loss},
                     {"train/grad_norm", r.grad_norm},
                     {"train/grad_norm_clipped", r.grad_norm_clipped},
                     {"train/loss_scale", r.loss_scale},
                     {"train/tokens_per_s", r.tokens_per_s},
                     {"train/mfu", r.mfu}};
  // A skipped step used no rate.
  if (!r.skipped) scalars.emplace_back("train/lr", r.lr);
  return scalars;
}

Scalars ScalarsOf(const Evaluation& evaluation) {
  Scalars scalars;
  AddPart(scalars, "eval", evaluation);
  for (size_t i = 0; i < evaluation.sources.size(); ++i) {
    if (evaluation.sources.size() == 1) break;  // it would say the same
    AddPart(scalars, absl::StrCat("eval/source_", i), evaluation.sources[i]);
  }
  return scalars;
}

absl::StatusOr<std::unique_ptr<EventFile>> EventFile::Open(
    FileSystem& fs, Clock& clock, const std::string& dir,
    const std::string& who, int64_t first_step) {
  LS_RETURN_IF_ERROR(fs.MakeDirs(dir));
  LS_ASSIGN_OR_RETURN(const std::vector<std::string> names, fs.List(dir));
  const int64_t seconds =
      std::max(clock.UnixMillis() / 1000, LastSeconds(names) + 1);
  const std::string path =
      absl::StrFormat("%s/%s%010d.%s", dir, kPrefix, seconds, who);
  LS_ASSIGN_OR_RETURN(auto file, fs.CreateNew(path));
  std::unique_ptr<EventFile> events(
      new EventFile(std::move(file), clock, path));
  LS_RETURN_IF_ERROR(events->Begin(first_step));
  return events;
}

double EventFile::Seconds() const {
  return static_cast<double>(clock_.UnixMillis()) * 1e-3;
}

absl::Status EventFile::Begin(int64_t first_step) {
  tensorboard::Event version;
  version.set_wall_time(Seconds());
  version.set_file_version("brain.Event:2");
  LS_RETURN_IF_ERROR(AppendEvent(*file_, version));
  tensorboard::Event start;
  start.set_wall_time(Seconds());
  start.set_step(first_step);
  start.mutable_session_log()->set_status(tensorboard::SessionLog::START);
  return AppendEvent(*file_, start);
}

absl::Status EventFile::Append(int64_t step, const Scalars& scalars) {
  tensorboard::Event event;
  event.set_wall_time(Seconds());
  event.set_step(step);
  for (const auto& [tag, value] : scalars) {
    tensorboard::Summary::Value* scalar = event.mutable_summary()->add_value();
    scalar->set_tag(tag);
    scalar->set_simple_value(static_cast<float>(value));
  }
  return AppendEvent(*file_, event);
}

}  // namespace lockstep
