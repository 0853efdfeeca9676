// The manifest as a file.

#include "ckpt/manifest.h"

#include <gtest/gtest.h>

#include "ckpt/manifest_for_test.h"
#include "ckpt/sealed_json.h"
#include "determinism/memory_file_system.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

TEST(Manifest, RoundTrip) {
  const std::string text = ManifestToJson(Sample());
  const auto read = ManifestFromJson(text, "m");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(ManifestToJson(*read), text);
  EXPECT_EQ(read->root_seed, 18446744073709551615u);
  EXPECT_EQ(read->layout.threads, 3);
  EXPECT_EQ(read->data[1].path, "b.txt");
  EXPECT_EQ(read->faults, Sample().faults);
  MemoryFileSystem fs;
  ASSERT_TRUE(fs.MakeDirs("/run").ok());
  ASSERT_TRUE(WriteManifest(fs, "/run", Sample()).ok());
  EXPECT_EQ(ManifestToJson(*ReadManifest(fs, "/run")), text);
}

// A manifest of before the field was there is its own lineage.
TEST(Manifest, LineageIsTheRunsIdWhereNoneIsSaid) {
  Manifest m = Sample();
  m.lineage = "line";
  m.parent = {"run-p",
              "line-p",
              7,
              "p/checkpoints/step_00000007",
              std::string(64, 'a'),
              std::string(64, 'b')};
  const auto read = ManifestFromJson(ManifestToJson(m), "m");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->lineage, "line");
  EXPECT_EQ(read->parent.lineage, "line-p");
  EXPECT_EQ(read->parent.checkpoint, "p/checkpoints/step_00000007");
  EXPECT_EQ(read->parent.ledger_head, std::string(64, 'b'));
  auto json = OpenSealedJson(ManifestToJson(m));
  ASSERT_TRUE(json.ok());
  json->erase("lineage");
  json->at("parent").erase("lineage");
  const auto old = ManifestFromJson(SealJson(*json), "m");
  ASSERT_TRUE(old.ok()) << old.status();
  EXPECT_EQ(old->lineage, "run-a");
  EXPECT_EQ(old->parent.lineage, "");
}

// A reason that was given once goes along with the run; the same one from
// another step says nothing new.
TEST(Manifest, WhatWasAllowedGoesAlong) {
  Manifest m = Sample();
  Manifest::Allowed again = m.allowed[0];
  again.step = 60;
  AddAllowed(m, again);
  EXPECT_EQ(m.allowed, Sample().allowed);
  again.reason = "another";
  AddAllowed(m, again);
  const auto read = ManifestFromJson(ManifestToJson(m), "m");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->allowed, m.allowed);
  ASSERT_EQ(read->allowed.size(), 2u);
  EXPECT_EQ(read->allowed_since, 20);
  auto json = OpenSealedJson(ManifestToJson(m));
  ASSERT_TRUE(json.ok());
  json->at("allowed")[1].erase("reason");
  EXPECT_EQ(ExitCodeFor(ManifestFromJson(SealJson(*json), "m").status()), 3);
  json->erase("allowed");
  json->erase("allowed_since");
  const auto old = ManifestFromJson(SealJson(*json), "m");
  ASSERT_TRUE(old.ok()) << old.status();
  EXPECT_TRUE(old->allowed.empty());
  EXPECT_EQ(old->allowed_since, std::nullopt);
}

TEST(Manifest, EveryFlippedBitAndEveryCutIsFound) {
  const std::string good = ManifestToJson(Sample());
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    ASSERT_EQ(ExitCodeFor(ManifestFromJson(bad, "m").status()), 3) << bit;
  }
  for (size_t cut = 0; cut < good.size(); ++cut) {
    ASSERT_FALSE(ManifestFromJson(good.substr(0, cut), "m").ok()) << cut;
  }
}

}  // namespace
}  // namespace lockstep
