#include "determinism/dtype.h"

#include <array>
#include <string>

#include "determinism/check.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

struct Entry {
  DType dtype;
  const char* name;
  size_t size_bytes;
};

constexpr std::array<Entry, 10> kEntries = {{
    {DType::kF32, "F32", 4},
    {DType::kBF16, "BF16", 2},
    {DType::kF16, "F16", 2},
    {DType::kF64, "F64", 8},
    {DType::kI64, "I64", 8},
    {DType::kI32, "I32", 4},
    {DType::kU8, "U8", 1},
    {DType::kU16, "U16", 2},
    {DType::kU32, "U32", 4},
    {DType::kU64, "U64", 8},
}};

const Entry& EntryOf(DType dtype) {
  const auto index = static_cast<size_t>(dtype) - 1;
  LS_CHECK_LT(index, kEntries.size()) << "no such dtype";
  return kEntries[index];
}

}  // namespace

size_t SizeOf(DType dtype) { return EntryOf(dtype).size_bytes; }

const char* NameOf(DType dtype) { return EntryOf(dtype).name; }

absl::StatusOr<DType> DTypeFromName(std::string_view name) {
  std::string known;
  for (const Entry& entry : kEntries) {
    if (name == entry.name) return entry.dtype;
    known += std::string(known.empty() ? "" : ", ") + entry.name;
  }
  return InputError("unknown element type '" + std::string(name) + "'",
                    "a tensor's dtype", "use one of " + known);
}

}  // namespace lockstep
