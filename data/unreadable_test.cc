// Input that cannot be read, and documents and vocabularies of odd sizes.
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "data/data_source.h"
#include "data/prepare.h"
#include "data/test_files.h"
#include "data/token_shards.h"
#include "data/token_store.h"
#include "determinism/memory_file_system.h"
#include "determinism/status.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

std::string TestDir(const std::string& name) {
  const std::string dir =
      std::string(std::getenv("TEST_TMPDIR")) + "/unreadable_" + name;
  FileSystem& fs = *PosixFileSystem();
  LS_CHECK(fs.RemoveTree(dir).ok() && fs.MakeDirs(dir).ok());
  return dir;
}

void ExpectRefused(const absl::Status& status, const std::string& text) {
  EXPECT_EQ(ExitCodeFor(status), 2) << text;
  EXPECT_NE(MessageOf(status).find(text), std::string::npos)
      << "no '" << text << "' in: " << MessageOf(status);
}

TEST(UnreadableTest, AFolderWhereAFileShouldBeIsRefused) {
  FileSystem& fs = *PosixFileSystem();
  const std::string dir = TestDir("folder");
  for (const char* name : {"/p.bin", "/p.idx", "/m.model", "/s/a.bin"}) {
    ASSERT_TRUE(fs.MakeDirs(dir + name).ok());
  }
  const auto open = [&](const std::string& path) {
    return OpenTokens(fs, dir + path, 257, nullptr).status();
  };
  ExpectRefused(open("/p"), dir + "/p.idx");
  ExpectRefused(open("/s"), "no shard is here");
  ExpectRefused(open("/s/*.bin"), "no shard is here");
  ExpectRefused(open("/none"), dir + "/none.idx");
  ExpectRefused(open("/none.bin"), dir + "/none.idx");
  ExpectRefused(MakeTokenizer(fs, dir + "/m.model").status(), "/m.model");
  ExpectRefused(MakeTokenizer(fs, dir + "/none.model").status(), "/none.model");
}

// For as long as it lives, modes bind this thread, also if it is root's.
class ModesBind {
 public:
  ModesBind() {
    Capabilities none = {};
    holds_ = Call(SYS_capget, had_) && Call(SYS_capset, Without(had_, none));
  }
  ~ModesBind() { EXPECT_TRUE(!holds_ || Call(SYS_capset, had_)); }
  bool holds() const { return holds_; }

 private:
  using Capabilities =
      std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3>;

  static bool Call(long call, Capabilities& data) {
    __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    return syscall(call, &header, data.data()) == 0;
  }
  static Capabilities& Without(const Capabilities& had, Capabilities& left) {
    left = had;
    for (const int dac : {CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH}) {
      left[0].effective &= ~(uint32_t{1} << dac);
    }
    return left;
  }

  Capabilities had_ = {};
  bool holds_ = false;
};

TEST(UnreadableTest, AFileWithoutPermissionIsRefusedByName) {
  const ModesBind modes;
  ASSERT_TRUE(modes.holds());
  FileSystem& fs = *PosixFileSystem();
  const std::string dir = TestDir("permission");
  WriteTestTokens(fs, dir + "/p", 257, {{1, 2}});
  WriteTestFile(fs, dir + "/a.txt", "text");
  for (const char* name : {"/p.bin", "/a.txt"}) {
    ASSERT_EQ(chmod((dir + name).c_str(), 0), 0);
  }
  ExpectRefused(OpenTokens(fs, dir + "/p", 257, nullptr).status(), "/p.bin");
  const auto tokenizer = MakeTokenizer("byte");
  ExpectRefused(PrepareTokens(fs, {.inputs = {dir + "/a.txt"},
                                   .output_prefix = dir + "/out",
                                   .tokenizer = tokenizer->get()})
                    .status(),
                "/a.txt");
  // And where nothing may be written: the user's to mend as well.
  WriteTestFile(fs, dir + "/b.txt", "text");
  ASSERT_TRUE(fs.MakeDirs(dir + "/shut").ok());
  ASSERT_EQ(chmod((dir + "/shut").c_str(), 0555), 0);
  ExpectRefused(PrepareTokens(fs, {.inputs = {dir + "/b.txt"},
                                   .output_prefix = dir + "/shut/out",
                                   .tokenizer = tokenizer->get()})
                    .status(),
                "/shut/out.bin.tmp");
}

// Two bytes hold ids below 65536, whatever the model's vocabulary is.
TEST(UnreadableTest, Uint16IsReadUnderALargerVocabulary) {
  MemoryFileSystem fs;
  std::vector<int32_t> ids = {0, 1, 65498};
  WriteTestTokens(fs, "/d/t", 65499, {ids});
  std::string bin = ReadTestFile(fs, "/d/t.bin");
  bin[4] = bin[5] = '\xff';
  ASSERT_TRUE(fs.Remove("/d/t.blocks").ok());
  WriteTestFile(fs, "/d/t.bin", bin);
  ids[2] = 65535;
  const auto store = OpenTokens(fs, "/d/t", 100'000, nullptr);
  ASSERT_TRUE(store.ok()) << MessageOf(store.status());
  EXPECT_EQ((*store)->type(), TokenType::kU16);
  std::vector<int32_t> tokens(3);
  ASSERT_TRUE((*store)->Read(0, tokens).ok());
  EXPECT_EQ(tokens, ids);
  ExpectRefused((*OpenTokens(fs, "/d/t", 65535, nullptr))->Read(0, tokens),
                "id 65535, vocab 65535");
}

// NVIDIA/Megatron-LM#62: documents of no text and of one token, one exactly as
// long as a sample and one longer: every token is predicted once.
TEST(UnreadableTest, DocumentsOfAnyLengthAreCoveredOnce) {
  MemoryFileSystem fs;
  std::vector<std::vector<int32_t>> documents;
  int32_t next = 0;
  for (const int length : {1, 1, 8, 9, 1, 30, 7, 1}) {
    std::vector<int32_t>& document = documents.emplace_back();
    for (int i = 0; i < length; ++i) document.push_back(next++);
  }
  WriteTestTokens(fs, "/d/t", 257, documents);
  for (const bool reset : {false, true}) {
    const auto source = DataSource::Open(fs, "/d/t",
                                         {.vocab_size = 257,
                                          .sequence = 8,
                                          .validation_fraction = 0,
                                          .reset_at_documents = reset},
                                         nullptr);
    ASSERT_TRUE(source.ok()) << MessageOf(source.status());
    EXPECT_EQ(source->train_samples(), 7);
    std::vector<int32_t> tokens(9), segments(8);
    std::vector<uint8_t> mask(8);
    int64_t masked = 0;
    for (int64_t s = 0; s < 7; ++s) {
      ASSERT_TRUE(source->TrainSample(s, {tokens, mask, segments}).ok());
      for (int64_t t = 0; t < 9; ++t) EXPECT_EQ(tokens[t], 8 * s + t);
      for (const uint8_t counts : mask) masked += counts == 0 ? 1 : 0;
    }
    EXPECT_EQ(masked, reset ? 6 : 0);  // documents that begin in 1 .. 56
  }
}

}  // namespace
}  // namespace lockstep
