#include "tests/fuzz/fuzz_entries.h"

namespace lockstep {

std::vector<FuzzEntry> FuzzEntries() {
  return {{"toml", FuzzToml},
          {"set_value", FuzzSetValue},
          {"fault", FuzzFaultText},
          {"arguments", FuzzArgumentTexts},
          {"resize_note", FuzzResizeNote},
          {"hosts", FuzzHosts},
          {"node_list", FuzzNodeList},
          {"safetensors", FuzzSafetensors},
          {"manifest", FuzzManifest},
          {"index", FuzzIndex},
          {"ledger", FuzzLedger},
          {"lock", FuzzLock},
          {"metrics", FuzzMetrics},
          {"run_notes", FuzzRunNotes},
          {"spread", FuzzSpread},
          {"trace", FuzzTrace},
          {"token_index", FuzzTokenIndex},
          {"token_shard", FuzzTokenShard},
          {"block_hashes", FuzzBlockHashes},
          {"json_lines", FuzzJsonLines},
          {"packed_text", FuzzPackedText},
          {"tokenizer", FuzzTokenizer}};
}

}  // namespace lockstep
