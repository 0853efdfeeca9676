// Where `--fault` can break a run, and how: the list for a person.
//
// What it is: every kind, every named point, the file calls, and the operations
// that layers announce, as patterns (`*` is any component, as in a fault).
// What it is not: read by the injector, which takes any place. Why so: a fault
// with a misspelt place is never met; tests hold this list against what a run
// announces and against what the injector carries out.
#ifndef LOCKSTEP_TOOLS_DOCTOR_FAULT_POINTS_H_
#define LOCKSTEP_TOOLS_DOCTOR_FAULT_POINTS_H_

#include <string>
#include <vector>

namespace lockstep {

struct FaultPlace {
  std::string at;    // as after `at=`
  std::string what;  // phases of an operation, or when the point is passed
};

struct FaultPlaces {
  std::vector<FaultPlace> kinds;       // at: the kind's name
  std::vector<FaultPlace> points;      // of a step
  std::vector<FaultPlace> files;       // save.* and load.*
  std::vector<FaultPlace> operations;  // what: its phases, with commas
};

FaultPlaces AllFaultPlaces();

std::string FaultPlacesText();
std::string FaultPlacesJson();  // one object, a list a field above

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_DOCTOR_FAULT_POINTS_H_
