#include "determinism/environment.h"

#include <cpuid.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>

#include "determinism/nearest.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

constexpr std::array<std::string_view, kIsaCount> kNames = {"scalar", "avx2",
                                                            "avx512", "amx"};
constexpr const char* kUnknown = "unknown";

// F16C is older than AVX2, and Clang 14 cannot ask for it.
bool HasAvx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

bool HasAvx512() {
  return HasAvx2() && __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512dq");
}

// The kernel keeps tile registers from a process until it asks for them.
bool AmxIsGranted() {
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;               // XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

bool HasAmx() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (!HasAvx512() || !__builtin_cpu_supports("avx512bf16")) return false;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return false;
  constexpr unsigned kAmxBf16 = 1u << 22, kAmxTile = 1u << 24;
  const bool in_silicon = (edx & kAmxBf16) != 0 && (edx & kAmxTile) != 0;
  return in_silicon && AmxIsGranted();
}

// The value after the first line "<key><separator>" of a file, or kUnknown.
std::string FieldOfFile(const char* path, std::string_view key,
                        char separator) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const size_t at = line.find(separator);
    if (at == std::string::npos) continue;
    std::string value = line.substr(at + 1);
    std::erase(value, '"');
    const size_t first = value.find_first_not_of(" \t");
    return first == std::string::npos ? kUnknown : value.substr(first);
  }
  return kUnknown;
}

int UsableCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
}

std::string NamesOf(const std::vector<Isa>& isas) {
  std::vector<std::string_view> names;
  for (const Isa isa : isas) names.push_back(NameOf(isa));
  return JoinNames(names);
}

std::vector<LibraryVersion> Libraries() {
  char libc[64] = {};
  if (confstr(_CS_GNU_LIBC_VERSION, libc, sizeof(libc)) == 0) {
    return {{"libc", kUnknown}};
  }
  const std::string_view text(libc);  // "glibc 2.36"
  const size_t space = text.find(' ');
  if (space == std::string_view::npos) return {{"libc", libc}};
  return {{std::string(text.substr(0, space)),
           std::string(text.substr(space + 1))}};
}

}  // namespace

const char* NameOf(Isa isa) { return kNames[static_cast<size_t>(isa)].data(); }

bool IsaPresent(Isa isa) {
  switch (isa) {
    case Isa::kScalar:
      return true;
    case Isa::kAvx2:
      return HasAvx2();
    case Isa::kAvx512:
      return HasAvx512();
    case Isa::kAmx:
      return HasAmx();
  }
  return false;
}

std::vector<Isa> PresentIsas() {
  std::vector<Isa> present;
  for (int i = 0; i < kIsaCount; ++i) {
    if (IsaPresent(static_cast<Isa>(i))) present.push_back(static_cast<Isa>(i));
  }
  return present;
}

Isa BestIsa() { return PresentIsas().back(); }

absl::StatusOr<Isa> ChooseIsa(std::string_view requested) {
  const std::vector<Isa> present = PresentIsas();
  if (requested.empty()) return present.back();
  for (const Isa isa : present) {
    if (requested == NameOf(isa)) return isa;
  }
  const bool known =
      std::find(kNames.begin(), kNames.end(), requested) != kNames.end();
  const std::string what =
      known ? "this machine has no '" + std::string(requested) + "'"
            : "unknown instruction level '" + std::string(requested) +
                  "' (nearest: '" +
                  std::string(NearestName(requested, kNames)) + "')";
  return InputError(what, "environment variable LOCKSTEP_ISA",
                    "choose one of those present here: " + NamesOf(present));
}

absl::StatusOr<Isa> ChosenIsa() {
  const char* requested = std::getenv("LOCKSTEP_ISA");
  return ChooseIsa(requested == nullptr ? "" : requested);
}

MachineInfo DescribeMachine() {
  MachineInfo info;
  info.cpu_model = FieldOfFile("/proc/cpuinfo", "model name", ':');
  info.isas = PresentIsas();
  info.cores = UsableCores();
  info.memory_bytes =
      int64_t{sysconf(_SC_PHYS_PAGES)} * int64_t{sysconf(_SC_PAGESIZE)};
  info.os = FieldOfFile("/etc/os-release", "PRETTY_NAME", '=');
  info.hostname = info.kernel = info.architecture = kUnknown;
  if (utsname system = {}; uname(&system) == 0) {
    info.hostname = system.nodename;
    info.kernel = std::string(system.sysname) + " " + system.release;
    info.architecture = system.machine;
  }
#if defined(__clang__)
  info.compiler = "Clang " __clang_version__;
#else
  info.compiler = "GCC " __VERSION__;
#endif
  info.libraries = Libraries();
  return info;
}

}  // namespace lockstep
