#include "ckpt/uneven_shares.h"

#include <cstdint>
#include <cstdlib>
#include <string>

#include "ckpt/value_changes.h"

namespace lockstep {

bool HasUnevenShares(const Manifest& manifest) {
  const int64_t data = manifest.layout.data;
  const int64_t micro = manifest.layout.micro_batch;
  if (data <= 1 || micro <= 0) return false;
  const Values values = ParseValueLines(manifest.recipe.text);
  const auto schedule = values.find("batch.schedule");
  if (schedule != values.end() &&
      schedule->second.find(':') != std::string::npos) {
    return true;
  }
  const auto global = values.find("batch.global");
  return global != values.end() &&
         std::atoll(global->second.c_str()) / micro % data != 0;
}

}  // namespace lockstep
