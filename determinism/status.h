// What a user or the world can cause, as an absl::Status with an exit code.
//
// A message says three things: what happened, where (file, line, key, step,
// rank, tensor), and what to do next; the makers below take them apart so that
// none is forgotten. Not for bugs: those are LS_CHECK (check.h). The exit code
// is a function of the status code alone, so that every verb maps alike:
//
//   OK 0; InvalidArgument 2 (the user's input); FailedPrecondition 3 (manifest
//   mismatch); DataLoss 4 (checkpoints exist and none is usable); OutOfRange 5
//   (numeric failure); Unavailable 6 (a rank lost or hung); Cancelled 8
//   (stopped on request); anything else 7 (internal). 1 is a negative verdict,
//   which is an answer and no error.

#ifndef DETERMINISM_STATUS_H_
#define DETERMINISM_STATUS_H_

#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace lockstep {

int ExitCodeFor(const absl::Status& status);

// Each makes "what\n  where: ...\n  do: ..." with the code of its class.
absl::Status InputError(std::string_view what, std::string_view where,
                        std::string_view todo);
absl::Status ManifestMismatch(std::string_view what, std::string_view where,
                              std::string_view todo);
absl::Status NoUsableCheckpoint(std::string_view what, std::string_view where,
                                std::string_view todo);
absl::Status NumericFailure(std::string_view what, std::string_view where,
                            std::string_view todo);
absl::Status RankLost(std::string_view what, std::string_view where,
                      std::string_view todo);
absl::Status StoppedOnRequest(std::string_view what, std::string_view where,
                              std::string_view todo);

// A file operation that failed: ResourceExhausted for a full disk or quota
// (errno ENOSPC, EDQUOT), Internal otherwise; the errno's text is added to
// `what`. Both exit with 7, and a caller can tell a full disk from the rest.
absl::Status IoError(std::string_view what, std::string_view where,
                     std::string_view todo, int error_number = 0);

}  // namespace lockstep

// Leaves the function with the status of `expr` unless that is OK.
#define LS_RETURN_IF_ERROR(expr)                                           \
  do {                                                                     \
    if (::absl::Status ls_status_ = (expr); !ls_status_.ok()) [[unlikely]] \
      return ls_status_;                                                   \
  } while (false)

// LS_ASSIGN_OR_RETURN(const Mesh mesh, MakeMesh(recipe)); the right side is an
// absl::StatusOr. Wrap a type with a comma in it in an alias.
#define LS_ASSIGN_OR_RETURN(lhs, expr) \
  LS_ASSIGN_OR_RETURN_(LS_STATUS_JOIN_(ls_status_or_, __LINE__), lhs, expr)

#define LS_ASSIGN_OR_RETURN_(temporary, lhs, expr) \
  auto temporary = (expr);                         \
  if (!temporary.ok()) [[unlikely]]                \
    return std::move(temporary).status();          \
  lhs = *std::move(temporary)

#define LS_STATUS_JOIN_(a, b) LS_STATUS_JOIN_2_(a, b)
#define LS_STATUS_JOIN_2_(a, b) a##b

#endif  // DETERMINISM_STATUS_H_
