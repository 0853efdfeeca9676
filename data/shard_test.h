// What the tests of shards share: small shards of llm.c on the test double.

#ifndef DATA_SHARD_TEST_H_
#define DATA_SHARD_TEST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "data/test_files.h"
#include "data/token_shard.h"
#include "determinism/status.h"
#include "gtest/gtest.h"

namespace lockstep {

inline constexpr int32_t kGpt2 = 20240520, kLlama3 = 20240801;
inline constexpr int32_t kEnd = 50256;

inline std::string Header(int32_t magic, int32_t version, int32_t count) {
  std::string out;
  for (const int32_t word : {magic, version, count}) AppendLittle(word, out);
  out.resize(kShardHeaderBytes);
  return out;
}

template <typename T = uint16_t>
std::string Shard(const std::vector<int64_t>& tokens) {
  const bool wide = sizeof(T) == 4;
  std::string out = Header(wide ? kLlama3 : kGpt2, wide ? 7 : 1,
                           static_cast<int32_t>(tokens.size()));
  for (const int64_t token : tokens) AppendLittle(static_cast<T>(token), out);
  return out;
}

// Three shards; a document goes from the first to the last, over an empty one.
inline const std::vector<int64_t> kAll = {kEnd, 1, 2, kEnd, kEnd,
                                          3,    4, 5, kEnd, 6};
inline const std::vector<int64_t> kStarts = {0, 3, 4, 8, 10};

inline void WriteShards(FileSystem& fs) {
  WriteTestFile(fs, "/d/s_0.bin", Shard({kEnd, 1, 2, kEnd, kEnd, 3}));
  WriteTestFile(fs, "/d/s_1.bin", Shard({}));
  WriteTestFile(fs, "/d/s_2.bin", Shard({4, 5, kEnd, 6}));
}

inline void ExpectRefused(const absl::Status& status, const std::string& text) {
  EXPECT_EQ(ExitCodeFor(status), 2) << text;
  EXPECT_NE(MessageOf(status).find(text), std::string::npos)
      << "no '" << text << "' in: " << MessageOf(status);
}

}  // namespace lockstep

#endif  // DATA_SHARD_TEST_H_
