// Every library under //tools/bazel/third_party links and answers.

#include <Random123/philox.h>
#include <mpfr.h>
#include <openssl/sha.h>
#include <toml++/toml.h>
#include <zlib.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "tools/bazel/selftest/mpi_probe.h"
#include "tools/bazel/selftest/probe.pb.h"

namespace lockstep::selftest {
namespace {

absl::StatusOr<int> Length(absl::Span<const std::string> parts) {
  if (parts.empty()) return absl::InvalidArgumentError("empty");
  return static_cast<int>(parts.size());
}

TEST(ThirdPartyTest, Abseil) {
  const std::vector<std::string> parts = absl::StrSplit("a,b,c", ',');
  EXPECT_EQ(*Length(parts), 3);
  EXPECT_EQ(Length({}).status().ToString(), "INVALID_ARGUMENT: empty");
  EXPECT_EQ(absl::StrCat(1, "-", absl::Hex(255)), "1-ff");
  EXPECT_EQ(absl::StrFormat("%08x %.3f %s", 48879, 1.5, "x"),
            "0000beef 1.500 x");
  EXPECT_EQ(absl::StrJoin(parts, "+"), "a+b+c");
  absl::flat_hash_map<std::string, int> map = {{"a", 1}};
  absl::flat_hash_set<int> set = {1, 1, 2};
  EXPECT_EQ(map["a"], 1);
  EXPECT_EQ(set.size(), 2u);
  EXPECT_EQ(std::string(absl::Cord("cord")), "cord");
  int64_t number = 0;
  EXPECT_TRUE(absl::SimpleAtoi("42", &number));
  EXPECT_GT(absl::ToUnixSeconds(absl::Now()), 0);
}

TEST(ThirdPartyTest, TomlAndJson) {
  const toml::table table =
      toml::parse("a.b = 3", std::string_view("probe.toml"));
  EXPECT_EQ(table["a"]["b"].value<int>(), 3);
  EXPECT_EQ(nlohmann::json::parse(R"({"a": [1, 2]})")["a"][1], 2);
}

TEST(ThirdPartyTest, Protobuf) {
  Probe probe;
  probe.set_name("x");
  probe.add_values(7);
  Probe copy;
  ASSERT_TRUE(copy.ParseFromString(probe.SerializeAsString()));
  EXPECT_EQ(copy.values(0), 7u);
}

// FIPS 180-4: the digest of "abc" starts with ba7816bf.
TEST(ThirdPartyTest, Sha256) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>("abc"), 3, digest);
  EXPECT_EQ(digest[0], 0xba);
  EXPECT_EQ(digest[3], 0xbf);
}

TEST(ThirdPartyTest, Mpfr) {
  mpfr_t x;
  mpfr_init2(x, 200);
  mpfr_set_d(x, 1.0, MPFR_RNDN);
  mpfr_exp(x, x, MPFR_RNDN);
  EXPECT_EQ(mpfr_get_d(x, MPFR_RNDN), 0x1.5bf0a8b145769p+1);
  mpfr_clear(x);
}

// The published known-answer vector of a zero counter and key.
TEST(ThirdPartyTest, Philox) {
  const r123::Philox4x32::ctr_type counter = {{0, 0, 0, 0}};
  const r123::Philox4x32::key_type key = {{0, 0}};
  EXPECT_EQ(r123::Philox4x32()(counter, key)[0], 0x6627e8d5u);
}

TEST(ThirdPartyTest, ZlibAndMpi) {
  EXPECT_EQ(crc32(0, reinterpret_cast<const Bytef*>("123456789"), 9),
            0xcbf43926u);
  EXPECT_NE(MpiLibraryVersion().find("Open MPI"), std::string::npos);
}

}  // namespace
}  // namespace lockstep::selftest
