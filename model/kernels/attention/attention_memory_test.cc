// No tokens x tokens matrix: what attention allocates grows with the tokens,
// not with their square. The test counts every allocation of the process, so
// nothing that a kernel takes escapes it.

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "determinism/dtype.h"
#include "determinism/environment.h"
#include "gtest/gtest.h"
#include "model/device.h"
#include "model/kernels/attention/attention.h"

namespace {

std::atomic<int64_t> live_bytes{0};
std::atomic<int64_t> peak_bytes{0};

__attribute__((noinline)) void* Counted(void* data) {
  if (data == nullptr) std::abort();
  const int64_t size = static_cast<int64_t>(malloc_usable_size(data));
  const int64_t now = live_bytes.fetch_add(size) + size;
  int64_t peak = peak_bytes.load();
  while (now > peak && !peak_bytes.compare_exchange_weak(peak, now)) {
  }
  return data;
}

__attribute__((noinline)) void Release(void* data) {
  if (data == nullptr) return;
  live_bytes.fetch_sub(static_cast<int64_t>(malloc_usable_size(data)));
  std::free(data);
}

}  // namespace

void* operator new(size_t size) { return Counted(std::malloc(size)); }
void* operator new(size_t size, std::align_val_t alignment) {
  const auto align = static_cast<size_t>(alignment);
  return Counted(std::aligned_alloc(align, (size + align - 1) / align * align));
}
void operator delete(void* data) noexcept { Release(data); }
void operator delete(void* data, size_t) noexcept { Release(data); }
void operator delete(void* data, std::align_val_t) noexcept { Release(data); }
void operator delete(void* data, size_t, std::align_val_t) noexcept {
  Release(data);
}

namespace lockstep {
namespace {

// The most bytes that were live during `run`, above those before it.
template <class Run>
int64_t PeakOf(Run run) {
  const int64_t before = live_bytes.load();
  peak_bytes = before;
  run();
  return peak_bytes.load() - before;
}

struct Peaks {
  int64_t forward, backward;
};

// One head, so that what grows is a head's own.
Peaks PeaksOf(Isa isa, DType dtype, int64_t tokens) {
  constexpr int64_t kHeadDim = 16;
  const AttentionShape shape{1, tokens, 1, 1, kHeadDim, 64};
  const std::vector<float> in(tokens * kHeadDim);  // +0 in any type
  std::vector<float> o(in), dq(in), dk(in), dv(in), lse(tokens);
  const AttentionInputs inputs{dtype,    in.data(), kHeadDim, in.data(),
                               kHeadDim, in.data(), kHeadDim, nullptr};
  Device device(1, isa);
  const int64_t forward = PeakOf([&] {
    AttentionForward(device, shape, inputs, o.data(), kHeadDim, lse.data());
  });
  const int64_t backward = PeakOf([&] {
    AttentionBackward(
        device, shape, inputs, o.data(), kHeadDim, lse.data(), in.data(),
        kHeadDim,
        {dq.data(), kHeadDim, dk.data(), kHeadDim, dv.data(), kHeadDim, 0});
  });
  EXPECT_EQ(device.peak_bytes(), 0) << "count the device's memory as well";
  return {forward, backward};
}

void ExpectLinear(int64_t of_t, int64_t of_2t, int64_t tokens,
                  const std::string& what) {
  EXPECT_GE(of_t, tokens * 16) << what << ": nothing was counted";
  EXPECT_LE(of_2t, 2 * of_t + 4096) << what;
}

TEST(AttentionMemory, ScratchGrowsWithTheTokensNotWithTheirSquare) {
  constexpr int64_t kTokens = 512;
  int64_t compared = 0;
  for (const Isa isa : PresentIsas()) {
    for (const DType dtype : {DType::kF32, DType::kBF16}) {
      const Peaks of_t = PeaksOf(isa, dtype, kTokens);
      const Peaks of_2t = PeaksOf(isa, dtype, 2 * kTokens);
      const std::string what = std::string(NameOf(isa)) + ", " + NameOf(dtype);
      ExpectLinear(of_t.forward, of_2t.forward, kTokens, "forward, " + what);
      ExpectLinear(of_t.backward, of_2t.backward, kTokens, "backward, " + what);
      ++compared;
    }
  }
  EXPECT_EQ(compared, 2 * static_cast<int64_t>(PresentIsas().size()));
}

// The canary: a matrix of scores is seen, and is not linear.
TEST(AttentionMemory, AMatrixOfScoresIsSeen) {
  const auto scores = [](int64_t tokens) {
    return PeakOf([=] {
      const std::vector<float> matrix(tokens * tokens);
      EXPECT_EQ(matrix.back(), 0);
    });
  };
  EXPECT_GE(scores(512), 512 * 512 * 4);
  EXPECT_GT(scores(1024), 3 * scores(512));
}

}  // namespace
}  // namespace lockstep
