#include "determinism/fingerprint.h"

#include <algorithm>
#include <cstring>

#include "determinism/check.h"
#include "determinism/cpu_level.h"
#include "determinism/fingerprint_kernel.h"
#include "determinism/sha256.h"

namespace lockstep {
namespace {

using fingerprint_internal::AddWords;
using fingerprint_internal::Fmix32;
using fingerprint_internal::KeyOf;

// Adds a word whose bytes [begin, begin + count) are given and the rest zero.
void AddPartialWord(const unsigned char* data, uint64_t index, size_t begin,
                    size_t count, Fingerprint& sum) {
  uint32_t word = 0;
  for (size_t i = 0; i < count; ++i) {
    word |= uint32_t{data[i]} << (8 * (begin + i));
  }
  const uint32_t high_mixed = Fmix32(static_cast<uint32_t>(index >> 32));
  for (int lane = 0; lane < 2; ++lane) {
    sum.lane[lane] +=
        uint64_t{word} * KeyOf(static_cast<uint32_t>(index), high_mixed, lane);
  }
}

// Adds whole words; cut where the upper half of the index changes.
void AddWholeWords(const unsigned char* data, uint64_t index, uint64_t count,
                   Fingerprint& sum) {
  const AddWords add_words =
      FastestOf<AddWords>(scalar::FingerprintWords, avx2::FingerprintWords,
                          avx512::FingerprintWords);
  while (count > 0) {
    const uint64_t until_wrap = (uint64_t{1} << 32) - (index & 0xffffffffu);
    const uint64_t now = std::min(count, until_wrap);
    add_words(data, static_cast<int64_t>(now), static_cast<uint32_t>(index),
              Fmix32(static_cast<uint32_t>(index >> 32)), sum.lane);
    data += 4 * now;
    index += now;
    count -= now;
  }
}

// A box as contiguous runs: `lengths` and `strides` (elements) of the outer
// dims that are cut, and the length of the run inside.
struct Runs {
  std::vector<int64_t> lengths;
  std::vector<int64_t> strides;
  int64_t first = 0;  // element of the unsharded tensor
  int64_t run = 1;
};

Runs RunsOf(std::span<const int64_t> global_shape,
            std::span<const int64_t> box_start,
            std::span<const int64_t> box_shape) {
  const size_t rank = global_shape.size();
  LS_CHECK_EQ(box_start.size(), rank);
  LS_CHECK_EQ(box_shape.size(), rank);
  Runs runs;
  int64_t stride = 1;
  bool contiguous = true;
  for (size_t i = rank; i-- > 0;) {
    LS_CHECK(box_start[i] >= 0 && box_shape[i] >= 0 &&
             box_start[i] + box_shape[i] <= global_shape[i])
        << "dim " << i << ": [" << box_start[i] << ", +" << box_shape[i]
        << ") of " << global_shape[i];
    runs.first += box_start[i] * stride;
    if (contiguous) {
      runs.run *= box_shape[i];
    } else {
      runs.lengths.push_back(box_shape[i]);
      runs.strides.push_back(stride);
    }
    contiguous = contiguous && box_shape[i] == global_shape[i];
    stride *= global_shape[i];
  }
  return runs;
}

std::string RecordOf(const TensorFingerprint& tensor) {
  std::string shape;
  int64_t count = 1;
  for (const int64_t extent : tensor.shape) {
    shape += (shape.empty() ? "" : ",") + std::to_string(extent);
    count *= extent;
  }
  return std::to_string(tensor.name.size()) + ":" + tensor.name + " " +
         NameOf(tensor.dtype) + " [" + shape + "] " + std::to_string(count) +
         " " + tensor.value.Hex() + "\n";
}

}  // namespace

std::string Fingerprint::Hex() const {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const uint64_t value : lane) {
    for (int shift = 60; shift >= 0; shift -= 4) {
      hex += kDigits[value >> shift & 15];
    }
  }
  return hex;
}

Fingerprint FingerprintBytes(const void* data, size_t size_bytes,
                             uint64_t byte_offset) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  Fingerprint sum;
  const size_t begin = byte_offset % 4;
  uint64_t index = byte_offset / 4;
  if (begin != 0) {
    const size_t head = std::min(size_bytes, 4 - begin);
    AddPartialWord(bytes, index, begin, head, sum);
    bytes += head;
    size_bytes -= head;
    ++index;
  }
  const uint64_t whole = size_bytes / 4;
  AddWholeWords(bytes, index, whole, sum);
  AddPartialWord(bytes + 4 * whole, index + whole, 0, size_bytes % 4, sum);
  return sum;
}

Fingerprint FingerprintBox(const void* box_data, DType dtype,
                           std::span<const int64_t> global_shape,
                           std::span<const int64_t> box_start,
                           std::span<const int64_t> box_shape) {
  const Runs runs = RunsOf(global_shape, box_start, box_shape);
  Fingerprint sum;
  for (const int64_t extent : box_shape) {
    if (extent == 0) return sum;
  }
  const size_t item_bytes = SizeOf(dtype);
  const size_t run_bytes = static_cast<size_t>(runs.run) * item_bytes;
  const auto* data = static_cast<const unsigned char*>(box_data);
  std::vector<int64_t> at(runs.lengths.size(), 0);
  int64_t element = runs.first;
  while (true) {
    sum += FingerprintBytes(data, run_bytes,
                            static_cast<uint64_t>(element) * item_bytes);
    data += run_bytes;
    // Count up in the cut dims, innermost first.
    size_t dim = 0;
    for (; dim < at.size(); ++dim) {
      element += runs.strides[dim];
      if (++at[dim] < runs.lengths[dim]) break;
      element -= at[dim] * runs.strides[dim];
      at[dim] = 0;
    }
    if (dim == at.size()) return sum;
  }
}

std::string FieldFingerprint(std::vector<TensorFingerprint> tensors) {
  std::sort(tensors.begin(), tensors.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  Sha256 hash;
  for (size_t i = 0; i < tensors.size(); ++i) {
    LS_CHECK(i == 0 || tensors[i - 1].name != tensors[i].name)
        << "two tensors named " << tensors[i].name;
    hash.Update(std::string_view(RecordOf(tensors[i])));
  }
  return hash.Hex().substr(0, 32);
}

}  // namespace lockstep
