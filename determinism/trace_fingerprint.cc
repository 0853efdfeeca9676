// The fingerprint of a tensor in a trace, by one thread or by many.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "determinism/tensor_place.h"
#include "determinism/trace_writer.h"

namespace lockstep {
namespace {

// Pieces add up to the same whichever thread takes them (N11).
constexpr int64_t kPieceBytes = int64_t{1} << 18;

Fingerprint FingerprintRun(const TensorRun& run, size_t element_bytes,
                           const TraceLoop& loop) {
  const auto width = static_cast<int64_t>(element_bytes);
  const int64_t size = run.count * width, at = run.element * width;
  const auto* data = static_cast<const char*>(run.data);
  const int64_t pieces = (size + kPieceBytes - 1) / kPieceBytes;
  if (!loop || pieces < 2) {
    return FingerprintBytes(data, static_cast<size_t>(size),
                            static_cast<uint64_t>(at));
  }
  std::vector<Fingerprint> parts(static_cast<size_t>(pieces));
  loop(pieces, [&](int64_t i) {
    const int64_t begin = i * kPieceBytes;
    const int64_t length = std::min(kPieceBytes, size - begin);
    parts[static_cast<size_t>(i)] =
        FingerprintBytes(data + begin, static_cast<size_t>(length),
                         static_cast<uint64_t>(at + begin));
  });
  Fingerprint sum;
  for (const Fingerprint& part : parts) sum += part;
  return sum;
}

}  // namespace

TensorFingerprint FingerprintOf(const TensorRef& tensor,
                                const TraceLoop& loop) {
  const size_t bytes = SizeOf(tensor.dtype);
  Fingerprint sum;
  ForEachRun(tensor, [&](const TensorRun& run) {
    sum += FingerprintRun(run, bytes, loop);
  });
  return {std::string(tensor.name), tensor.dtype, UnshardedShape(tensor), sum};
}

}  // namespace lockstep
