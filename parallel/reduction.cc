#include "parallel/reduction.h"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "determinism/check.h"
#include "determinism/float_env.h"

namespace lockstep {
namespace {

// Elements joined at a time: the partial sums stay in the first-level cache.
constexpr size_t kBlock = 1024;

template <typename T>
using Block = std::array<T, kBlock>;

// Binary32 as an integer of the same order, -0 below +0, whatever the float
// environment thinks of subnormals. A NaN of either sign stands above all.
uint32_t OrderOf(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0xffffffffu;
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

float FloatOf(uint32_t order) {
  if (order == 0xffffffffu) return std::bit_cast<float>(0x7fc00000u);
  return std::bit_cast<float>((order & 0x80000000u) != 0 ? order & 0x7fffffffu
                                                         : ~order);
}

float LargerOf(float a, float b) {
  return FloatOf(std::max(OrderOf(a), OrderOf(b)));
}

int64_t Wrapped(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) +
                              static_cast<uint64_t>(b));
}

// One rank alone: its values, a maximum in its one form of NaN.
float Alone(float value, Reduction reduction) {
  return reduction == Reduction::kMaxFloat ? FloatOf(OrderOf(value)) : value;
}
int64_t Alone(int64_t value, Reduction) { return value; }

template <typename T, typename Join>
void Chain(std::span<const T* const> sources, Reduction reduction, Join join,
           size_t n, T* out) {
  Block<T> sum;
  for (size_t i = 0; i < n; ++i) sum[i] = Alone(sources[0][i], reduction);
  for (size_t rank = 1; rank < sources.size(); ++rank) {
    const T* next = sources[rank];
    for (size_t i = 0; i < n; ++i) sum[i] = join(sum[i], next[i]);
  }
  std::copy_n(sum.begin(), n, out);
}

// The sum of sources [0, size), size a power of two: left half plus right half.
void Tree(std::span<const float* const> sources, size_t n, float* out) {
  if (sources.size() == 1) {
    std::copy_n(sources[0], n, out);
    return;
  }
  Block<float> left, right;
  const size_t half = sources.size() / 2;
  Tree(sources.first(half), n, left.data());
  Tree(sources.subspan(half), n, right.data());
  for (size_t i = 0; i < n; ++i) out[i] = left[i] + right[i];
}

// Calls `block(sources at i, elements, out at i)` along the span.
template <typename T, typename Function>
void Blockwise(std::span<const std::byte* const> sources, std::byte* out,
               size_t elements, Function block) {
  std::vector<const T*> at(sources.size());
  for (size_t i = 0; i < elements; i += kBlock) {
    for (size_t rank = 0; rank < at.size(); ++rank) {
      at[rank] = reinterpret_cast<const T*>(sources[rank]) + i;
    }
    block(std::span<const T* const>(at), std::min(kBlock, elements - i),
          reinterpret_cast<T*>(out) + i);
  }
}

}  // namespace

const char* NameOf(Reduction reduction) {
  switch (reduction) {
    case Reduction::kNone:
      return "no reduction";
    case Reduction::kSumInt64:
      return "sum of int64";
    case Reduction::kMaxInt64:
      return "maximum of int64";
    case Reduction::kMaxFloat:
      return "maximum of float";
    case Reduction::kOrderedSumFloat:
      return "ordered sum of float";
    case Reduction::kTreeSumFloat:
      return "tree sum of float";
    case Reduction::kFastSumFloat:
      return "fast sum of float";
  }
  return "unknown reduction";
}

size_t ElementBytes(Reduction reduction) {
  if (reduction == Reduction::kNone) return 1;
  return reduction == Reduction::kSumInt64 || reduction == Reduction::kMaxInt64
             ? 8
             : 4;
}

void ReduceSources(Reduction reduction,
                   std::span<const std::byte* const> sources, std::byte* out,
                   size_t elements) {
  LS_CHECK(!sources.empty() && reduction != Reduction::kNone);
  const ScopedFloatEnv strict;
  const auto chain = [&](auto zero, auto join) {
    using T = decltype(zero);
    Blockwise<T>(sources, out, elements,
                 [&](std::span<const T* const> at, size_t n, T* to) {
                   Chain(at, reduction, join, n, to);
                 });
  };
  switch (reduction) {
    case Reduction::kSumInt64:
      return chain(int64_t{0},
                   [](int64_t a, int64_t b) { return Wrapped(a, b); });
    case Reduction::kMaxInt64:
      return chain(int64_t{0},
                   [](int64_t a, int64_t b) { return std::max(a, b); });
    case Reduction::kMaxFloat:
      return chain(0.0f, [](float a, float b) { return LargerOf(a, b); });
    case Reduction::kTreeSumFloat:
      LS_CHECK(std::has_single_bit(sources.size())) << sources.size();
      return Blockwise<float>(sources, out, elements, Tree);
    default:  // ordered, and fast for want of another
      return chain(0.0f, [](float a, float b) { return a + b; });
  }
}

}  // namespace lockstep
