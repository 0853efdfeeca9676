// What `ckpt verify RUN --json` prints.

#include "ckpt/sealed_json.h"
#include "ckpt/verify_run.h"

namespace lockstep {

std::string RunVerifyResultToJson(const RunVerifyResult& result) {
  OrderedJson list = OrderedJson::array();
  for (const Damage& damage : result.damage) {
    list.push_back({{"file", damage.file},
                    {"tensor", damage.tensor},
                    {"from", damage.from},
                    {"to", damage.to},
                    {"what", damage.what}});
  }
  return CompactJson({{"ok", result.ok},
                      {"steps", result.steps},
                      {"ledger_lines", result.ledger_lines},
                      {"manifests", result.manifests},
                      {"damage", list}});
}

}  // namespace lockstep
