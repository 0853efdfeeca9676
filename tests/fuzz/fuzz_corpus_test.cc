// Every parser on its corpus, and on what is near it: cut off at each byte,
// with each byte changed, each piece taken out or doubled. Deterministic.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz_entries.h"

namespace lockstep {
namespace {

namespace files = std::filesystem;

constexpr char kCorpus[] = "tests/fuzz/corpus";
// Of an entry in the default tests; a fuzzer does the rest.
constexpr int64_t kMostNear = 3'000;

std::vector<std::string> CorpusOf(const std::string& name) {
  std::set<std::string> paths;
  for (const auto& file :
       files::directory_iterator(files::path(kCorpus) / name)) {
    paths.insert(file.path().string());
  }
  std::vector<std::string> texts;
  for (const std::string& path : paths) {
    std::ifstream file(path, std::ios::binary);
    texts.emplace_back(std::istreambuf_iterator<char>(file),
                       std::istreambuf_iterator<char>());
  }
  return texts;
}

// `stride` spreads a bounded number of changes over a long text.
int64_t RunNear(const FuzzEntry& entry, const std::string& text) {
  const size_t stride = 1 + text.size() * 6 / static_cast<size_t>(kMostNear);
  int64_t runs = 0;
  for (size_t at = 0; at < text.size(); at += stride) {
    entry.run(std::string_view(text).substr(0, at));
    std::string other = text;
    for (const int change : {0xff, 0x80, 0x01}) {
      other[at] = static_cast<char>(text[at] ^ change);
      entry.run(other);
    }
    other = text;
    entry.run(other.erase(at, 1 + at % 7));
    other = text;
    entry.run(other.insert(at, text.substr(at, 1 + at % 5)));
    runs += 6;
  }
  return runs;
}

class FuzzCorpusTest : public testing::TestWithParam<FuzzEntry> {};

TEST_P(FuzzCorpusTest, NothingCrashes) {
  const std::vector<std::string> corpus = CorpusOf(GetParam().name);
  ASSERT_FALSE(corpus.empty());
  int64_t runs = 0;
  GetParam().run("");
  for (const std::string& text : corpus) {
    GetParam().run(text);
    runs += 1 + RunNear(GetParam(), text);
  }
  EXPECT_GT(runs, static_cast<int64_t>(corpus.size()));
  RecordProperty("runs", std::to_string(runs));
}

INSTANTIATE_TEST_SUITE_P(Entries, FuzzCorpusTest,
                         testing::ValuesIn(FuzzEntries()),
                         [](const auto& info) {
                           return std::string(info.param.name);
                         });

// No corpus without a parser that reads it.
TEST(FuzzCorpusTest, EveryFolderIsAnEntrys) {
  std::set<std::string> names;
  for (const FuzzEntry& entry : FuzzEntries()) names.insert(entry.name);
  for (const auto& folder : files::directory_iterator(kCorpus)) {
    EXPECT_TRUE(names.contains(folder.path().filename().string()))
        << folder.path();
  }
  EXPECT_EQ(names.size(), FuzzEntries().size());
}

}  // namespace
}  // namespace lockstep
