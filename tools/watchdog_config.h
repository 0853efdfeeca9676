// When a silent rank counts as lost.
//
// What it is: the recipe's section, and what is in force beside
// `--rank-timeout`. What it is not: the watchdog (parallel/watchdog.h), or a
// part of RunConfig: ranks are watched before any of them has read and checked
// the whole recipe.
#ifndef LOCKSTEP_TOOLS_WATCHDOG_CONFIG_H_
#define LOCKSTEP_TOOLS_WATCHDOG_CONFIG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "determinism/file_system.h"
#include "recipes/section.h"

namespace lockstep {

struct WatchdogConfig {
  int64_t timeout_s = 600;  // of a collective
};
void DescribeSection(Section& section, WatchdogConfig& config);

// `given` by the option, unless that is 0; else the recipe's. What is wrong
// with a recipe is told by who reads all of it; here it has the default.
int64_t RankTimeoutS(FileSystem& fs, int64_t given, const std::string& recipe,
                     const std::vector<std::string>& sets);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_WATCHDOG_CONFIG_H_
