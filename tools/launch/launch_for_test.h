// A launcher of four replicas, and what its tests do with it.
#ifndef LOCKSTEP_TOOLS_LAUNCH_LAUNCH_FOR_TEST_H_
#define LOCKSTEP_TOOLS_LAUNCH_LAUNCH_FOR_TEST_H_

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tools/launch/launch_machine.h"

namespace lockstep {

using Kind = LaunchAction::Kind;
using Actions = LaunchMachine::Actions;

// Four replicas of two tensor ranks, 16 micro-batches a step.
inline LaunchPolicy Policy() {
  LaunchPolicy policy;
  policy.wanted = {.data = 4, .tensor = 2, .pipeline = 1, .micro_batches = 16};
  policy.wait_for_replacement_ms = 60'000;
  policy.retries = 3;
  return policy;
}

inline std::vector<LaunchHost> Hosts(const std::vector<std::string>& names) {
  std::vector<LaunchHost> hosts;
  for (const std::string& name : names) {
    hosts.push_back({name, 4, name[0] == 's'});
  }
  return hosts;
}

inline std::vector<std::string> NamesOf(const LaunchAction& start) {
  std::vector<std::string> names;
  for (const LaunchHost& host : start.hosts) names.push_back(host.name);
  return names;
}
using Names = std::vector<std::string>;

inline LaunchAction Only(const Actions& actions, Kind kind) {
  EXPECT_EQ(actions.size(), 1u);
  if (actions.size() != 1) return {};
  EXPECT_EQ(actions[0].kind, kind);
  return actions[0];
}

// Time goes on until the machine asks for hosts.
inline int64_t UntilItAsks(LaunchMachine& machine, int64_t now) {
  for (int64_t end = now + 1'000'000; now < end; now += 100) {
    const Actions actions = machine.Tick(now);
    if (actions.empty()) continue;
    EXPECT_EQ(actions[0].kind, Kind::kAskHosts);
    return now;
  }
  ADD_FAILURE() << "it never asks";
  return now;
}

inline LaunchMachine Started(const LaunchPolicy& policy = Policy()) {
  LaunchMachine machine(policy);
  Only(machine.Begin(0), Kind::kAskHosts);
  Only(machine.HostsSeen(0, Hosts({"a", "b", "s1"})), Kind::kStart);
  return machine;
}

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_LAUNCH_LAUNCH_FOR_TEST_H_
