#include "determinism/philox.h"

#include "determinism/check.h"
#include "determinism/math.h"

namespace lockstep {
namespace {

// Multipliers and Weyl constants of Philox4x32 (Salmon et al. 2011, section 4).
constexpr uint32_t kMultiplier0 = 0xd2511f53u;
constexpr uint32_t kMultiplier1 = 0xcd9e8d57u;
constexpr uint32_t kWeyl0 = 0x9e3779b9u;
constexpr uint32_t kWeyl1 = 0xbb67ae85u;

using Block = std::array<uint32_t, 4>;

// The four lanes that serve elements [4 q, 4 q + 4), q = element / 4.
Block BlockAt(uint64_t seed, const RandomPosition& position) {
  return Philox4x32(CounterOf(position), {static_cast<uint32_t>(seed),
                                          static_cast<uint32_t>(seed >> 32)});
}

float UniformOf(uint32_t bits) {
  return static_cast<float>(static_cast<int32_t>(bits >> 8)) * 0x1p-24f;
}

float NormalOf(const Block& block, int lane) {
  const int pair = lane / 2 * 2;
  const float u1 = UniformOf(block[pair]) + 0x1p-24f;  // exact, in (0, 1]
  const float angle = UniformOf(block[pair + 1]) * 0x1.921fb6p+2f;  // 2 pi
  const float radius = __builtin_sqrtf(-2.0f * math::Log(u1));
  return radius * (lane % 2 == 0 ? math::Cos(angle) : math::Sin(angle));
}

// out[i] = of(block, lane) for element first.element + i.
template <class T, class Of>
void Fill(uint64_t seed, RandomPosition at, std::span<T> out, Of of) {
  Block block = {};
  bool fresh = true;
  for (T& value : out) {
    if (fresh || at.element % 4 == 0) block = BlockAt(seed, at);
    fresh = false;
    value = of(block, static_cast<int>(at.element % 4));
    ++at.element;
  }
}

}  // namespace

Block Philox4x32(const Block& counter, const std::array<uint32_t, 2>& key) {
  auto [c0, c1, c2, c3] = counter;
  auto [k0, k1] = key;
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = uint64_t{kMultiplier0} * c0;
    const uint64_t product1 = uint64_t{kMultiplier1} * c2;
    c0 = static_cast<uint32_t>(product1 >> 32) ^ c1 ^ k0;
    c2 = static_cast<uint32_t>(product0 >> 32) ^ c3 ^ k1;
    c1 = static_cast<uint32_t>(product1);
    c3 = static_cast<uint32_t>(product0);
    k0 += kWeyl0;
    k1 += kWeyl1;
  }
  return {c0, c1, c2, c3};
}

Block CounterOf(const RandomPosition& position) {
  const uint64_t quad = position.element / 4;
  LS_CHECK_LT(position.item, uint64_t{1} << 56);
  LS_CHECK_LT(quad, uint64_t{1} << 48);
  const uint64_t low = quad | position.item << 48;
  const uint64_t high = position.item >> 16 | uint64_t{position.layer} << 40 |
                        static_cast<uint64_t>(position.stream) << 56;
  return {static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32),
          static_cast<uint32_t>(high), static_cast<uint32_t>(high >> 32)};
}

uint32_t RandomU32(uint64_t seed, const RandomPosition& position) {
  return BlockAt(seed, position)[position.element % 4];
}

float RandomUniform(uint64_t seed, const RandomPosition& position) {
  return UniformOf(RandomU32(seed, position));
}

float RandomNormal(uint64_t seed, const RandomPosition& position) {
  return NormalOf(BlockAt(seed, position),
                  static_cast<int>(position.element % 4));
}

void FillRandomU32(uint64_t seed, RandomPosition first,
                   std::span<uint32_t> out) {
  Fill(seed, first, out, [](const Block& b, int lane) { return b[lane]; });
}

void FillRandomUniform(uint64_t seed, RandomPosition first,
                       std::span<float> out) {
  Fill(seed, first, out,
       [](const Block& b, int lane) { return UniformOf(b[lane]); });
}

void FillRandomNormal(uint64_t seed, RandomPosition first,
                      std::span<float> out) {
  Fill(seed, first, out,
       [](const Block& b, int lane) { return NormalOf(b, lane); });
}

}  // namespace lockstep
