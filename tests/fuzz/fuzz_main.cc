// One parser under libFuzzer: LOCKSTEP_FUZZ_ENTRY is its function.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/fuzz_entries.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  lockstep::LOCKSTEP_FUZZ_ENTRY(
      std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
