// How a bisection ends: the bytes of the tensor that parts.
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "determinism/status.h"
#include "tools/bisect/bisection.h"
#include "tools/bisect/kept_operation.h"
#include "tools/bisect/poisoned_replay.h"
#include "tools/window_traces.h"

namespace lockstep {
namespace {

// What one rank did, or over two layouts all of them as one.
absl::StatusOr<OperationList> OperationsThere(FileSystem& fs,
                                              TraceFolder& folder, int rank) {
  if (rank >= 0) return OperationsOf(fs, folder, rank);
  RanksOperations all;
  for (const auto& [of, files] : folder.files) {
    LS_ASSIGN_OR_RETURN(const OperationList list, OperationsOf(fs, folder, of));
    all[of] = list.All();
  }
  return OperationList(WholesOf(all, all).a);
}

// What the trace of a side has of the tensor; empty: no bytes, or no such
// operation, as of a program that traces otherwise.
absl::StatusOr<std::optional<KeptTensor>> TracedBytes(
    FileSystem& fs, const std::string& traces, const RankParting& parting) {
  LS_ASSIGN_OR_RETURN(TraceFolder folder, OpenTraceFolder(fs, traces));
  LS_ASSIGN_OR_RETURN(const OperationList operations,
                      OperationsThere(fs, folder, parting.rank));
  const auto place = operations.Find(parting.identity);
  if (!place) return std::nullopt;
  for (const TracedTensor& tensor : operations.At(*place).outputs) {
    const auto dtype = DTypeFromName(tensor.dtype);
    if (tensor.name != parting.tensor || !tensor.values || !dtype.ok()) {
      continue;
    }
    const int64_t count =
        std::accumulate(tensor.shape.begin(), tensor.shape.end(), int64_t{1},
                        std::multiplies<>());
    const std::string& bytes = tensor.values->contents;
    if (static_cast<int64_t>(bytes.size()) !=
        count * static_cast<int64_t>(SizeOf(*dtype))) {
      continue;
    }
    return KeptTensor{tensor.name, *dtype, tensor.shape, bytes};
  }
  return std::nullopt;
}

}  // namespace

// Once more, for the bytes; by this program alone, and rank by rank. Whether
// memory explains the difference.
absl::StatusOr<bool> Bisection::CompareBytes() {
  if (HasBinaries()) {
    LS_RETURN_IF_ERROR(CompareTracedBytes());
    return false;
  }
  if (result_.trace->across_layouts) return CompareWholeBytes();
  const RankParting first = result_.trace->first;
  LS_ASSIGN_OR_RETURN(
      KeptOperation one,
      KeepOperation(fs_, Side(true), first.identity, first.rank));
  LS_ASSIGN_OR_RETURN(
      KeptOperation other,
      KeepOperation(fs_, Side(false), first.identity, first.rank));
  ++result_.replays;
  SavedOperation saved = std::move(one.saved);
  saved.outputs_b = std::move(other.saved.outputs_a);
  saved.tensor = first.tensor;
  saved.run_a = options_.a;
  saved.run_b = options_.b;
  const KeptTensor* a = FindKept(saved.outputs_a, saved.tensor);
  const KeptTensor* b = FindKept(saved.outputs_b, saved.tensor);
  if (a != nullptr && b != nullptr) CompareTensor(*a, *b);
  result_.saved_operation = std::move(saved);
  LS_ASSIGN_OR_RETURN(const bool of_a, DependsOnMemory(true, one.recurs));
  if (of_a) return true;
  return DependsOnMemory(false, other.recurs);
}

// Of a run that does not recur: its operation done again in its place, for who
// wants to do it there once more. What it left the first time is in its own
// trace, if that has bytes. Whether memory explains the difference.
absl::StatusOr<bool> Bisection::KeepOddOne(bool of_a) {
  if (HasBinaries()) return false;
  ++result_.replays;
  if (!result_.trace || result_.trace->first.rank < 0) return Poisoned(of_a);
  const RankParting first = result_.trace->first;
  LS_ASSIGN_OR_RETURN(
      KeptOperation kept,
      KeepOperation(fs_, Side(of_a), first.identity, first.rank));
  LS_ASSIGN_OR_RETURN(std::optional<KeptTensor> left,
                      TracedBytes(fs_, of_a ? options_.a : options_.b, first));
  SavedOperation saved = std::move(kept.saved);
  saved.tensor = first.tensor;
  saved.run_a = options_.a;
  saved.run_b = options_.b;
  const KeptTensor* again = FindKept(saved.outputs_a, saved.tensor);
  if (again != nullptr && left) {
    of_a ? CompareTensor(*left, *again) : CompareTensor(*again, *left);
  }
  if (left) saved.outputs_b.push_back(*std::move(left));
  if (of_a) std::swap(saved.outputs_a, saved.outputs_b);
  result_.saved_operation = std::move(saved);
  return DependsOnMemory(of_a, kept.recurs);
}

// Of two layouts no rank need have all of the tensor: every rank leaves a trace
// of what it has.
absl::StatusOr<bool> Bisection::CompareWholeBytes() {
  const RankParting first = result_.trace->first;
  if (first.identity.scope.empty()) return MemoryExplains();
  std::optional<KeptTensor> tensors[2];
  bool recurs[2] = {};
  for (const bool of_a : {true, false}) {
    const int at = of_a ? 0 : 1;
    SideOptions bytes = Side(of_a);
    bytes.traces += "_bytes";
    bytes.bytes_of = first.identity.scope;
    LS_ASSIGN_OR_RETURN(const auto traces,
                        WindowTraces::Make(fs_, bytes.traces, TraceOf(bytes)));
    LS_ASSIGN_OR_RETURN(recurs[at],
                        ReplayPoisoned(fs_, Side(of_a), traces->Visitor()));
    LS_RETURN_IF_ERROR(traces->Close());
    LS_ASSIGN_OR_RETURN(tensors[at], TracedBytes(fs_, bytes.traces, first));
  }
  ++result_.replays;
  if (tensors[0] && tensors[1]) CompareTensor(*tensors[0], *tensors[1]);
  LS_ASSIGN_OR_RETURN(const bool of_a, DependsOnMemory(true, recurs[0]));
  if (of_a) return true;
  return DependsOnMemory(false, recurs[1]);
}

// Each by the program that made it, which keeps bytes in a trace of the
// operation's module; a step's collectives have none.
absl::Status Bisection::CompareTracedBytes() {
  const RankParting& first = result_.trace->first;
  if (first.identity.scope.empty()) return absl::OkStatus();
  std::optional<KeptTensor> tensors[2];
  for (const bool of_a : {true, false}) {
    SideOptions side = Side(of_a);
    side.traces += "_bytes";
    side.bytes_of = first.identity.scope;
    LS_RETURN_IF_ERROR(TracedReplay(fs_, side).status());
    LS_ASSIGN_OR_RETURN(tensors[of_a ? 0 : 1],
                        TracedBytes(fs_, side.traces, first));
  }
  ++result_.replays;
  if (tensors[0] && tensors[1]) {
    CompareTensor(*tensors[0], *tensors[1]);
  } else {
    result_.notes.push_back(
        "a program that made a run left no bytes of the tensor, so its "
        "elements are not compared");
  }
  return absl::OkStatus();
}

void Bisection::CompareTensor(const KeptTensor& a, const KeptTensor& b) {
  if (a.shape != b.shape || a.dtype != b.dtype) return;
  result_.elements = CompareElements(a, b);
  result_.map = MapDifference(a, b);
}

}  // namespace lockstep
