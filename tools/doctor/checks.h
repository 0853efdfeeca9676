// The checks that doctor.cc lists. Inside this folder only.
#ifndef LOCKSTEP_TOOLS_DOCTOR_CHECKS_H_
#define LOCKSTEP_TOOLS_DOCTOR_CHECKS_H_

#include "tools/doctor/doctor.h"

namespace lockstep {

// Levels present, the one used, and what LOCKSTEP_ISA forces.
CheckResult CheckLevels(const Examination& examination);
// Every kernel twice, at every level, with 1, 2, 3 and the given threads.
CheckResult CheckKernels(const Examination& examination);
// N2 on every thread of a pool.
CheckResult CheckFloatEnv(const Examination& examination);
// N8 at every level against committed bits.
CheckResult CheckFunctions(const Examination& examination);
// N9: the authors' known answers.
CheckResult CheckRandom(const Examination& examination);
// N6: sums that binary64 cannot hold.
CheckResult CheckExactSums(const Examination& examination);
// N11: committed bits, parts that add up, flips that show.
CheckResult CheckFingerprints(const Examination& examination);
// What a checkpoint asks of the file system of a folder.
CheckResult CheckFiles(const Examination& examination);
// The MPI library is the one that was built against. MPI is not started.
CheckResult CheckMpi(const Examination& examination);
// A device, if there is one, gives the CPU's bits.
CheckResult CheckCuda(const Examination& examination);
CheckResult CheckClock(const Examination& examination);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_DOCTOR_CHECKS_H_
