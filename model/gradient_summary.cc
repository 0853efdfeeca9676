#include "model/gradient_summary.h"

#include <algorithm>
#include <cstdint>
#include <mutex>

#include "model/owned_fingerprint.h"

namespace lockstep {
namespace {

constexpr int64_t kPieceElements = 64 * 1024;  // fits the second-level cache

struct Piece {
  size_t parameter;
  int64_t begin, end;  // owned elements
};

std::vector<Piece> PiecesOf(const std::vector<Parameter>& parameters) {
  std::vector<Piece> pieces;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (!parameters[i].speaks) continue;
    const int64_t count = parameters[i].owned_count();
    for (int64_t begin = 0; begin < count; begin += kPieceElements) {
      pieces.push_back({i, begin, std::min(begin + kPieceElements, count)});
    }
  }
  return pieces;
}

}  // namespace

GradientSummary SummariseGradients(Device& device, const ParameterStore& store,
                                   bool fingerprints) {
  const std::vector<Parameter>& parameters = store.all();
  const std::vector<Piece> pieces = PiecesOf(parameters);
  std::vector<OwnedFingerprint> owned;
  if (fingerprints) {
    for (const Parameter& p : parameters) {
      owned.emplace_back(p, store.placement().tensor);
    }
  }
  GradientSummary total;
  total.fingerprints.resize(owned.size());
  std::mutex mutex;  // both sums merge in any order to the same value
  device.threads().ParallelFor(
      static_cast<int64_t>(pieces.size()), [&](int64_t begin, int64_t end) {
        ExactSum squares;
        std::vector<Fingerprint> sums(owned.size());
        for (int64_t i = begin; i < end; ++i) {
          const Piece& piece = pieces[static_cast<size_t>(i)];
          const float* grad = parameters[piece.parameter].grad;
          squares.AddSquares({grad + piece.begin, grad + piece.end});
          if (owned.empty()) continue;
          const void* data = grad;
          owned[piece.parameter].Add({&data, 1}, sizeof(float), piece.begin,
                                     piece.end, {&sums[piece.parameter], 1});
        }
        const std::lock_guard<std::mutex> lock(mutex);
        total.squares.Merge(squares);
        for (size_t p = 0; p < sums.size(); ++p)
          total.fingerprints[p] += sums[p];
      });
  return total;
}

}  // namespace lockstep
