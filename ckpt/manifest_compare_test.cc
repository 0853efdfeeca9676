// The table of what a resume accepts, row by row and rung by rung.
#include "ckpt/manifest_compare.h"

#include <gtest/gtest.h>

#include "ckpt/manifest_for_test.h"
#include "determinism/guarantee.h"

namespace lockstep {
namespace {

constexpr Guarantee kRungs[] = {Guarantee::kStatistical, Guarantee::kStateExact,
                                Guarantee::kBitwise,
                                Guarantee::kLayoutInvariant};

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

TEST(Compare, EqualManifestsHaveNoDifference) {
  for (const Guarantee rung : kRungs)
    EXPECT_TRUE(CompareManifests(Sample(), Sample(), rung).empty());
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
  const auto micro = [](int64_t samples, const std::string& text) {
    Manifest m = Sample();
    m.recipe.text += text;
    return m.layout.micro_batch = samples, m;
  };
  EXPECT_EQ(Verdicts(micro(4, ""), "layout.micro_batch"), "HHHH");
  const Manifest five = micro(4, "batch.global = 20\n");
  EXPECT_EQ(Verdicts(five, "layout.micro_batch"), "HHRH");
  const Manifest cut = micro(2, "parallel.sequence = true\n");
  EXPECT_EQ(Verdicts(cut, "parallel.sequence"), "HHRH");
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
                     "schedule.length_samples"),
            "RRRR");
  Manifest seed = WithKey("seed = 18446744073709551615", "seed = 1");
  seed.root_seed = 1;
  EXPECT_EQ(Verdicts(seed, "seed"), "RRRR");
  EXPECT_EQ(
      Verdicts(With([](Manifest& m) { m.guarantee = Guarantee::kStatistical; }),
               "guarantee"),
      "RRRR");
}

// The verdict on `key` of a fork, as a letter.
std::string ForkVerdict(const Manifest& current, const std::string& key) {
  std::string letter = "-";
  for (const auto& d : CompareForFork(Sample(), current)) {
    if (d.key == key) {
      letter = std::string(1, "HRN"[static_cast<int>(d.verdict)]);
    } else {
      EXPECT_EQ(d.verdict, Verdict::kHarmless) << d.key << " beside " << key;
    }
  }
  return letter;
}

TEST(Compare, AForkMayComputeOtherwiseButNotMeanOtherThings) {
  EXPECT_TRUE(CompareForFork(Sample(), Sample()).empty());
  EXPECT_EQ(ForkVerdict(WithKey("optimizer.lr = 0.001", "optimizer.lr = 0.1"),
                        "optimizer.lr"),
            "H");
  EXPECT_EQ(ForkVerdict(With([](Manifest& m) {
                          m.code.commit = "beef";
                          m.code.binary_sha256 = "x";
                        }),
                        "commit"),
            "H");
  EXPECT_EQ(ForkVerdict(WithKey("model.hidden = 64", "model.hidden = 32"),
                        "model.hidden"),
            "N");
  EXPECT_EQ(
      ForkVerdict(WithKey("optimizer.lr", "precision.mode"), "precision.mode"),
      "N");
  EXPECT_EQ(ForkVerdict(With([](Manifest& m) { m.tokenizer.hash = "other"; }),
                        "tokenizer"),
            "N");
  EXPECT_EQ(ForkVerdict(With([](Manifest& m) {
                          m.data[0].sha256 = std::string(64, '9');
                        }),
                        "data.content.a.txt"),
            "R");
  EXPECT_EQ(ForkVerdict(With([](Manifest& m) { m.root_seed = 5; }), "seed"),
            "R");
}

}  // namespace
}  // namespace lockstep
