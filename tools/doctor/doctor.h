// Whether this machine computes, stores and tells time as the contract needs.
//
// What it is: a list of checks, each of which can break what it looks at on
// purpose and must then notice (--canary). What it is not: a test of the
// project: tests compare with references, this compares a machine with itself
// and with committed bits. Why so: faulty cores give wrong sums without a word
// (Hochschild et al., "Cores that don't count", HotOS 2021), and a run should
// not be the first to meet them.
#ifndef LOCKSTEP_TOOLS_DOCTOR_DOCTOR_H_
#define LOCKSTEP_TOOLS_DOCTOR_DOCTOR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "determinism/environment.h"

namespace lockstep {

// What a check is given.
struct Examination {
  int threads = 1;  // kernels also run with 1, 2 and 3
  Isa isa = Isa::kScalar;
  std::string folder = ".";  // existing; the file system to be probed
  bool broken = false;       // inject the check's own fault
};

struct CheckResult {
  std::string summary = {};              // what was looked at, with counts
  std::vector<std::string> faults = {};  // empty: sound
  // How many things were broken on purpose: a canary has fired when so many
  // faults were found. 0: there was nothing here to break.
  int64_t injected = 0;
};

struct DoctorCheck {
  const char* name;
  const char* fault;  // what `broken` does
  CheckResult (*run)(const Examination& examination);
};

// Immutable, in the order in which they run.
const std::vector<DoctorCheck>& AllDoctorChecks();

struct DoctorFinding {
  std::string name = {};
  std::string fault = {};  // canary: what was broken
  CheckResult result = {};
  // Sound, or with a canary: every injected fault was found.
  bool good = false;
};

// Runs all of them; with `broken` every one's canary.
std::vector<DoctorFinding> Examine(const Examination& examination);

// For a person, and one JSON object: {"sound" (canary: "fires"), "machine",
// "checks": [{"name", "good", "summary", "faults", ...}]}.
std::string DoctorText(const std::vector<DoctorFinding>& findings,
                       const Examination& examination);
std::string DoctorJson(const std::vector<DoctorFinding>& findings,
                       const Examination& examination);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_DOCTOR_DOCTOR_H_
