#include "model/tensor_axis.h"

#include <cstring>
#include <utility>
#include <vector>

#include "determinism/check.h"
#include "determinism/status.h"
#include "model/kernels/cast/cast.h"
#include "model/tensor.h"

namespace lockstep {
namespace {

constexpr int64_t kWord = sizeof(int64_t);

// Calls copy(byte of `whole`, byte of the parts, bytes) for every run of rows
// that lies together in both.
template <class Copy>
void ForRuns(const StreamShape& shape, int64_t degree, int64_t row_bytes,
             int64_t stride, Copy copy) {
  const int64_t run = shape.tokens / degree * row_bytes;
  for (int64_t part = 0; part < degree; ++part) {
    for (int64_t sample = 0; sample < shape.samples; ++sample) {
      copy((sample * degree + part) * run, part * stride + sample * run, run);
    }
  }
}

}  // namespace

TensorAxis::TensorAxis(int64_t slices) {
  LS_CHECK(slices > 0 && (slices & (slices - 1)) == 0) << slices;
  share_.slices = slices;
}

TensorAxis::TensorAxis(Communicator& communicator,
                       const TensorAxisOptions& options)
    : communicator_(&communicator),
      share_{communicator.size(), communicator.rank(), options.slices},
      sequence_parallel_(options.sequence_parallel && communicator.size() > 1),
      copies_(options.copies),
      fast_sums_(options.fast_sums) {
  LS_CHECK(options.slices > 0 && (options.slices & (options.slices - 1)) == 0)
      << options.slices;
  LS_CHECK_EQ(options.slices % share_.degree, 0) << "slices of no rank";
  LS_CHECK_EQ(share_.degree % copies_, 0) << "copies";
}

absl::StatusOr<std::unique_ptr<TensorAxis>> TensorAxis::Make(
    Communicator& communicator, const TensorAxisOptions& options) {
  std::unique_ptr<TensorAxis> axis(new TensorAxis(communicator, options));
  if (options.copies == 1) return axis;
  const int rank = communicator.rank();
  const auto copies = static_cast<int>(options.copies);
  LS_ASSIGN_OR_RETURN(axis->copy_ranks_,
                      communicator.Split(rank / copies, rank % copies));
  return axis;
}

void TensorAxis::AllReduce(Communicator& communicator,
                           std::span<float> values) {
  if (!status_.ok()) return;
  status_ = fast_sums_ ? communicator.AllReduceFastSum(values)
                       : communicator.AllReduceTree(values);
}

void TensorAxis::ReduceScatter(std::span<float> values) {
  if (!status_.ok()) return;
  const auto ranks = static_cast<size_t>(share_.degree);
  const std::vector<int64_t> counts(
      ranks, static_cast<int64_t>(values.size() / ranks));
  status_ = communicator_->ReduceScatterTree(values, counts);
}

int64_t TensorAxis::PartBytes(const StreamShape& shape, DType dtype) const {
  LS_CHECK_EQ(shape.tokens % share_.degree, 0);
  return shape.rows() / share_.degree * shape.width *
         static_cast<int64_t>(SizeOf(dtype));
}

void TensorAxis::ToParts(const StreamShape& shape, DType dtype, int64_t stride,
                         const void* whole, std::byte* parts) const {
  const auto* from = static_cast<const std::byte*>(whole);
  ForRuns(shape, share_.degree,
          shape.width * static_cast<int64_t>(SizeOf(dtype)), stride,
          [&](int64_t in_whole, int64_t in_parts, int64_t bytes) {
            std::memcpy(parts + in_parts, from + in_whole,
                        static_cast<size_t>(bytes));
          });
}

void TensorAxis::FromParts(const StreamShape& shape, DType dtype,
                           int64_t stride, const std::byte* parts,
                           void* whole) const {
  auto* to = static_cast<std::byte*>(whole);
  ForRuns(shape, share_.degree,
          shape.width * static_cast<int64_t>(SizeOf(dtype)), stride,
          [&](int64_t in_whole, int64_t in_parts, int64_t bytes) {
            std::memcpy(to + in_whole, parts + in_parts,
                        static_cast<size_t>(bytes));
          });
}

void TensorAxis::SumStream(Device& device, const StreamShape& shape,
                           float* partial, void* out, DType out_dtype) {
  LS_CHECK(!alone()) << "nobody to add to";
  const int64_t count = shape.rows() * shape.width;
  Tensor parts;
  const float* sum = partial;
  if (!sequence_parallel_) {
    AllReduce(*communicator_, {partial, static_cast<size_t>(count)});
  } else {
    const int64_t bytes = PartBytes(shape, DType::kF32);
    float* values = partial;
    if (shape.samples > 1) {
      parts = Tensor::Uninit(device, DType::kF32, {count});
      values = parts.data<float>();
      ToParts(shape, DType::kF32, bytes, partial,
              static_cast<std::byte*>(parts.raw()));
    }
    ReduceScatter({values, static_cast<size_t>(count)});
    sum = values + share_.index * (count / share_.degree);
  }
  Cast(device, {.n = StreamRows(shape) * shape.width,
                .src = sum,
                .src_dtype = DType::kF32,
                .dst = out,
                .dst_dtype = out_dtype});
}

void TensorAxis::GatherTokens(Device& device, const StreamShape& shape,
                              DType dtype, const void* slice, void* whole) {
  LS_CHECK(sequence_parallel_) << "every rank has all tokens";
  if (!status_.ok()) return;
  const int64_t bytes = PartBytes(shape, dtype);
  const auto all = static_cast<size_t>(bytes * share_.degree);
  const std::span<const std::byte> mine(static_cast<const std::byte*>(slice),
                                        static_cast<size_t>(bytes));
  if (shape.samples == 1) {
    status_ =
        communicator_->AllGather(mine, {static_cast<std::byte*>(whole), all});
    return;
  }
  Tensor parts = Tensor::Uninit(device, dtype, {shape.rows(), shape.width});
  auto* data = static_cast<std::byte*>(parts.raw());
  status_ = communicator_->AllGather(mine, {data, all});
  FromParts(shape, dtype, bytes, data, whole);
}

void TensorAxis::SelectStream(Device& device, const StreamShape& shape,
                              DType dtype, const void* whole, void* out) {
  LS_CHECK(!alone()) << "nobody to select from";
  if (!status_.ok()) return;
  const int64_t ranks = share_.degree;
  const int64_t bytes =
      sequence_parallel_
          ? PartBytes(shape, dtype)
          : shape.rows() * shape.width * static_cast<int64_t>(SizeOf(dtype));
  const int64_t words = (bytes + kWord - 1) / kWord;
  const int64_t parts = sequence_parallel_ ? ranks : 1;
  Tensor bits = Tensor::Zeros(device, DType::kI64, {parts * words});
  auto* data = static_cast<std::byte*>(bits.raw());
  const std::span<int64_t> values(bits.data<int64_t>(),
                                  static_cast<size_t>(parts * words));
  if (sequence_parallel_) {
    ToParts(shape, dtype, words * kWord, whole, data);
    const std::vector<int64_t> counts(static_cast<size_t>(ranks), words);
    status_ = communicator_->ReduceScatterSum(values, counts);
    data += share_.index * words * kWord;
  } else {
    std::memcpy(data, whole, static_cast<size_t>(bytes));
    status_ = communicator_->AllReduceSum(values);
  }
  std::memcpy(out, data, static_cast<size_t>(bytes));
}

void TensorAxis::Sum(std::span<float> values) {
  LS_CHECK(!alone()) << "nobody to add to";
  AllReduce(*communicator_, values);
}

void TensorAxis::SumCopies(std::span<float> values) {
  LS_CHECK(copy_ranks_ != nullptr) << "nobody else has this head";
  AllReduce(*copy_ranks_, values);
}

void TensorAxis::Max(std::span<float> values) {
  LS_CHECK(!alone()) << "nobody to compare with";
  if (!status_.ok()) return;
  status_ = communicator_->AllReduceMax(values);
}

}  // namespace lockstep
