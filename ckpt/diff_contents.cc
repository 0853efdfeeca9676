#include "ckpt/diff_contents.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ckpt/element_text.h"
#include "determinism/fingerprint.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

// Of a list of bytes, so many are shown of each side.
constexpr size_t kShownBytes = 32;

// Element `n` of a part, in the tensor.
std::vector<int64_t> CoordinateOf(const Box& part, int64_t n) {
  std::vector<int64_t> at = part.start;
  for (size_t d = at.size(); d-- > 0;) {
    at[d] += n % part.shape[d];
    n /= part.shape[d];
  }
  return at;
}

void ComparePart(DType dtype, const Box& part, const char* a, const char* b,
                 TensorDifference& d) {
  const size_t width = SizeOf(dtype);
  const int64_t count = ElementsOf(part);
  if (std::memcmp(a, b, static_cast<size_t>(count) * width) == 0) return;
  for (int64_t i = 0; i < count; ++i, a += width, b += width) {
    if (std::memcmp(a, b, width) == 0) continue;
    if (d.different++ == 0) {
      d.first = CoordinateOf(part, i);
      d.a = ElementText(dtype, a);
      d.b = ElementText(dtype, b);
    }
    d.max_ulp = std::max(d.max_ulp, ElementDistance(dtype, a, b));
  }
}

const IndexTensor& Named(const CheckpointIndex& index,
                         const std::string& name) {
  return index.tensors[static_cast<size_t>(NumberOf(index, name))];
}

std::string BytesText(const std::vector<char>& bytes) {
  std::string text;
  for (size_t i = 0; i < std::min(bytes.size(), kShownBytes); ++i) {
    constexpr char kDigits[] = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(bytes[i]);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  if (bytes.size() > kShownBytes) text += "...";
  return absl::StrCat(text, " (", bytes.size(), " bytes)");
}

absl::StatusOr<std::vector<char>> BytesOf(CheckpointReader& reader,
                                          const IndexTensor& tensor) {
  const Box whole = WholeOf(tensor);
  std::vector<char> bytes(static_cast<size_t>(ElementsOf(whole)));
  LS_RETURN_IF_ERROR(reader.Read(tensor, whole, {bytes.data(), bytes.size()}));
  LS_RETURN_IF_ERROR(
      CheckSum(tensor, FingerprintOf(tensor, whole, bytes), reader.dir()));
  return bytes;
}

}  // namespace

absl::Status ContentDiff::Run(TensorDifference& d) {
  const IndexTensor& a = Named(a_.index(), d.name);
  const IndexTensor& b = Named(b_.index(), d.name);
  return a.kind == StateKind::kBytes ? RunBytes(a, b, d) : RunParts(a, b, d);
}

absl::Status ContentDiff::RunParts(const IndexTensor& a, const IndexTensor& b,
                                   TensorDifference& d) {
  Fingerprint sum_a, sum_b;
  d.elements = ElementsOf(WholeOf(a));
  LS_RETURN_IF_ERROR(ForEachPart(
      a.shape, SizeOf(a.dtype), WholeOf(a), kPartBytes,
      [&](const Box& part) -> absl::Status {
        LS_ASSIGN_OR_RETURN(const auto bytes_a, a_.Read(a, part));
        LS_ASSIGN_OR_RETURN(const auto bytes_b, b_.Read(b, part));
        sum_a += FingerprintOf(a, part, bytes_a);
        sum_b += FingerprintOf(b, part, bytes_b);
        ComparePart(a.dtype, part, bytes_a.data(), bytes_b.data(), d);
        return absl::OkStatus();
      }));
  LS_RETURN_IF_ERROR(CheckSum(a, sum_a, a_.dir()));
  return CheckSum(b, sum_b, b_.dir());
}

// Bytes may be of two lengths: both are shown, and what only one has differs.
absl::Status ContentDiff::RunBytes(const IndexTensor& a, const IndexTensor& b,
                                   TensorDifference& d) {
  LS_ASSIGN_OR_RETURN(const std::vector<char> left, BytesOf(a_, a));
  LS_ASSIGN_OR_RETURN(const std::vector<char> right, BytesOf(b_, b));
  d.bytes = true;
  d.a = BytesText(left);
  d.b = BytesText(right);
  d.elements = static_cast<int64_t>(std::max(left.size(), right.size()));
  for (size_t i = 0; i < static_cast<size_t>(d.elements); ++i) {
    if (i < left.size() && i < right.size() && left[i] == right[i]) continue;
    if (d.different++ == 0) d.first = {static_cast<int64_t>(i)};
  }
  return absl::OkStatus();
}

}  // namespace lockstep
