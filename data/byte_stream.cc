#include "data/byte_stream.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <utility>

#include "data/data_error.h"
#include "determinism/check.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

// Small enough to stay in a core's cache from the read to the last use.
constexpr uint64_t kPieceBytes = uint64_t{1} << 18;
// Of a Zstandard window: 2 GiB, what `zstd --long=31` writes.
constexpr int kWindowLogMax = 31;

class PlainStream : public ByteStream {
 public:
  explicit PlainStream(std::unique_ptr<RandomAccessFile> file)
      : file_(std::move(file)) {}

  absl::StatusOr<std::string_view> Next() override {
    buffer_.resize(std::min(kPieceBytes, file_->Size() - offset_));
    LS_RETURN_IF_ERROR(
        AsInputError(file_->ReadAt(offset_, buffer_.size(), buffer_.data())));
    offset_ += buffer_.size();
    return buffer_;
  }

  uint64_t bytes_read() const override { return offset_; }

 private:
  const std::unique_ptr<RandomAccessFile> file_;
  uint64_t offset_ = 0;
  std::string buffer_;
};

// What both formats share: packed bytes in, unpacked pieces out.
class PackedStream : public ByteStream {
 public:
  PackedStream(std::unique_ptr<RandomAccessFile> file, std::string path)
      : path_(std::move(path)), plain_(std::move(file)) {}

  absl::StatusOr<std::string_view> Next() override {
    out_.resize(kPieceBytes);
    size_t made = 0;
    while (made < out_.size()) {
      if (in_.empty()) {
        LS_ASSIGN_OR_RETURN(in_, plain_.Next());
      }
      if (in_.empty()) {
        // What the decoder holds back may still come out.
        const size_t before = made;
        if (inside_) LS_RETURN_IF_ERROR(Unpack(in_, made));
        if (made > before) continue;
        if (inside_ || plain_.bytes_read() == 0) {
          return Refuse("the packed file is cut short");
        }
        break;
      }
      LS_RETURN_IF_ERROR(Unpack(in_, made));
    }
    return std::string_view(out_).substr(0, made);
  }

  uint64_t bytes_read() const override { return plain_.bytes_read(); }

 protected:
  // Takes bytes off `in` and writes to out_ from `made` on; keeps inside_.
  virtual absl::Status Unpack(std::string_view& in, size_t& made) = 0;

  absl::Status Refuse(const std::string& what) const {
    return InputError(
        what,
        path_ + ", at byte " + std::to_string(plain_.bytes_read() - in_.size()),
        "fetch the file again and compare its checksum with its source's");
  }

  char* out() { return out_.data(); }
  size_t out_size() const { return out_.size(); }

  bool inside_ = false;  // of a member or frame that has begun and not ended

 private:
  const std::string path_;
  PlainStream plain_;
  std::string_view in_;  // of plain_'s piece, not yet taken
  std::string out_;
};

class GzipStream : public PackedStream {
 public:
  GzipStream(std::unique_ptr<RandomAccessFile> file, std::string path)
      : PackedStream(std::move(file), std::move(path)) {
    // 16: a gzip header and its checksum, and no other format.
    LS_CHECK_EQ(inflateInit2(&zlib_, 16 + MAX_WBITS), Z_OK);
  }
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;
  ~GzipStream() override { inflateEnd(&zlib_); }

 private:
  absl::Status Unpack(std::string_view& in, size_t& made) override {
    zlib_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    zlib_.avail_in = static_cast<uInt>(in.size());
    zlib_.next_out = reinterpret_cast<Bytef*>(out() + made);
    zlib_.avail_out = static_cast<uInt>(out_size() - made);
    const int result = inflate(&zlib_, Z_NO_FLUSH);
    in.remove_prefix(in.size() - zlib_.avail_in);
    made = out_size() - zlib_.avail_out;
    if (result == Z_STREAM_END) {
      inside_ = false;
      LS_CHECK_EQ(inflateReset(&zlib_), Z_OK);
      return absl::OkStatus();
    }
    if (result != Z_OK && result != Z_BUF_ERROR) {
      return Refuse(
          "not gzip, or damaged: " +
          std::string(zlib_.msg == nullptr ? "no reason is given" : zlib_.msg));
    }
    inside_ = true;
    return absl::OkStatus();
  }

  z_stream zlib_ = {};
};

class ZstdStream : public PackedStream {
 public:
  ZstdStream(std::unique_ptr<RandomAccessFile> file, std::string path)
      : PackedStream(std::move(file), std::move(path)),
        zstd_(ZSTD_createDCtx()) {
    LS_CHECK(zstd_ != nullptr);
    LS_CHECK(ZSTD_isError(ZSTD_DCtx_setParameter(zstd_, ZSTD_d_windowLogMax,
                                                 kWindowLogMax)) == 0);
  }
  ZstdStream(const ZstdStream&) = delete;
  ZstdStream& operator=(const ZstdStream&) = delete;
  ~ZstdStream() override { ZSTD_freeDCtx(zstd_); }

 private:
  absl::Status Unpack(std::string_view& in, size_t& made) override {
    ZSTD_inBuffer from = {in.data(), in.size(), 0};
    ZSTD_outBuffer to = {out(), out_size(), made};
    const size_t left = ZSTD_decompressStream(zstd_, &to, &from);
    in.remove_prefix(from.pos);
    made = to.pos;
    if (ZSTD_isError(left) != 0) {
      return Refuse("not zstd, or damaged: " +
                    std::string(ZSTD_getErrorName(left)));
    }
    inside_ = left != 0;
    return absl::OkStatus();
  }

  ZSTD_DCtx* const zstd_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ByteStream>> OpenByteStream(
    FileSystem& fs, const std::string& path, uint64_t bytes, Packing packing) {
  auto file = fs.OpenRead(path);
  if (!file.ok()) {
    return AsInputError(file.status());
  }
  if ((*file)->Size() != bytes) {
    return InputError("the file changed while it was being read", path,
                      "start again when nothing writes to it");
  }
  switch (packing) {
    case Packing::kNone:
      return std::make_unique<PlainStream>(*std::move(file));
    case Packing::kGzip:
      return std::make_unique<GzipStream>(*std::move(file), path);
    case Packing::kZstd:
      return std::make_unique<ZstdStream>(*std::move(file), path);
  }
  LS_CHECK(false) << static_cast<int>(packing);
  return nullptr;
}

}  // namespace lockstep
