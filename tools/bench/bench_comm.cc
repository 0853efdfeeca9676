#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "parallel/comm_bench.h"
#include "parallel/mpi_comm.h"
#include "parallel/thread_comm.h"
#include "tools/bench/benches.h"

namespace lockstep {
namespace {

constexpr int64_t kMostRanks = 64;

std::string Size(int64_t bytes) {
  constexpr int64_t kKiB = 1024, kMiB = 1024 * kKiB;
  if (bytes >= kMiB) return absl::StrCat(bytes / kMiB, " MiB");
  if (bytes >= kKiB) return absl::StrCat(bytes / kKiB, " KiB");
  return absl::StrCat(bytes, " B");
}

BenchCase CaseOf(const CommMeasurement& one, const std::string& ranks) {
  BenchCase result = {.name = absl::StrCat(one.name, ", ", ranks)};
  if (one.bytes == 0) {
    result.rate = 1 / one.call_s;
    result.unit = "calls/s";
    return result;
  }
  result.name = absl::StrCat(one.name, " ", Size(one.bytes), ", ", ranks);
  result.rate = one.rate;
  result.unit = "B/s";
  result.probe = one.probe_rate;
  result.ratio = one.ratio;
  result.ratio_low = one.ratio_low;
  result.ratio_high = one.ratio_high;
  return result;
}

// Of all ranks' equal measurements, the first rank's.
absl::StatusOr<std::vector<BenchCase>> Measure(Communicator& comm,
                                               const BenchOptions& options,
                                               const char* transport) {
  CommBenchOptions o;
  o.only = options.only;
  if (options.rounds > 0) o.rounds = static_cast<int>(options.rounds);
  LS_ASSIGN_OR_RETURN(const auto measured, MeasureCommunicator(comm, o));
  if (measured.empty()) {
    return InputError("bench comm has no such case", "--only " + options.only,
                      "leave it out to see all");
  }
  std::vector<BenchCase> cases;
  if (comm.rank() != 0) return cases;
  const std::string ranks = absl::StrCat(comm.size(), " ", transport);
  for (const CommMeasurement& one : measured) {
    cases.push_back(CaseOf(one, ranks));
  }
  return cases;
}

absl::StatusOr<std::vector<BenchCase>> OverProcesses(
    const BenchOptions& options) {
  LS_ASSIGN_OR_RETURN(const auto mpi, MpiRuntime::Start());
  LS_ASSIGN_OR_RETURN(const auto world, mpi->World());
  return Measure(*world, options, "processes");
}

absl::StatusOr<std::vector<BenchCase>> OverThreads(
    const BenchOptions& options) {
  std::vector<BenchCase> cases;
  LS_RETURN_IF_ERROR(RunThreadRanks(
      static_cast<int>(options.ranks), [&](Communicator& comm) -> absl::Status {
        LS_ASSIGN_OR_RETURN(auto mine, Measure(comm, options, "threads"));
        if (comm.rank() == 0) cases = std::move(mine);
        return absl::OkStatus();
      }));
  return cases;
}

}  // namespace

absl::StatusOr<std::vector<BenchCase>> BenchComm(const BenchOptions& options) {
  if (options.ranks < 1 || options.ranks > kMostRanks) {
    return InputError(
        absl::StrCat("bench comm takes from 1 to ", kMostRanks, " ranks"),
        absl::StrCat("--ranks ", options.ranks), "give such a number");
  }
  return StartedByMpi() ? OverProcesses(options) : OverThreads(options);
}

}  // namespace lockstep
