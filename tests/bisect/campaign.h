// Faults at random places of random runs, given to a bisect that does not know.
//
// What it is: case number N of an endless list: layout, precision, step, place
// and kind follow from N; two runs, and what bisect said of them. What it is
// not: a choice of easy ones: a fault that changes no line of the run is told
// from one that does by an oracle that never asks bisect. Why so: "names the
// operation" is a rate, and a rate needs cases that nobody picked.
#ifndef LOCKSTEP_TESTS_BISECT_CAMPAIGN_H_
#define LOCKSTEP_TESTS_BISECT_CAMPAIGN_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/train/train_rig.h"

namespace lockstep {

struct CampaignCase {
  std::string about;         // layout, precision, fault
  std::string kind = {};     // of case
  bool matters = false;      // some line of the run is another
  bool named = false;        // as planted: step, place, tensor, rank or sample
  bool false_alarm = false;  // no line is another, and bisect saw one
  // Of one that does not matter: the lines that are equal, and the state that
  // both runs end in; empty: they are not equal, so it did.
  std::string proof = {};
  std::string said = {};  // bisect's JSON where it was wrong
};

class Campaign {
 public:
  CampaignCase Run(int number);
  // Of two runs without a fault, at most stopped and resumed: what bisect said
  // though nothing differs; empty: nothing.
  std::string AlarmOfEqualRuns(int number);

 private:
  // The case's kind of run, by name.
  static std::string OptionsOf(int number, RigOptions& options);
  // The run without a fault, made once for each kind of run.
  struct Clean;
  const Clean& CleanRun(const std::string& name, const RigOptions& options);
  std::map<std::string, std::shared_ptr<const Clean>> clean_;
};

}  // namespace lockstep

#endif  // LOCKSTEP_TESTS_BISECT_CAMPAIGN_H_
