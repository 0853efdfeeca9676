// `doctor --operation`: an operation that bisect saved, done again here.
//
// What it is: the operation at every instruction level of this machine, with 1,
// 2, 3 and the given threads, several times, and what it came to, held against
// what two runs left. What it is not: a search for what is wrong in it. Why so:
// bits that come back on a sound machine are the program's; bits that do not
// are a machine's, or a race's.
//
// JSON, fields are only ever added: operation, tensor, runs [{isa, threads,
// repeat, inputs (as saved), same_as_first, agrees (a | b | both | neither)}],
// repeats (all runs have the same bits), agrees (of all), sound, reading.
#ifndef LOCKSTEP_TOOLS_DOCTOR_OPERATION_CHECK_H_
#define LOCKSTEP_TOOLS_DOCTOR_OPERATION_CHECK_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "determinism/environment.h"
#include "tools/saved_operation/saved_operation.h"

namespace lockstep {

// Whose outputs these are, over all tensors that both have.
enum class Agreement : uint8_t { kBoth, kA, kB, kNeither };
const char* NameOf(Agreement agreement);

struct OperationRun {
  Isa isa = Isa::kScalar;
  int threads = 1;
  int repeat = 1;
  bool inputs_as_saved = false;
  bool same_as_first = false;
  Agreement agrees = Agreement::kNeither;
};

struct OperationCheck {
  std::string operation = {}, tensor = {};
  std::string run_a = {}, run_b = {};
  std::vector<OperationRun> runs = {};

  bool repeats() const;
  // Of all runs; neither where they are not of one mind.
  Agreement agrees() const;
  // It repeats, from the inputs that were saved, and one of the runs has it.
  bool sound() const;
};

// InputError where the operation cannot be done by itself.
absl::StatusOr<OperationCheck> CheckOperation(const SavedOperation& operation,
                                              int threads);

std::string OperationCheckText(const OperationCheck& check);
std::string OperationCheckJson(const OperationCheck& check);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_DOCTOR_OPERATION_CHECK_H_
