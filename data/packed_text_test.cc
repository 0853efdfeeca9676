// Text in gzip and Zstandard, whole and damaged.

#include <zlib.h>
#include <zstd.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "data/prepare.h"
#include "data/test_files.h"
#include "data/text_source.h"
#include "determinism/check.h"
#include "determinism/memory_file_system.h"
#include "determinism/status.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

std::string Gzip(const std::string& text) {
  z_stream z = {};
  LS_CHECK_EQ(
      deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY),
      Z_OK);
  std::string packed(deflateBound(&z, text.size()), '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(packed.data());
  z.avail_out = static_cast<uInt>(packed.size());
  LS_CHECK_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
  packed.resize(z.total_out);
  deflateEnd(&z);
  return packed;
}

// With the checksum that `zstd` writes.
std::string Zstd(const std::string& text) {
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  const size_t size = ZSTD_compress2(context, packed.data(), packed.size(),
                                     text.data(), text.size());
  LS_CHECK(ZSTD_isError(size) == 0);
  packed.resize(size);
  ZSTD_freeCCtx(context);
  return packed;
}

struct Format {
  std::string suffix;
  std::string (*pack)(const std::string&);
};

const std::vector<Format>& Formats() {
  static const auto* const formats =
      new std::vector<Format>{{".gz", Gzip}, {".zst", Zstd}};
  return *formats;
}

absl::StatusOr<std::string> Unpacked(FileSystem& fs, const std::string& path) {
  LS_ASSIGN_OR_RETURN(const TextFileList list, ListTextFiles(fs, {path}));
  const auto source = MakeTextSource(fs, list.files, {});
  std::string text;
  while (true) {
    LS_ASSIGN_OR_RETURN(const TextPiece piece, source->Next());
    text += piece.bytes;
    if (piece.end_of_source) {
      EXPECT_EQ(source->bytes_done(), list.bytes);
      return text;
    }
  }
}

// Letters that pack to about a third, so that pieces end anywhere.
std::string SomeText(size_t size) {
  std::mt19937 random(7);
  std::string text(size, ' ');
  for (char& c : text) c = static_cast<char>('a' + random() % 8);
  return text;
}

TEST(PackedTextTest, UnpacksWholeFilesOfAnySizeAndSeveralMembers) {
  int64_t checked = 0;
  for (const Format& format : Formats()) {
    for (const size_t size :
         {size_t{0}, size_t{1}, size_t{1} << 20, (size_t{5} << 20) + 3}) {
      MemoryFileSystem fs;
      const std::string text = SomeText(size);
      WriteTestFile(fs, "/t" + format.suffix, format.pack(text));
      const auto one = Unpacked(fs, "/t" + format.suffix);
      ASSERT_TRUE(one.ok()) << MessageOf(one.status());
      EXPECT_TRUE(*one == text) << format.suffix << " " << size;
      WriteTestFile(fs, "/t" + format.suffix,
                    format.pack(text) + format.pack("") + format.pack("b"));
      const auto three = Unpacked(fs, "/t" + format.suffix);
      ASSERT_TRUE(three.ok()) << MessageOf(three.status());
      EXPECT_TRUE(*three == text + "b") << format.suffix << " " << size;
      ++checked;
    }
  }
  EXPECT_EQ(checked, 8);
}

TEST(PackedTextTest, EveryTruncationIsRefusedByName) {
  int64_t checked = 0;
  for (const Format& format : Formats()) {
    const std::string packed = format.pack(SomeText(500));
    for (size_t size = 1; size < packed.size(); ++size) {
      MemoryFileSystem fs;
      const std::string path = "/t" + format.suffix;
      WriteTestFile(fs, path, packed.substr(0, size));
      const auto text = Unpacked(fs, path);
      ASSERT_FALSE(text.ok()) << format.suffix << " of " << size << " bytes";
      EXPECT_EQ(ExitCodeFor(text.status()), 2);
      EXPECT_NE(MessageOf(text.status()).find(path), std::string::npos);
      ++checked;
    }
    MemoryFileSystem fs;
    WriteTestFile(fs, "/d/t" + format.suffix, "");
    WriteTestFile(fs, "/d/u", "text");
    EXPECT_EQ(ExitCodeFor(Unpacked(fs, "/d").status()), 2) << "zero bytes";
  }
  EXPECT_GT(checked, 400);
}

// A flip may hit a byte that says nothing (gzip's time stamp), but no text
// other than the packed one may come out.
TEST(PackedTextTest, NoFlippedBitChangesTheText) {
  const std::string good = SomeText(300);
  int64_t refused = 0;
  int64_t checked = 0;
  for (const Format& format : Formats()) {
    const std::string packed = format.pack(good);
    for (size_t bit = 0; bit < 8 * packed.size(); ++bit) {
      MemoryFileSystem fs;
      std::string flipped = packed;
      flipped[bit / 8] ^= static_cast<char>(1 << bit % 8);
      WriteTestFile(fs, "/t" + format.suffix, flipped);
      const auto text = Unpacked(fs, "/t" + format.suffix);
      if (text.ok()) {
        EXPECT_TRUE(*text == good) << format.suffix << ", bit " << bit;
      } else {
        EXPECT_EQ(ExitCodeFor(text.status()), 2);
        ++refused;
      }
      ++checked;
    }
  }
  EXPECT_GT(refused, checked * 9 / 10);
}

TEST(PackedTextTest, BytesBehindTheEndAndOtherFormatsAreRefused) {
  for (const Format& format : Formats()) {
    MemoryFileSystem fs;
    const std::string path = "/t" + format.suffix;
    for (const std::string& contents :
         {format.pack("abc") + "more bytes", std::string("plain text"),
          format.suffix == ".gz" ? Zstd("abc") : Gzip("abc")}) {
      WriteTestFile(fs, path, contents);
      const auto text = Unpacked(fs, path);
      ASSERT_FALSE(text.ok());
      EXPECT_EQ(ExitCodeFor(text.status()), 2);
      EXPECT_NE(MessageOf(text.status()).find("damaged"), std::string::npos);
      EXPECT_NE(MessageOf(text.status()).find(path), std::string::npos);
    }
  }
}

TEST(PackedTextTest, PackedLinesBecomeTheSameTokens) {
  const std::string lines = "{\"text\":\"ab\"}\n\n{\"text\":\"c\"}\n";
  const auto tokenizer = MakeTokenizer("byte");
  MemoryFileSystem fs;
  ASSERT_TRUE(fs.MakeDirs("/out").ok());
  WriteTestFile(fs, "/p.jsonl", lines);
  WriteTestFile(fs, "/g.jsonl.gz", Gzip(lines));
  WriteTestFile(fs, "/z.jsonl.zst", Zstd(lines));
  std::vector<std::string> contents;
  for (const char* input : {"/p.jsonl", "/g.jsonl.gz", "/z.jsonl.zst"}) {
    const auto report =
        PrepareTokens(fs, {{input}, "/out/t", tokenizer->get()});
    ASSERT_TRUE(report.ok()) << MessageOf(report.status());
    EXPECT_EQ(report->documents, 2);
    EXPECT_EQ(report->tokens, 5);
    EXPECT_EQ(report->text_bytes, 3u);
    EXPECT_EQ(report->input_bytes, fs.Stat(input)->size);
    EXPECT_EQ(report->blank_lines, 1);
    contents.push_back(report->content_hash);
  }
  EXPECT_EQ(contents[0], contents[1]);
  EXPECT_EQ(contents[0], contents[2]);
}

}  // namespace
}  // namespace lockstep
