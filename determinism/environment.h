// What machine this is, and which instruction level the kernels use on it.
//
// Written into the manifest and printed by `doctor`. No number may depend on
// it: levels are faster ways to the same bits (N1), so choosing one is a matter
// of speed, and LOCKSTEP_ISA lets a test take the slower ones. Not cached: asks
// the system each time, the choice is made once a process by its caller.

#ifndef DETERMINISM_ENVIRONMENT_H_
#define DETERMINISM_ENVIRONMENT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace lockstep {

// A level includes those before it, so comparing with < is meant.
enum class Isa : uint8_t {
  kScalar,
  kAvx2,    // AVX2, FMA, F16C
  kAvx512,  // AVX-512 F, BW, VL, DQ
  kAmx,     // AMX-TILE and AMX-BF16, granted by the kernel to this process
};
constexpr int kIsaCount = 4;  // not inline: -fno-weak refuses that

// "scalar", "avx2", "avx512", "amx".
const char* NameOf(Isa isa);

// Whether processor and kernel offer the level, those below it included.
// Asking for kAmx requests the tile registers from Linux for this process,
// which is needed once before any thread uses them.
bool IsaPresent(Isa isa);
std::vector<Isa> PresentIsas();  // ascending, never empty
Isa BestIsa();

// The level named by LOCKSTEP_ISA, or the best. InputError, listing those
// present, when the name is unknown or the machine lacks the level.
absl::StatusOr<Isa> ChosenIsa();
// The same for a given text; empty stands for an unset variable.
absl::StatusOr<Isa> ChooseIsa(std::string_view requested);

struct LibraryVersion {
  std::string name;     // "protobuf"
  std::string version;  // "3.21.12"
};

struct MachineInfo {
  std::string cpu_model;  // as in /proc/cpuinfo
  std::vector<Isa> isas;  // ascending
  int cores = 0;          // that this process may use
  int64_t memory_bytes = 0;
  std::string hostname;
  std::string os;            // PRETTY_NAME of os-release
  std::string kernel;        // "Linux 6.1.0-28-amd64"
  std::string architecture;  // "x86_64"
  std::string compiler;      // of this file: "GCC 12.2.0"
  std::vector<LibraryVersion> libraries;
};
// A field that the system does not tell reads "unknown" (numbers: 0).
MachineInfo DescribeMachine();

}  // namespace lockstep

#endif  // DETERMINISM_ENVIRONMENT_H_
