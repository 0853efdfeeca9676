#include "ckpt/diff.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ckpt/diff_contents.h"
#include "ckpt/tensor_parts.h"
#include "ckpt/verify.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

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

namespace {

absl::Status CheckHolds(FileSystem& file_system, const std::string& dir) {
  LS_ASSIGN_OR_RETURN(const VerifyResult result,
                      VerifyCheckpoint(file_system, dir));
  if (result.ok) return absl::OkStatus();
  return NoUsableCheckpoint("the checkpoint is damaged: " + result.Summary(),
                            dir,
                            "`lockstep ckpt verify` names all of it; compare "
                            "another");
}

// What index differences do not name: nothing is equal unread.
absl::Status AddUnnamed(ContentDiff& contents, CheckpointDiff& diff) {
  std::set<std::string> named;
  for (const TensorDifference& d : diff.differences) named.insert(d.name);
  for (const IndexTensor& a : diff.a.tensors) {
    if (named.contains(a.name)) continue;
    TensorDifference d = {.name = a.name, .what = "contents"};
    LS_RETURN_IF_ERROR(contents.Run(d));
    if (d.different > 0) diff.differences.push_back(std::move(d));
  }
  std::stable_sort(diff.differences.begin(), diff.differences.end(),
                   [](const TensorDifference& x, const TensorDifference& y) {
                     return x.name < y.name;
                   });
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CheckpointDiff> DiffCheckpoints(FileSystem& file_system,
                                               const std::string& dir_a,
                                               const std::string& dir_b,
                                               bool quick) {
  if (!quick) {
    LS_RETURN_IF_ERROR(CheckHolds(file_system, dir_a));
    LS_RETURN_IF_ERROR(CheckHolds(file_system, dir_b));
  }
  LS_ASSIGN_OR_RETURN(const auto a, CheckpointReader::Open(file_system, dir_a));
  LS_ASSIGN_OR_RETURN(const auto b, CheckpointReader::Open(file_system, dir_b));
  CheckpointDiff diff = {a->index(), b->index(), quick,
                         DiffIndices(a->index(), b->index())};
  ContentDiff contents(*a, *b);
  for (TensorDifference& d : diff.differences) {
    if (d.what == "contents") LS_RETURN_IF_ERROR(contents.Run(d));
  }
  if (!quick) LS_RETURN_IF_ERROR(AddUnnamed(contents, diff));
  return diff;
}

}  // namespace lockstep
