// Levels, kernels and threads.
#include <xmmintrin.h>

#include <cstdlib>
#include <mutex>
#include <set>

#include "absl/strings/str_cat.h"
#include "determinism/float_env.h"
#include "model/device.h"
#include "model/kernels/registry.h"
#include "tools/doctor/checks.h"

namespace lockstep {
namespace {

std::string Digest(const KernelInfo& info, Isa isa, int threads,
                   CheckFault fault = CheckFault::kNone) {
  Device device(threads, isa);
  return info.self_check(device, fault);
}

std::string What(const KernelInfo& info, Isa isa, int threads, int run) {
  return absl::StrCat(info.operation, " at ", NameOf(isa), ", ", threads,
                      " threads, run ", run);
}

// Every level and number of threads, twice, against the scalar level. Broken:
// one of those runs has an output of another bit.
void CompareEverywhere(const KernelInfo& info, const std::set<int>& threads,
                       const Examination& e, int64_t& digests,
                       CheckResult& result) {
  const std::string want = Digest(info, Isa::kScalar, 1);
  if (e.broken) ++result.injected;
  for (const Isa isa : PresentIsas()) {
    for (const int count : threads) {
      for (const int run : {1, 2}) {
        ++digests;
        const bool broken =
            e.broken && isa == e.isa && count == e.threads && run == 2;
        const std::string got = Digest(
            info, isa, count, broken ? CheckFault::kOutput : CheckFault::kNone);
        if (got == want) continue;
        result.faults.push_back(absl::StrCat(What(info, isa, count, run), ": ",
                                             got, ", scalar alone gives ",
                                             want));
      }
    }
  }
}

// What a library might leave behind: rounding up, subnormals kept.
void SpoilFloatEnv() { _mm_setcsr(0x1f80u | 0x4000u); }

// Whether this thread's arithmetic is that of N2, and not just its register.
// Volatile, so that all is computed here and now.
bool ComputesStrictly() {
  const volatile float one = 1.0f, three = 3.0f, small = 0x1p-120f;
  const volatile float subnormal = 0x1p-130f, large = 0x1p20f;
  const volatile float third = one / three, minus_third = -one / three;
  const volatile float flushed = small * 0x1p-20f, zeroed = subnormal * large;
  return FloatEnvIsStrict() && third == 0x1.555556p-2f &&
         minus_third == -0x1.555556p-2f && flushed == 0.0f && zeroed == 0.0f;
}

// Whom a canary expects in the place of `isa`.
Isa Another(Isa isa) {
  return static_cast<Isa>((static_cast<int>(isa) + 1) % kIsaCount);
}

}  // namespace

CheckResult CheckLevels(const Examination& e) {
  CheckResult result;
  const char* forced = std::getenv("LOCKSTEP_ISA");
  std::string names;
  for (const Isa isa : PresentIsas()) {
    absl::StrAppend(&names, names.empty() ? "" : ", ", NameOf(isa));
    const auto chosen = ChooseIsa(NameOf(isa));
    if (e.broken) ++result.injected;
    if (!chosen.ok() || *chosen != (e.broken ? Another(isa) : isa)) {
      result.faults.push_back(
          absl::StrCat(NameOf(isa), " is present and cannot be chosen"));
    }
  }
  result.summary = absl::StrCat(
      "present: ", names, "; used: ", NameOf(e.isa), "; LOCKSTEP_ISA ",
      forced == nullptr || *forced == '\0' ? "is not set"
                                           : absl::StrCat("is ", forced));
  return result;
}

CheckResult CheckKernels(const Examination& e) {
  CheckResult result;
  const std::set<int> threads = {1, 2, 3, e.threads};
  int64_t digests = 0;
  const std::vector<KernelInfo> kernels = AllKernels();
  for (const KernelInfo& info : kernels) {
    CompareEverywhere(info, threads, e, digests, result);
  }
  result.summary = absl::StrCat(
      kernels.size(), " operations, ", PresentIsas().size(), " levels, ",
      threads.size(), " numbers of threads, twice: ", digests, " digests");
  return result;
}

CheckResult CheckFloatEnv(const Examination& e) {
  CheckResult result;
  ThreadPool pool(e.threads);
  const int64_t ranges = 4 * e.threads;
  std::mutex mutex;
  int64_t strict = 0;
  for (int round = 0; round < 4; ++round) {
    pool.ParallelFor(e.threads, [&](int64_t begin, int64_t end) {
      if (e.broken) SpoilFloatEnv();
      const std::lock_guard<std::mutex> lock(mutex);
      if (ComputesStrictly()) strict += end - begin;
      SpoilFloatEnv();  // the next round must not see it
    });
  }
  result.injected = e.broken ? 1 : 0;
  if (strict != ranges) {
    result.faults.push_back(absl::StrCat(ranges - strict, " of ", ranges,
                                         " ranges do not round to nearest "
                                         "even with subnormals flushed (N2)"));
  }
  result.summary = absl::StrCat(strict, " of ", ranges, " ranges on ",
                                e.threads, " threads compute under N2");
  return result;
}

}  // namespace lockstep
