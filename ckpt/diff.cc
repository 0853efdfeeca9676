#include "ckpt/diff.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ckpt/element_text.h"
#include "ckpt/tensor_parts.h"
#include "determinism/fingerprint.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

// Of a list of bytes, so many are shown of each side.
constexpr size_t kShownBytes = 32;

std::string TypeText(const IndexTensor& t) {
  return absl::StrCat(NameOf(t.kind), " ", NameOf(t.dtype));
}

std::string ShapeText(const std::vector<int64_t>& shape) {
  return absl::StrCat("[", absl::StrJoin(shape, ","), "]");
}

std::optional<TensorDifference> Compare(const IndexTensor* a,
                                        const IndexTensor* b) {
  TensorDifference d;
  if (a == nullptr || b == nullptr) {
    const IndexTensor& there = a == nullptr ? *b : *a;
    d = {.name = there.name, .what = a == nullptr ? "only in B" : "only in A"};
    (a == nullptr ? d.b : d.a) = TypeText(there) + " " + ShapeText(there.shape);
    return d;
  }
  d.name = a->name;
  const bool bytes = a->kind == StateKind::kBytes && b->kind == a->kind;
  if (a->kind != b->kind || a->dtype != b->dtype) {
    d.what = "dtype";
    d.a = TypeText(*a);
    d.b = TypeText(*b);
  } else if (a->shape != b->shape && !bytes) {
    d.what = "shape";
    d.a = ShapeText(a->shape);
    d.b = ShapeText(b->shape);
  } else if (a->fingerprint != b->fingerprint || a->shape != b->shape) {
    d.what = "contents";
    d.a = a->fingerprint;
    d.b = b->fingerprint;
  } else {
    return std::nullopt;
  }
  return d;
}

void CompareRuntime(const CheckpointIndex& a, const CheckpointIndex& b,
                    std::vector<TensorDifference>& differences) {
  std::map<std::string, std::pair<std::string, std::string>> both;
  for (const IndexRuntime& t : a.runtime) both[t.name].first = t.fingerprint;
  for (const IndexRuntime& t : b.runtime) both[t.name].second = t.fingerprint;
  for (auto& [name, pair] : both) {
    if (pair.first == pair.second) continue;
    differences.push_back({.name = name,
                           .what = "runtime weights",
                           .a = std::move(pair.first),
                           .b = std::move(pair.second)});
  }
}

// Element `n` of a part, in the tensor.
std::vector<int64_t> CoordinateOf(const Box& part, int64_t n) {
  std::vector<int64_t> at = part.start;
  for (size_t d = at.size(); d-- > 0;) {
    at[d] += n % part.shape[d];
    n /= part.shape[d];
  }
  return at;
}

// Both sides of one tensor of equal type and shape.
class ContentDiff {
 public:
  ContentDiff(CheckpointReader& a, CheckpointReader& b) : a_(a), b_(b) {}

  absl::Status Run(const IndexTensor& a, const IndexTensor& b,
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

 private:
  static void ComparePart(DType dtype, const Box& part, const char* a,
                          const char* b, TensorDifference& d) {
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

  CheckpointReader& a_;
  CheckpointReader& b_;
};

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

// Bytes may be of two lengths: both are shown, and what only one has differs.
absl::Status DiffBytes(CheckpointReader& reader_a, const IndexTensor& a,
                       CheckpointReader& reader_b, const IndexTensor& b,
                       TensorDifference& d) {
  std::vector<char> left(static_cast<size_t>(ElementsOf(WholeOf(a))));
  std::vector<char> right(static_cast<size_t>(ElementsOf(WholeOf(b))));
  LS_RETURN_IF_ERROR(reader_a.Read(a, WholeOf(a), {left.data(), left.size()}));
  LS_RETURN_IF_ERROR(
      reader_b.Read(b, WholeOf(b), {right.data(), right.size()}));
  d.a = BytesText(left);
  d.b = BytesText(right);
  d.elements = static_cast<int64_t>(std::max(left.size(), right.size()));
  for (size_t i = 0; i < static_cast<size_t>(d.elements); ++i) {
    if (i < left.size() && i < right.size() && left[i] == right[i]) continue;
    if (d.different++ == 0) d.first = {static_cast<int64_t>(i)};
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<TensorDifference> DiffIndices(const CheckpointIndex& a,
                                          const CheckpointIndex& b) {
  std::map<std::string, std::pair<const IndexTensor*, const IndexTensor*>> both;
  for (const IndexTensor& t : a.tensors) both[t.name].first = &t;
  for (const IndexTensor& t : b.tensors) both[t.name].second = &t;
  std::vector<TensorDifference> differences;
  for (const auto& [name, pair] : both) {
    auto difference = Compare(pair.first, pair.second);
    if (difference) differences.push_back(*std::move(difference));
  }
  CompareRuntime(a, b, differences);
  return differences;
}

absl::StatusOr<CheckpointDiff> DiffCheckpoints(FileSystem& file_system,
                                               const std::string& dir_a,
                                               const std::string& dir_b) {
  LS_ASSIGN_OR_RETURN(const auto a, CheckpointReader::Open(file_system, dir_a));
  LS_ASSIGN_OR_RETURN(const auto b, CheckpointReader::Open(file_system, dir_b));
  CheckpointDiff diff = {a->index(), b->index(),
                         DiffIndices(a->index(), b->index())};
  ContentDiff contents(*a, *b);
  for (TensorDifference& d : diff.differences) {
    if (d.what != "contents") continue;
    const IndexTensor& left = Named(a->index(), d.name);
    const IndexTensor& right = Named(b->index(), d.name);
    LS_RETURN_IF_ERROR(left.kind == StateKind::kBytes
                           ? DiffBytes(*a, left, *b, right, d)
                           : contents.Run(left, right, d));
  }
  return diff;
}

}  // namespace lockstep
