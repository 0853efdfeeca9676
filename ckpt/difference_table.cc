#include "ckpt/difference_table.h"

#include <string>

namespace lockstep {
namespace {

constexpr Verdict H = Verdict::kHarmless;
constexpr Verdict R = Verdict::kRefused;
constexpr Verdict N = Verdict::kNever;

// In samples, though its keys in steps are what they were: another batch.
constexpr std::string_view kBends = "bends the learning-rate curve";

// Columns: statistical, state_exact, bitwise, layout_invariant; a fork.
constexpr DifferenceRow kRows[] = {
    // Code and what it stands on.
    {"commit", {H, H, R, R}, H, "other code may compute other bits"},
    {"dirty", {H, H, R, R}, H, "nobody can say what a dirty build was made of"},
    {"binary",
     {H, H, R, R},
     H,
     "equal commit, other bytes: other flags or tools"},
    {kExplainedBinary,
     {H, H, H, H},
     H,
     "follows from another row of the table"},
    {"compiler", {H, H, R, R}, H, "another compiler may compute other bits"},
    {"libraries.*", {H, H, R, R}, H, "another library may compute other bits"},
    {"image_digest", {H, H, R, R}, H, "another image holds other libraries"},
    {"order", {H, H, R, R}, H, "sums are taken in another order (N1)"},
    {"hardware.*",
     {H, H, H, H},
     H,
     "kernels give equal bits on every CPU (N1)"},
    // Layout.
    {"layout.threads", {H, H, H, H}, H, "threads never change bits"},
    {"layout.micro_batch",
     {H, H, H, H},
     H,
     "sums run over samples, whatever batch they come in"},
    {kUnevenShares,
     {H, H, R, H},
     H,
     "replicas have unequal shares, and other samples each"},
    {"parallel.sequence",
     {H, H, R, H},
     H,
     "sums over tokens are cut where ranks are"},
    {"layout.*", {H, H, R, H}, H, "bits hold on one layout only on this rung"},
    {kPatternCuts, {H, H, R, H}, H, "moves the cuts between stages only"},
    // Data.
    {"data.content.*", {N, N, N, N}, R, "equal name, other content"},
    {kSameFileElsewhere, {H, H, H, H}, H, "equal content under another name"},
    {"data.files", {R, R, R, R}, R, "the cursor points into other data"},
    {"data.*", {R, R, R, R}, R, "the cursor counts other samples"},
    {"tokenizer", {N, N, N, N}, N, "token ids mean something else"},
    {"data.tokenizer", {N, N, N, N}, N, "token ids mean something else"},
    // Model shape.
    {"model.pattern", {N, N, N, N}, N, "another model"},
    {"model.hidden", {N, N, N, N}, N, "another model"},
    {"model.vocab", {N, N, N, N}, N, "another model"},
    {"model.ffn", {N, N, N, N}, N, "another model"},
    {"model.heads", {N, N, N, N}, N, "another model"},
    {"model.kv_heads", {N, N, N, N}, N, "another model"},
    {"model.head_dim", {N, N, N, N}, N, "another model"},
    {"model.mamba_heads", {N, N, N, N}, N, "another model"},
    {"model.mamba_head_dim", {N, N, N, N}, N, "another model"},
    {"model.groups", {N, N, N, N}, N, "another model"},
    {"model.state", {N, N, N, N}, N, "another model"},
    {"model.conv", {N, N, N, N}, N, "another model"},
    // The rest of the recipe.
    {"precision.mode", {R, R, R, R}, N, "weights of another number format"},
    {"guarantee", {R, R, R, R}, H, "the run would promise something else"},
    {"seed", {R, R, R, R}, R, "order of data and random streams change"},
    {"schedule.length_samples", {R, R, R, R}, H, kBends},
    {"schedule.warmup_samples", {R, R, R, R}, H, kBends},
    {"schedule.decay_samples", {R, R, R, R}, H, kBends},
    {kExplainedCurve,
     {H, H, H, H},
     H,
     "follows from another key of the schedule"},
    {kOtherTrajectoryKeys, {R, R, R, R}, H, "changes what the run computes"},
    {kOtherKeys, {H, H, H, H}, H, "changes no bit of the run"},
    // Circumstances.
    {"faults", {H, H, H, H}, H, "faults on purpose, recorded"},
};

bool Fits(std::string_view pattern, std::string_view key) {
  return pattern.ends_with('*') &&
         key.starts_with(pattern.substr(0, pattern.size() - 1));
}

}  // namespace

std::span<const DifferenceRow> DifferenceRows() { return kRows; }

const DifferenceRow* FindDifferenceRow(std::string_view key) {
  for (const DifferenceRow& row : kRows) {
    if (row.key == key) return &row;
  }
  for (const DifferenceRow& row : kRows) {
    if (Fits(row.key, key)) return &row;
  }
  return nullptr;
}

std::string DifferenceTable() {
  std::string text =
      "| key | statistical | state_exact | bitwise | layout_invariant | fork | "
      "why |\n|---|---|---|---|---|---|---|\n";
  for (const DifferenceRow& row : kRows) {
    text.append("| `").append(row.key).append("` |");
    for (const Verdict verdict : row.by_rung) {
      text.append(" ").append(NameOf(verdict)).append(" |");
    }
    text.append(" ").append(NameOf(row.fork)).append(" |");
    text.append(" ").append(row.why).append(" |\n");
  }
  return text;
}

std::string_view OwnRowOr(std::string_view key, std::string_view other) {
  const DifferenceRow* row = FindDifferenceRow(key);
  return row != nullptr && row->key == key ? row->key : other;
}

}  // namespace lockstep
