#include <emmintrin.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/match.h"
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

// Every byte once, and as little as can be done with it. Sums by name: an array
// of them stays in memory, and the loop waits for its stores.
void Read(const std::vector<uint32_t>& words, Sink& sink) {
  __m128i a = {}, b = {}, c = {}, d = {};
  const auto* from = reinterpret_cast<const __m128i*>(words.data());
  for (size_t i = 0; i < words.size() / 4; i += 4) {
    a = _mm_xor_si128(a, _mm_load_si128(from + i));
    b = _mm_xor_si128(b, _mm_load_si128(from + i + 1));
    c = _mm_xor_si128(c, _mm_load_si128(from + i + 2));
    d = _mm_xor_si128(d, _mm_load_si128(from + i + 3));
  }
  const __m128i sum = _mm_xor_si128(_mm_xor_si128(a, b), _mm_xor_si128(c, d));
  sink.value += static_cast<uint64_t>(_mm_cvtsi128_si64(sum));
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

BenchCase Measure(const std::string& name, size_t bytes, size_t tensors,
                  int rounds) {
  std::vector<uint32_t> words(bytes / sizeof(uint32_t));
  for (size_t i = 0; i < words.size(); ++i) {
    words[i] = static_cast<uint32_t>(i * 2654435761u);
  }
  Sink sink;
  const size_t repeats = kWork / bytes;
  const PairedSeconds best = InTurns(
      rounds,
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
  const int rounds =
      options.rounds > 0 ? static_cast<int>(options.rounds) : kRounds;
  struct Work {
    std::string name;
    size_t bytes, tensors;
  };
  std::vector<BenchCase> cases;
  for (const Work& work : {Work{"one tensor, from memory", kUncached, 1},
                           Work{"four of a shape, from memory", kUncached, 4},
                           Work{"one tensor, in cache", kCached, 1},
                           Work{"four of a shape, in cache", kCached, 4}}) {
    if (!absl::StrContains(work.name, options.only)) continue;
    cases.push_back(Measure(work.name, work.bytes, work.tensors, rounds));
  }
  return cases;
}

}  // namespace lockstep
