#include "tools/watchdog_config.h"

#include "recipes/recipe.h"

namespace lockstep {

void DescribeSection(Section& section, WatchdogConfig& config) {
  section.SetTrajectory(false);
  section.Int("timeout_s", config.timeout_s,
              {.min = 1,
               .max = 86'400,
               .help = "seconds until a silent rank is lost; --rank-timeout "
                       "goes before it"});
}

int64_t RankTimeoutS(FileSystem& fs, int64_t given, const std::string& recipe,
                     const std::vector<std::string>& sets) {
  if (given != 0) return given;
  auto loaded = Recipe::Load(fs, recipe, sets);
  if (!loaded.ok()) return WatchdogConfig().timeout_s;
  return loaded->Read<WatchdogConfig>("watchdog").timeout_s;
}

}  // namespace lockstep
