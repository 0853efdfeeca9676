#include <emmintrin.h>

#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "determinism/fingerprint.h"
#include "determinism/fingerprint_pieces.h"
#include "determinism/status.h"
#include "tools/bench/benches.h"
#include "tools/bench/in_turns.h"

namespace lockstep {
namespace {

constexpr int kRounds = 7;
constexpr size_t kCached = size_t{64} << 10;     // bytes, of all tensors
constexpr size_t kUncached = size_t{256} << 20;  // beyond any cache
constexpr size_t kWork = size_t{512} << 20;      // bytes read a round

// So that no call is optimised away.
struct Sink {
  uint64_t value = 0;
};

// Every byte once, and as little as can be done with it.
void Read(const std::vector<uint32_t>& words, Sink& sink) {
  __m128i sums[4] = {};
  const auto* from = reinterpret_cast<const __m128i*>(words.data());
  for (size_t i = 0; i < words.size() / 4; i += std::size(sums)) {
    for (size_t k = 0; k < std::size(sums); ++k) {
      sums[k] = _mm_xor_si128(sums[k], _mm_load_si128(from + i + k));
    }
  }
  for (const __m128i sum : sums) {
    sink.value += static_cast<uint64_t>(_mm_cvtsi128_si64(sum));
  }
}

// `words` as so many tensors of one shape, one behind the other.
void Take(const std::vector<uint32_t>& words, size_t tensors, Sink& sink) {
  const size_t each = words.size() / tensors;
  std::vector<const void*> data;
  for (size_t t = 0; t < tensors; ++t) data.push_back(&words[t * each]);
  std::vector<Fingerprint> sums(tensors);
  AddFingerprints(data, each * sizeof(uint32_t), 0, sums);
  for (const Fingerprint& sum : sums) sink.value += sum.lane[0];
}

BenchCase Measure(const std::string& name, size_t bytes, size_t tensors) {
  std::vector<uint32_t> words(bytes / sizeof(uint32_t));
  for (size_t i = 0; i < words.size(); ++i) {
    words[i] = static_cast<uint32_t>(i * 2654435761u);
  }
  Sink sink;
  const size_t repeats = kWork / bytes;
  const PairedSeconds best = InTurns(
      kRounds,
      [&] {
        for (size_t i = 0; i < repeats; ++i) Take(words, tensors, sink);
      },
      [&] {
        for (size_t i = 0; i < repeats; ++i) Read(words, sink);
      });
  BenchCase result = {.name = name, .unit = "GB/s"};
  const double gigabytes = static_cast<double>(repeats * bytes) * 1e-9;
  result.rate = gigabytes / best.first;
  result.probe = gigabytes / best.second;
  result.ratio = result.rate / result.probe;
  return result;
}

}  // namespace

absl::StatusOr<std::vector<BenchCase>> BenchFingerprint(
    const BenchOptions& options) {
  if (!options.peer.empty()) {
    return InputError("bench fingerprint has no peer", "--peer " + options.peer,
                      "leave it out");
  }
  return std::vector<BenchCase>{
      Measure("one tensor, from memory", kUncached, 1),
      Measure("four of a shape, from memory", kUncached, 4),
      Measure("one tensor, in cache", kCached, 1),
      Measure("four of a shape, in cache", kCached, 4)};
}

}  // namespace lockstep
