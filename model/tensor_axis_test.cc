#include "model/tensor_axis.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "determinism/status.h"
#include "gtest/gtest.h"
#include "model/kernels/testing.h"
#include "parallel/thread_comm.h"

namespace lockstep {
namespace {

constexpr StreamShape kShape = {.samples = 3, .tokens = 8, .width = 7};
constexpr int64_t kCount = 3 * 8 * 7;

std::vector<float> Partial(int64_t rank) {
  return RandomFloats(kCount, 100 + static_cast<uint64_t>(rank));
}

// The tree over ranks' partials, at one element.
float Tree(int64_t degree, int64_t at) {
  std::vector<float> level;
  for (int64_t r = 0; r < degree; ++r) level.push_back(Partial(r)[at]);
  for (; level.size() > 1; level.resize(level.size() / 2)) {
    for (size_t i = 0; i < level.size() / 2; ++i) {
      level[i] = level[2 * i] + level[2 * i + 1];
    }
  }
  return level[0];
}

// Element of the whole stream that a rank's element is.
int64_t WholeElement(const TensorAxis& axis, int64_t at) {
  const int64_t tokens = axis.StreamTokens(kShape.tokens);
  const int64_t row = at / kShape.width;
  const int64_t token = axis.FirstToken(kShape.tokens) + row % tokens;
  return (row / tokens * kShape.tokens + token) * kShape.width +
         at % kShape.width;
}

// Runs `body` on every rank of an axis, for degrees 2 and 4, sequence parallel
// or not.
void OnEveryAxis(const std::function<void(TensorAxis&, Device&)>& body) {
  for (const int degree : {2, 4}) {
    for (const bool sequence_parallel : {false, true}) {
      const absl::Status status =
          RunThreadRanks(degree, [&](Communicator& comm) {
            Device device(1, BestIsa());
            auto axis =
                TensorAxis::Make(comm, {.slices = 4,
                                        .sequence_parallel = sequence_parallel,
                                        .copies = 2,
                                        .fast_sums = false});
            if (!axis.ok()) return axis.status();
            body(**axis, device);
            return (*axis)->status();
          });
      EXPECT_TRUE(status.ok()) << status;
    }
  }
}

TEST(TensorAxisTest, N4StreamsAreSummedByTheTreeAndRoundedOnce) {
  OnEveryAxis([](TensorAxis& axis, Device& device) {
    std::vector<float> partial = Partial(axis.share().index);
    std::vector<BF16> out(axis.StreamRows(kShape) * kShape.width);
    axis.SumStream(device, kShape, partial.data(), out.data(), DType::kBF16);
    int64_t wrong = 0;
    for (size_t i = 0; i < out.size(); ++i) {
      const float want = Tree(axis.share().degree,
                              WholeElement(axis, static_cast<int64_t>(i)));
      wrong += out[i].bits != ToBF16(want).bits ? 1 : 0;
    }
    EXPECT_EQ(wrong, 0) << "of " << out.size();
    const int64_t shares = axis.sequence_parallel() ? axis.share().degree : 1;
    EXPECT_EQ(static_cast<int64_t>(out.size()) * shares, kCount);
  });
}

TEST(TensorAxisTest, TokensAreGatheredInTheirPlaces) {
  OnEveryAxis([](TensorAxis& axis, Device& device) {
    if (!axis.sequence_parallel()) return;
    std::vector<float> slice(axis.StreamRows(kShape) * kShape.width);
    for (size_t i = 0; i < slice.size(); ++i) {
      slice[i] =
          static_cast<float>(WholeElement(axis, static_cast<int64_t>(i)));
    }
    std::vector<float> whole(kCount, -1.0f);
    axis.GatherTokens(device, kShape, DType::kF32, slice.data(), whole.data());
    int64_t wrong = 0;
    for (int64_t i = 0; i < kCount; ++i) wrong += whole[i] != i ? 1 : 0;
    EXPECT_EQ(wrong, 0) << "of " << kCount;
  });
}

// Rows of three bytes-odd widths of BF16: -0 and a signalling NaN arrive as
// they are.
TEST(TensorAxisTest, N4RowsAreSelectedBitByBit) {
  const auto bits_of = [](int64_t at) {
    return static_cast<uint16_t>(at % 5 == 0   ? 0x8000
                                 : at % 5 == 1 ? 0x7f81
                                               : 0x4000 + at);
  };
  OnEveryAxis([&](TensorAxis& axis, Device& device) {
    std::vector<BF16> whole(kCount, BF16{0});
    for (int64_t i = 0; i < kCount; ++i) {
      const int64_t owner = i / kShape.width % axis.share().degree;
      if (owner == axis.share().index) whole[i].bits = bits_of(i);
    }
    std::vector<BF16> out(axis.StreamRows(kShape) * kShape.width);
    axis.SelectStream(device, kShape, DType::kBF16, whole.data(), out.data());
    int64_t wrong = 0;
    for (size_t i = 0; i < out.size(); ++i) {
      const int64_t at = WholeElement(axis, static_cast<int64_t>(i));
      wrong += out[i].bits != bits_of(at) ? 1 : 0;
    }
    EXPECT_EQ(wrong, 0) << "of " << out.size();
  });
}

TEST(TensorAxisTest, CopiesAreSummedAmongTheirOwn) {
  OnEveryAxis([](TensorAxis& axis, Device&) {
    std::vector<float> values = {
        static_cast<float>(int64_t{1} << axis.share().index)};
    std::vector<float> most = values, all = values;
    axis.SumCopies(values);
    axis.Max(most);
    axis.Sum(all);
    EXPECT_EQ(values[0], axis.share().index < 2 ? 3.0f : 12.0f);
    EXPECT_EQ(most[0], axis.share().degree == 2 ? 2.0f : 8.0f);
    EXPECT_EQ(all[0], axis.share().degree == 2 ? 3.0f : 15.0f);
  });
}

TEST(TensorAxisTest, OneRankHasAllSlicesAndAllTokens) {
  const TensorAxis axis(4);
  EXPECT_TRUE(axis.alone());
  EXPECT_EQ(axis.share(), (TensorShare{1, 0, 4}));
  EXPECT_EQ(axis.StreamRows(kShape), kShape.rows());
}

// A rank that is gone: the others' axes say so, and go on to the end of their
// micro-batch without another exchange.
TEST(TensorAxisTest, AFailedExchangeIsRememberedAndTheRestDoesNothing) {
  int64_t told = 0;
  std::vector<absl::Status> seen(2);
  const absl::Status status = RunThreadRanks(2, [&](Communicator& comm) {
    auto axis = TensorAxis::Make(comm, {.slices = 2,
                                        .sequence_parallel = false,
                                        .copies = 1,
                                        .fast_sums = false});
    if (!axis.ok()) return axis.status();
    if (comm.rank() == 1) return absl::CancelledError("leaves");
    for (int i = 0; i < 3; ++i) {
      std::vector<float> values = {1.0f};
      (*axis)->Sum(values);
      (*axis)->Max(values);
      told += (*axis)->status().ok() ? 0 : 1;
    }
    seen[0] = (*axis)->status();
    return absl::OkStatus();
  });
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(seen[0].code(), absl::StatusCode::kUnavailable) << seen[0];
  EXPECT_EQ(told, 3);
}

}  // namespace
}  // namespace lockstep
