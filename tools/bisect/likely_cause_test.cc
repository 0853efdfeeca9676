#include "tools/bisect/likely_cause.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tools/bisect/bisect.h"

namespace lockstep {
namespace {

BisectResult Of(const std::string& verdict) {
  BisectResult r;
  r.verdict = verdict;
  return r;
}

BisectResult Parted(const std::string& phase, size_t ranks = 1) {
  BisectResult r = Of("operation");
  r.repeatable = true;
  TraceDifference trace;
  trace.first.kind = Parting::kOrigin;
  trace.first.identity.phase = phase;
  trace.ranks = {0};
  trace.partings.resize(ranks);
  r.trace = trace;
  return r;
}

BisectResult Elements(BisectResult r, int64_t differ, int64_t ulps,
                      int64_t rows_differ, int64_t columns) {
  r.elements = ElementDifference{.tensor = "y",
                                 .count = 100 * columns,
                                 .differ = differ,
                                 .ulps = {{ulps, differ}}};
  r.map = DifferenceMap{.rows = 100,
                        .columns = columns,
                        .rows_differ = rows_differ,
                        .columns_differ = columns};
  return r;
}

BisectResult Loaded(const std::string& entry) {
  BisectResult r = Of("state_after_load");
  r.state = StateDifference{.entry = entry, .entries = 1};
  return r;
}

BisectResult With(BisectResult r, const std::string& key, bool explains,
                  const std::string& field = {}) {
  if (!key.empty()) r.differences = {{key, "1", "2", explains}};
  if (!field.empty()) r.fields = {field};
  return r;
}

BisectResult Once(const std::string& field) {
  BisectResult r = With(Of("operation"), "", false, field);
  r.repeatable = false;
  r.odd_one = "b";
  return r;
}

struct Case {
  BisectResult result;
  std::string cause;  // words of the first row
};

std::vector<Case> Cases() {
  BisectResult memory = Parted("forward");
  memory.sound_memory = false;
  memory.repeatable = false;
  BisectResult layouts = Parted("forward");
  layouts.trace->across_layouts = true;
  BisectResult slipped = Of("data");
  slipped.sample = 18;
  slipped.tokens_of = 19;
  BisectResult grown = Of("saved_state");
  grown.grew_apart = true;
  BisectResult stale = Parted("forward");
  stale.from_further_back = true;
  BisectResult outside = Of("not_reproduced");
  outside.repeatable = true;
  BisectResult order = Elements(Parted("forward"), 900, 1, 90, 50);
  order.elements->ulps = {{1, 500}, {8, 350}, {4096, 50}};
  return {
      {With(Of("manifest"), "data.sha256.x", true), "changed in place"},
      {With(Of("manifest"), "layout.tensor", true), "another layout"},
      {With(Of("manifest"), "optimizer.lr", true), "not asked for the same"},
      {With(Of("data"), "", false, "sample_first"), "a skip list"},
      {slipped, "slipped"},
      {Of("data"), "a tokenizer"},
      {With(Of("manifest"), "skip_list", true), "told to pass over"},
      {Of("missing_steps"), "run that was stopped"},
      {Of("saved_state"), "a checkpoint that was written wrong"},
      {Loaded("run/seed"), "random stream"},
      {Loaded("run/cursor"), "a cursor"},
      {Loaded("optimizer/updates"), "optimizer state"},
      {Loaded("loss_scaler/scale"), "scales"},
      {Loaded("parameters/lm_head.weight.master"), "narrowed"},
      {Loaded("spike/losses"), "an entry that a load changes"},
      {memory, "before it is written"},
      {Once("loss"), "in forward"},
      {Once("fingerprint.grads"), "in backward or reduction"},
      {Once("grad_norm"), "in backward or reduction"},
      {Once("stop"), "before the update"},
      {Once("fingerprint.params"), "in the update"},
      {grown, "forked from"},
      {stale, "a step before left"},
      {layouts, "a shard in another place"},
      {Elements(Parted("forward"), 1, 4096, 1, 50), "an index, a bound"},
      {Elements(Parted("forward"), 100, 4096, 2, 50), "changed places"},
      {Parted("reduction"), "a collective"},
      {Parted("collective"), "a collective"},
      {Parted("message"), "taken twice"},
      {Parted("optimizer"), "clip factor"},
      {With(Elements(Parted("forward"), 900, 1, 90, 50), "compiler", false),
       "another library"},
      {Elements(Parted("forward"), 900, 1, 90, 50), "atomic additions"},
      {order, "atomic additions"},
      {Parted("forward", 2), "placement"},
      {With(Parted("forward"), "commit", false), "that changed"},
      {Parted("forward"), "another program at this operation"},
      {With(Of("control_flow"), "", false, "skipped"), "an overflow"},
      {Of("control_flow"), "a decision that one of them took"},
      {Of("changed_between"), "another operation owns"},
      {Of("received"), "earlier than the step"},
      {outside, "behind the last operation"},
      {With(Of("not_reproduced"), "binary", false), "does the replay"},
      {Of("not_reproduced"), "outside of the steps"}};
}

// Every row is the first for some result, and every result has a row.
TEST(LikelyCauseTest, EveryRowIsReached) {
  std::set<std::string> reached;
  for (const Case& c : Cases()) {
    const auto causes = LikelyCauses(c.result);
    ASSERT_FALSE(causes.empty()) << c.cause;
    EXPECT_NE(LikelyCause(c.result).find(c.cause), std::string::npos)
        << c.cause << ": " << LikelyCause(c.result);
    reached.insert(causes.front().symptom);
  }
  EXPECT_EQ(reached.size(), AllCauses().size());
  for (const CauseRow& row : AllCauses()) {
    EXPECT_TRUE(reached.contains(row.symptom)) << row.symptom;
    for (const char* text : {row.cause, row.check, row.remedy}) {
      EXPECT_STRNE(text, "") << row.symptom;
    }
  }
}

TEST(LikelyCauseTest, EqualRunsHaveNone) {
  EXPECT_EQ(LikelyCause(Of("equal")), "");
}

TEST(LikelyCauseTest, TheKeysAreNamed) {
  EXPECT_NE(LikelyCause(With(Of("manifest"), "optimizer.lr", true))
                .find(": optimizer.lr;"),
            std::string::npos);
}

}  // namespace
}  // namespace lockstep
