#include "determinism/status.h"

#include <cerrno>
#include <string>
#include <system_error>

namespace lockstep {
namespace {

absl::Status Make(absl::StatusCode code, std::string_view what,
                  std::string_view where, std::string_view todo) {
  std::string message(what);
  message.append("\n  where: ").append(where);
  message.append("\n  do: ").append(todo);
  return absl::Status(code, message);
}

}  // namespace

int ExitCodeFor(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return 0;
    case absl::StatusCode::kInvalidArgument:
      return 2;
    case absl::StatusCode::kFailedPrecondition:
      return 3;
    case absl::StatusCode::kDataLoss:
      return 4;
    case absl::StatusCode::kOutOfRange:
      return 5;
    case absl::StatusCode::kUnavailable:
      return 6;
    case absl::StatusCode::kCancelled:
      return 8;
    default:
      return 7;
  }
}

absl::Status InputError(std::string_view what, std::string_view where,
                        std::string_view todo) {
  return Make(absl::StatusCode::kInvalidArgument, what, where, todo);
}

absl::Status ManifestMismatch(std::string_view what, std::string_view where,
                              std::string_view todo) {
  return Make(absl::StatusCode::kFailedPrecondition, what, where, todo);
}

absl::Status NoUsableCheckpoint(std::string_view what, std::string_view where,
                                std::string_view todo) {
  return Make(absl::StatusCode::kDataLoss, what, where, todo);
}

absl::Status NumericFailure(std::string_view what, std::string_view where,
                            std::string_view todo) {
  return Make(absl::StatusCode::kOutOfRange, what, where, todo);
}

absl::Status RankLost(std::string_view what, std::string_view where,
                      std::string_view todo) {
  return Make(absl::StatusCode::kUnavailable, what, where, todo);
}

absl::Status StoppedOnRequest(std::string_view what, std::string_view where,
                              std::string_view todo) {
  return Make(absl::StatusCode::kCancelled, what, where, todo);
}

absl::Status IoError(std::string_view what, std::string_view where,
                     std::string_view todo, int error_number) {
  std::string text(what);
  if (error_number != 0) {
    text.append(": ").append(std::generic_category().message(error_number));
  }
  const bool full = error_number == ENOSPC || error_number == EDQUOT;
  return Make(
      full ? absl::StatusCode::kResourceExhausted : absl::StatusCode::kInternal,
      text, where, todo);
}

}  // namespace lockstep
