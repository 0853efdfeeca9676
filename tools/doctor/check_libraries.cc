// MPI, CUDA, clock: what is not ours.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "determinism/clock.h"
#include "determinism/fingerprint.h"
#include "determinism/fingerprint_cuda.h"
#include "parallel/mpi_library.h"
#include "tools/doctor/checks.h"

namespace lockstep {
namespace {

constexpr int64_t kUnixMs2024 = 1'704'067'200'000;

// The real one, and once a second earlier.
class FalteringClock : public RealClock {
 public:
  int64_t MonotonicNanos() override {
    const int64_t now = RealClock::MonotonicNanos();
    return ++calls_ == 50 ? now - 1'000'000'000 : now;
  }

 private:
  int64_t calls_ = 0;
};

}  // namespace

CheckResult CheckMpi(const Examination& e) {
  CheckResult result;
  const MpiLibrary mpi = DescribeMpiLibrary();
  if (mpi.built_with.empty()) {
    result.summary = "none: this build has no MPI";
    return result;
  }
  result.injected = e.broken ? 1 : 0;
  const std::string want = e.broken ? "Open MPI v0.0" : mpi.built_with;
  if (!absl::StrContains(mpi.running, want)) {
    result.faults.push_back(absl::StrCat("built with ", want, ", running is ",
                                         mpi.running,
                                         ": build again on this machine"));
  }
  result.summary = absl::StrCat(mpi.running, "; not started");
  return result;
}

CheckResult CheckCuda(const Examination& e) {
  CheckResult result;
  if (!CudaAvailable()) {
    result.summary = "none: no device, or a build without CUDA";
    return result;
  }
  std::vector<std::byte> bytes(size_t{1} << 20);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = std::byte(i * 131 >> 3);
  const Fingerprint want = FingerprintBytes(bytes.data(), bytes.size());
  if (e.broken) {
    result.injected = 1;
    bytes[4711] ^= std::byte{4};
  }
  const auto got = FingerprintOnDevice(bytes);
  if (!got.ok()) {
    result.faults.push_back(std::string(got.status().message()));
  } else if (*got != want) {
    result.faults.push_back(absl::StrCat("the device gives ", got->Hex(),
                                         ", the CPU ", want.Hex()));
  }
  result.summary = "a fingerprint of 1 MiB on the device and on the CPU";
  return result;
}

CheckResult CheckClock(const Examination& e) {
  constexpr int kReadings = 100'000;
  CheckResult result;
  RealClock real;
  FalteringClock faltering;
  Clock& clock = e.broken ? static_cast<Clock&>(faltering) : real;
  result.injected = e.broken ? 1 : 0;
  const int64_t start = clock.MonotonicNanos();
  int64_t last = start, back = 0;
  for (int i = 0; i < kReadings; ++i) {
    const int64_t now = clock.MonotonicNanos();
    back += now < last;
    last = now;
  }
  if (back != 0) {
    result.faults.push_back(absl::StrCat("the monotonic clock went back ", back,
                                         " times in ", kReadings));
  }
  if (last <= start) result.faults.push_back("the clock stands still");
  if (clock.UnixMillis() < kUnixMs2024) {
    result.faults.push_back(
        "the system's time is before 2024: set it; ledgers and events carry "
        "it");
  }
  result.summary =
      absl::StrCat(kReadings, " readings, ",
                   (last - start) / std::max(1, kReadings), " ns each");
  return result;
}

}  // namespace lockstep
