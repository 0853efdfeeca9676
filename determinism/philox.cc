#include "determinism/philox.h"

#include <algorithm>

#include "determinism/check.h"
#include "determinism/cpu_level.h"
#include "determinism/philox_kernel.h"

namespace lockstep {
namespace {

PhiloxKernels FastestKernels() {
  return FastestOf(scalar::Philox, avx2::Philox, avx512::Philox)();
}

PhiloxCounter NumberOf(const RandomPosition& position) {
  const uint64_t quad = position.element / 4;
  LS_CHECK_LT(position.item, uint64_t{1} << 56);
  LS_CHECK_LT(quad, uint64_t{1} << 48);
  return {.low = quad | position.item << 48,
          .high = position.item >> 16 | uint64_t{position.layer} << 40 |
                  static_cast<uint64_t>(position.stream) << 56};
}

// Hands `emit` the values of [first, first + n) in pieces: emit(words, normals,
// count, done) with `done` values gone before. Either array is as long.
template <class Emit>
void ForEachPiece(uint64_t seed, RandomPosition first, size_t n,
                  bool want_normals, Emit emit) {
  constexpr int64_t kBlocks = 256;
  if (n == 0) return;
  // The last position, so that a range cannot run out of the counter.
  RandomPosition last = first;
  last.element += n - 1;
  NumberOf(last);
  const PhiloxKernels kernels = FastestKernels();
  uint32_t words[4 * kBlocks];
  float normals[4 * kBlocks];
  size_t done = 0;
  while (done < n) {
    const size_t skip = first.element % 4;
    const auto blocks = std::min<int64_t>(
        kBlocks, static_cast<int64_t>((skip + (n - done) + 3) / 4));
    const size_t count =
        std::min(n - done, static_cast<size_t>(4 * blocks) - skip);
    kernels.blocks(NumberOf(first), seed, blocks, words);
    if (want_normals) kernels.normals(words, blocks, normals);
    emit(words + skip, normals + skip, count, done);
    first.element += count;
    done += count;
  }
}

}  // namespace

std::array<uint32_t, 4> Philox4x32(const std::array<uint32_t, 4>& counter,
                                   const std::array<uint32_t, 2>& key) {
  uint32_t c[4] = {counter[0], counter[1], counter[2], counter[3]};
  philox_internal::Rounds(c, key[0], key[1]);
  return {c[0], c[1], c[2], c[3]};
}

std::array<uint32_t, 4> CounterOf(const RandomPosition& position) {
  const PhiloxCounter number = NumberOf(position);
  return {static_cast<uint32_t>(number.low),
          static_cast<uint32_t>(number.low >> 32),
          static_cast<uint32_t>(number.high),
          static_cast<uint32_t>(number.high >> 32)};
}

uint32_t RandomU32(uint64_t seed, const RandomPosition& position) {
  const std::array<uint32_t, 2> key = {static_cast<uint32_t>(seed),
                                       static_cast<uint32_t>(seed >> 32)};
  return Philox4x32(CounterOf(position), key)[position.element % 4];
}

float RandomUniform(uint64_t seed, const RandomPosition& position) {
  return philox_internal::UniformOf(RandomU32(seed, position));
}

float RandomNormal(uint64_t seed, const RandomPosition& position) {
  float value = 0.0f;
  FillRandomNormal(seed, position, {&value, 1});
  return value;
}

void FillRandomU32(uint64_t seed, RandomPosition first,
                   std::span<uint32_t> out) {
  ForEachPiece(seed, first, out.size(), false,
               [out](const uint32_t* words, const float*, size_t count,
                     size_t done) { std::copy_n(words, count, &out[done]); });
}

void FillRandomUniform(uint64_t seed, RandomPosition first,
                       std::span<float> out) {
  ForEachPiece(
      seed, first, out.size(), false,
      [out](const uint32_t* words, const float*, size_t count, size_t done) {
        for (size_t i = 0; i < count; ++i) {
          out[done + i] = philox_internal::UniformOf(words[i]);
        }
      });
}

void FillRandomNormal(uint64_t seed, RandomPosition first,
                      std::span<float> out) {
  ForEachPiece(seed, first, out.size(), true,
               [out](const uint32_t*, const float* normals, size_t count,
                     size_t done) { std::copy_n(normals, count, &out[done]); });
}

}  // namespace lockstep
