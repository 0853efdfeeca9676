// PREFIX.idx: where sequences and documents begin in PREFIX.bin.
//
// What it is: the header and the tables of Megatron's index, each entry read
// when it is asked for. What it is not: the tokens (token_file.h). Why so: the
// tables of a large corpus are gigabytes; and they are read with pread, so that
// an index that shrinks under a run is an error and not a signal.
//
// Immutable and safe to use from several threads.

#ifndef DATA_TOKEN_INDEX_H_
#define DATA_TOKEN_INDEX_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/block_hash.h"
#include "data/checked_file.h"
#include "data/token_format.h"
#include "determinism/file_system.h"

namespace lockstep {

class TokenIndex {
 public:
  // InputError for a header that is none, or does not count the file's bytes.
  static absl::StatusOr<std::unique_ptr<TokenIndex>> Open(
      FileSystem& fs, const std::string& path);

  TokenType type() const { return type_; }
  int64_t width() const { return WidthOf(type_); }  // bytes a token
  int64_t sequence_count() const { return sequence_count_; }
  int64_t document_count() const { return document_count_; }
  uint64_t bytes() const { return file_->size(); }
  const CheckedFile& file() const { return *file_; }

  absl::StatusOr<int64_t> LengthOf(int64_t sequence) const;  // tokens
  absl::StatusOr<int64_t> OffsetOf(int64_t sequence) const;  // bytes of .bin
  // Of document 0 .. document_count().
  absl::StatusOr<int64_t> FirstSequence(int64_t document) const;

  // First token of a document of a .bin of `bin_bytes`.
  absl::StatusOr<int64_t> DocumentStart(int64_t document,
                                        uint64_t bin_bytes) const;

  // Whether the tables' ends agree with a .bin of `bin_bytes` at `bin_path`.
  absl::Status CheckEnds(uint64_t bin_bytes, const std::string& bin_path) const;

  // Walks both tables: lengths against offsets, documents ascending.
  absl::Status CheckTables() const;

  absl::StatusOr<Digest> Hash() const;

  // An InputError about this index.
  absl::Status Bad(const std::string& what) const;

 private:
  TokenIndex() = default;
  absl::Status ParseHeader();
  int64_t OffsetsAt() const {  // byte of the table
    return static_cast<int64_t>(kIndexHeaderBytes) + 4 * sequence_count_;
  }
  int64_t DocumentsAt() const { return OffsetsAt() + 8 * sequence_count_; }
  absl::Status CheckSequences() const;
  absl::Status CheckDocuments() const;

  std::unique_ptr<CheckedFile> file_;
  TokenType type_ = TokenType::kU16;
  int64_t sequence_count_ = 0;
  int64_t document_count_ = 0;
};

}  // namespace lockstep

#endif  // DATA_TOKEN_INDEX_H_
