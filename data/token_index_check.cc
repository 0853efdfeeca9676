// What an index claims, held against itself and against its .bin.

#include <algorithm>
#include <limits>
#include <vector>

#include "data/token_index.h"
#include "determinism/check.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

// The entries of one table in order, a few pages at a time.
template <typename T>
class TableWalk {
 public:
  TableWalk(const CheckedFile& file, int64_t at_byte, int64_t entries)
      : file_(file), next_byte_(at_byte), left_(entries) {}

  absl::StatusOr<int64_t> Next() {
    if (at_ == bytes_.size()) {
      const int64_t count = std::min<int64_t>(left_, 1 << 13);
      LS_CHECK_GT(count, 0);
      bytes_.resize(static_cast<size_t>(count) * sizeof(T));
      LS_RETURN_IF_ERROR(file_.Read(static_cast<uint64_t>(next_byte_),
                                    bytes_.size(), bytes_.data()));
      next_byte_ += static_cast<int64_t>(bytes_.size());
      left_ -= count;
      at_ = 0;
    }
    const T value = LoadLittle<T>(&bytes_[at_]);
    at_ += sizeof(T);
    return value;
  }

 private:
  const CheckedFile& file_;
  int64_t next_byte_;
  int64_t left_;
  std::vector<std::byte> bytes_;
  size_t at_ = 0;
};

}  // namespace

absl::Status TokenIndex::CheckEnds(uint64_t bin_bytes,
                                   const std::string& bin_path) const {
  LS_ASSIGN_OR_RETURN(const int64_t first, OffsetOf(0));
  LS_ASSIGN_OR_RETURN(const int64_t offset, OffsetOf(sequence_count_ - 1));
  LS_ASSIGN_OR_RETURN(const int64_t length, LengthOf(sequence_count_ - 1));
  const bool sane = offset >= 0 && length >= 0 &&
                    offset <= std::numeric_limits<int64_t>::max() / 2;
  if (!sane || first != 0) {
    return Bad("the table of offsets contradicts itself");
  }
  const auto counted = static_cast<uint64_t>(offset + length * width());
  if (counted != bin_bytes) {
    return InputError(
        "the token file has " + std::to_string(bin_bytes) +
            " bytes, and its index (" + NameOf(type_) + ", " +
            std::to_string(width()) + " bytes a token) counts " +
            std::to_string(counted) +
            ": it is truncated, of another width, or of another pair",
        bin_path,
        "copy the .bin/.idx pair again from where it was made, or prepare it "
        "anew with `lockstep data prepare`");
  }
  if (bin_bytes == 0) {
    return Bad("the token file is empty");
  }
  LS_ASSIGN_OR_RETURN(const int64_t begin, FirstSequence(0));
  LS_ASSIGN_OR_RETURN(const int64_t end, FirstSequence(document_count_));
  if (begin != 0 || end != sequence_count_) {
    return Bad("the table of documents does not span all sequences");
  }
  return absl::OkStatus();
}

absl::Status TokenIndex::CheckSequences() const {
  TableWalk<int32_t> lengths(*file_, kIndexHeaderBytes, sequence_count_);
  TableWalk<int64_t> offsets(*file_, OffsetsAt(), sequence_count_);
  int64_t expected = 0;
  for (int64_t s = 0; s < sequence_count_; ++s) {
    LS_ASSIGN_OR_RETURN(const int64_t length, lengths.Next());
    LS_ASSIGN_OR_RETURN(const int64_t offset, offsets.Next());
    if (offset != expected || length < 0) {
      return Bad("sequence " + std::to_string(s) + " has length " +
                 std::to_string(length) + " and begins at byte " +
                 std::to_string(offset) + "; the lengths before it end at " +
                 "byte " + std::to_string(expected));
    }
    expected += length * width();
  }
  return absl::OkStatus();
}

absl::Status TokenIndex::CheckDocuments() const {
  TableWalk<int64_t> documents(*file_, DocumentsAt(), document_count_ + 1);
  int64_t previous = 0;
  for (int64_t d = 0; d <= document_count_; ++d) {
    LS_ASSIGN_OR_RETURN(const int64_t first, documents.Next());
    if (first < previous || first > sequence_count_) {
      return Bad("document " + std::to_string(d) + " begins at sequence " +
                 std::to_string(first) +
                 ", before its predecessor or beyond the last");
    }
    previous = first;
  }
  return absl::OkStatus();
}

absl::Status TokenIndex::CheckTables() const {
  LS_RETURN_IF_ERROR(CheckSequences());
  return CheckDocuments();
}

absl::StatusOr<Digest> TokenIndex::Hash() const { return file_->HashWhole(); }

}  // namespace lockstep
