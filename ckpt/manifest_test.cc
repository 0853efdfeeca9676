// The manifest as a file, and the table of what a resume accepts.

#include "ckpt/manifest.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "ckpt/manifest_compare.h"
#include "determinism/memory_file_system.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

constexpr Guarantee kRungs[] = {Guarantee::kStatistical, Guarantee::kStateExact,
                                Guarantee::kBitwise,
                                Guarantee::kLayoutInvariant};

Manifest Sample() {
  Manifest m;
  m.run_id = "run-a";
  m.created_ms = 1234567890123;
  m.code = {"c0ffee", false, std::string(64, '1'), true};
  m.recipe.name = "debug";
  m.recipe.trajectory_text =
      "model.hidden = 64\nmodel.pattern = \"M-|M*-\"\noptimizer.lr = 0.001\n"
      "data.tokenizer = \"byte\"\nseed = 18446744073709551615\n";
  m.recipe.text =
      m.recipe.trajectory_text + "checkpoint.every = 5\ntrain.steps = 20\n";
  m.recipe.trajectory = std::string(64, '2');
  m.recipe.full = std::string(64, '3');
  m.order = "fp32chain";
  m.compiler = "GCC 12.2.0 -c opt";
  m.libraries = {{"protobuf", "3.21.12"}, {"absl", "20220623"}};
  m.hardware = {{"cpu_model", "Xeon"}, {"hostname", "alpha"}};
  m.data = {{"a.txt", 10, std::string(64, '4')},
            {"b.txt", 20, std::string(64, '5')}};
  m.tokenizer = {"byte", "hash"};
  m.layout = {4, 2, 2, 1, 2, 3};
  m.root_seed = 18446744073709551615u;
  m.guarantee = Guarantee::kBitwise;
  m.schedule_length_samples = 320;
  m.ledger_head = std::string(64, '0');
  m.faults = {"kind=flip,step=7"};
  return m;
}

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

// The verdict on `key` of each rung, as letters; '-' where there is no such
// difference. Every other difference must be harmless.
std::string Verdicts(const Manifest& current, const std::string& key) {
  std::string letters;
  for (const Guarantee rung : kRungs) {
    char letter = '-';
    for (const auto& d : CompareManifests(Sample(), current, rung)) {
      if (d.key == key) {
        letter = "HRN"[static_cast<int>(d.verdict)];
      } else {
        EXPECT_EQ(d.verdict, Verdict::kHarmless) << d.key << " beside " << key;
      }
    }
    letters += letter;
  }
  return letters;
}

Manifest With(void (*change)(Manifest&)) {
  Manifest m = Sample();
  change(m);
  return m;
}

// In both texts.
Manifest WithKey(const std::string& from, const std::string& to) {
  Manifest m = Sample();
  for (std::string* text : {&m.recipe.trajectory_text, &m.recipe.text}) {
    const size_t at = text->find(from);
    if (at != std::string::npos) text->replace(at, from.size(), to);
  }
  return m;
}

TEST(Compare, EqualManifestsHaveNoDifference) {
  for (const Guarantee rung : kRungs) {
    EXPECT_TRUE(CompareManifests(Sample(), Sample(), rung).empty());
  }
}

TEST(Compare, CodeAndMachine) {
  EXPECT_EQ(Verdicts(With([](Manifest& m) {
                       m.code.commit = "beef";
                       m.code.binary_sha256 = std::string(64, '9');
                     }),
                     "commit"),
            "HHRR");
  EXPECT_EQ(Verdicts(With([](Manifest& m) {
                       m.code.dirty = true;
                       m.code.binary_sha256 = std::string(64, '9');
                     }),
                     "dirty"),
            "HHRR");
  EXPECT_EQ(Verdicts(With([](Manifest& m) {
                       m.code.binary_sha256 = std::string(64, '9');
                     }),
                     "binary"),
            "HHRR");
  // Equal bytes are equal code, whatever the stamp says.
  EXPECT_EQ(Verdicts(With([](Manifest& m) {
                       m.code.dirty = true;
                       m.code.commit = "unstamped";
                     }),
                     "dirty"),
            "----");
  EXPECT_EQ(
      Verdicts(With([](Manifest& m) { m.compiler = "GCC 13"; }), "compiler"),
      "HHRR");
  EXPECT_EQ(Verdicts(With([](Manifest& m) { m.libraries["absl"] = "2030"; }),
                     "libraries.absl"),
            "HHRR");
  EXPECT_EQ(Verdicts(With([](Manifest& m) { m.libraries.erase("absl"); }),
                     "libraries.absl"),
            "HHRR");
  EXPECT_EQ(Verdicts(With([](Manifest& m) { m.image_digest = "sha256:0"; }),
                     "image_digest"),
            "HHRR");
  EXPECT_EQ(Verdicts(With([](Manifest& m) { m.order = "amx32"; }), "order"),
            "HHRR");
  EXPECT_EQ(Verdicts(With([](Manifest& m) { m.hardware["cpu_model"] = "E"; }),
                     "hardware.cpu_model"),
            "HHHH");
  EXPECT_EQ(Verdicts(With([](Manifest& m) { m.faults.clear(); }), "faults"),
            "HHHH");
  EXPECT_EQ(Verdicts(With([](Manifest& m) { m.created_ms = 5; }), "created_ms"),
            "----");
}

TEST(Compare, Layout) {
  EXPECT_EQ(
      Verdicts(With([](Manifest& m) { m.layout.data = 4; }), "layout.data"),
      "HHRH");
  EXPECT_EQ(Verdicts(With([](Manifest& m) { m.layout.micro_batch = 4; }),
                     "layout.micro_batch"),
            "HHRH");
  EXPECT_EQ(Verdicts(With([](Manifest& m) { m.layout.threads = 9; }),
                     "layout.threads"),
            "HHHH");
  EXPECT_EQ(Verdicts(WithKey("M-|M*-", "M-M*|-"), "model.pattern"), "HHRH");
}

TEST(Compare, DataIsNeverSwapped) {
  // Case 35: the old cursor would point into other samples.
  EXPECT_EQ(Verdicts(With([](Manifest& m) {
                       m.data[0].sha256 = std::string(64, '9');
                     }),
                     "data.content.a.txt"),
            "NNNN");
  EXPECT_EQ(Verdicts(With([](Manifest& m) {
                       m.data[0] = {"c.txt", 10, std::string(64, '9')};
                     }),
                     "data.files"),
            "RRRR");
  EXPECT_EQ(
      Verdicts(With([](Manifest& m) { m.data.pop_back(); }), "data.files"),
      "RRRR");
  EXPECT_EQ(Verdicts(With([](Manifest& m) { m.data[0].path = "/x/a.txt"; }),
                     "data.path.a.txt"),
            "HHHH");
  EXPECT_EQ(Verdicts(With([](Manifest& m) { m.tokenizer.hash = "other"; }),
                     "tokenizer"),
            "NNNN");
  EXPECT_EQ(Verdicts(WithKey("\"byte\"", "\"bpe\""), "data.tokenizer"), "NNNN");
}

TEST(Compare, RecipeKeys) {
  EXPECT_EQ(Verdicts(WithKey("optimizer.lr = 0.001", "optimizer.lr = 0.002"),
                     "optimizer.lr"),
            "RRRR");
  EXPECT_EQ(Verdicts(WithKey("optimizer.lr = 0.001\n", ""), "optimizer.lr"),
            "RRRR");
  EXPECT_EQ(Verdicts(WithKey("model.hidden = 64", "model.hidden = 128"),
                     "model.hidden"),
            "NNNN");
  EXPECT_EQ(Verdicts(WithKey("M-|M*-", "M-|M--"), "model.pattern"), "NNNN");
  EXPECT_EQ(
      Verdicts(WithKey("train.steps = 20", "train.steps = 40"), "train.steps"),
      "HHHH");
  // Case 11: another length must not bend the curve in silence.
  EXPECT_EQ(Verdicts(With([](Manifest& m) { m.schedule_length_samples = 640; }),
                     "schedule_length_samples"),
            "RRRR");
  Manifest seed = WithKey("seed = 18446744073709551615", "seed = 1");
  seed.root_seed = 1;
  EXPECT_EQ(Verdicts(seed, "seed"), "RRRR");
  EXPECT_EQ(
      Verdicts(With([](Manifest& m) { m.guarantee = Guarantee::kStatistical; }),
               "guarantee"),
      "RRRR");
}

absl::Status Check(const Manifest& current,
                   const std::vector<std::string>& allow,
                   const std::string& reason) {
  return CheckDifferences(
      CompareManifests(Sample(), current, Guarantee::kBitwise), allow, reason);
}

TEST(Check, RefusalNamesAllKeysBothValuesAndTheWayOut) {
  Manifest m = WithKey("optimizer.lr = 0.001", "optimizer.lr = 0.002");
  m.compiler = "GCC 13";
  m.layout.threads = 8;
  const absl::Status status = Check(m, {}, "");
  EXPECT_EQ(ExitCodeFor(status), 3);
  const std::string text(status.message());
  for (const char* part : {"optimizer.lr: saved 0.001, now 0.002",
                           "compiler: saved GCC 12.2.0 -c opt, now GCC 13",
                           "--allow compiler,optimizer.lr --reason TEXT"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  }
  EXPECT_EQ(text.find("threads"), std::string::npos);
  EXPECT_EQ(ExitCodeFor(Check(m, {"compiler"}, "why")), 3);
  EXPECT_TRUE(Check(m, {"compiler", "optimizer.lr"}, "why").ok());
  const auto differences = CompareManifests(Sample(), m, Guarantee::kBitwise);
  EXPECT_EQ(AllowedDifferences(differences, {"compiler"}).size(), 1u);
}

TEST(Check, AllowDirtyAdmitsAnUnstampedBuild) {
  const Manifest m = With([](Manifest& m) {
    m.code = {"c0ffee", true, std::string(64, '9'), false};
  });
  EXPECT_EQ(ExitCodeFor(Check(m, {}, "")), 3);
  EXPECT_TRUE(Check(m, {"dirty"}, "trying a fix").ok());
}

TEST(Check, AllowedByGroupAndWithoutNeed) {
  const Manifest m = With([](Manifest& m) {
    m.layout.data = 4;
    m.layout.world = 8;
  });
  EXPECT_TRUE(Check(m, {"layout"}, "lost a host").ok());
  EXPECT_TRUE(Check(m, {"layout", "dirty"}, "lost a host").ok());
  EXPECT_EQ(ExitCodeFor(Check(m, {"lay"}, "lost a host")), 2);
}

TEST(Check, NeverCannotBeAllowed) {
  const Manifest m = With([](Manifest& m) { m.tokenizer.hash = "other"; });
  const absl::Status status = Check(m, {"tokenizer"}, "I insist");
  EXPECT_EQ(ExitCodeFor(status), 3);
  EXPECT_NE(std::string(status.message()).find("never accepted"),
            std::string::npos);
}

TEST(Check, AllowNeedsAReasonAndAKnownKey) {
  EXPECT_EQ(ExitCodeFor(Check(Sample(), {"dirty"}, "")), 2);
  const absl::Status status = Check(Sample(), {"dirtty"}, "why");
  EXPECT_EQ(ExitCodeFor(status), 2);
  EXPECT_NE(std::string(status.message()).find("\"dirty\""), std::string::npos);
  EXPECT_TRUE(Check(Sample(), {"dirty"}, "why").ok());
}

TEST(Table, FormatMdShowsIt) {
  std::ifstream file("ckpt/FORMAT.md");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_NE(text.str().find(DifferenceTable()), std::string::npos)
      << "FORMAT.md must hold:\n"
      << DifferenceTable();
}

}  // namespace
}  // namespace lockstep
