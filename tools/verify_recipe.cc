// `lockstep verify RECIPE`: a run without a stop against one with a stop.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ckpt/ledger.h"
#include "determinism/guarantee.h"
#include "determinism/status.h"
#include "tools/audit_verbs.h"
#include "tools/diff/metric_lines.h"
#include "tools/layout_text.h"
#include "tools/run_setup.h"
#include "tools/scratch_folder.h"

namespace lockstep {
namespace {

using Json = nlohmann::ordered_json;

// One half or the whole of a run.
struct Leg {
  std::string run = {};
  int64_t until = 0;
  bool other_layout = false;
  bool resumed = false;
};

class RecipeVerifier {
 public:
  explicit RecipeVerifier(const VerifyOptions& options) : options_(options) {}

  absl::StatusOr<Answer> Run() {
    LS_ASSIGN_OR_RETURN(const ResolvedRun run, Resolve(options_.sets));
    guarantee_ = run.config.guarantee;
    steps_ = std::min(options_.steps, run.config.Steps());
    if (steps_ < 2) {
      return InputError("a run of one step cannot be stopped in its middle",
                        options_.path, "give it two steps or more");
    }
    if (!options_.layout.empty()) {
      LS_ASSIGN_OR_RETURN(layout_sets_, LayoutSets(options_.layout));
      layout_sets_.insert(layout_sets_.begin(), options_.sets.begin(),
                          options_.sets.end());
      LS_RETURN_IF_ERROR(Resolve(layout_sets_).status());
    }
    LS_RETURN_IF_ERROR(
        scratch_.Make(options_.scratch, {"straight", "resumed"}));
    const std::string straight = scratch_.PathOf("straight");
    const std::string resumed = scratch_.PathOf("resumed");
    LS_ASSIGN_OR_RETURN(straight_, Train({straight, steps_, false, false}));
    LS_RETURN_IF_ERROR(Train({resumed, steps_ / 2, false, false}).status());
    LS_ASSIGN_OR_RETURN(
        resumed_, Train({resumed, steps_, !options_.layout.empty(), true}));
    LS_ASSIGN_OR_RETURN(
        metrics_,
        CompareMetricLines(*PosixFileSystem(), straight + "/metrics.jsonl",
                           resumed + "/metrics.jsonl"));
    LS_RETURN_IF_ERROR(ReadResume(resumed));
    return Answer{options_.json ? AsJson() : AsText(), !Holds()};
  }

 private:
  absl::StatusOr<ResolvedRun> Resolve(
      const std::vector<std::string>& sets) const {
    return ResolveRun(*PosixFileSystem(), options_.path, sets, "");
  }

  // Below `bitwise` anywhere, and below `layout_invariant` on another layout.
  bool BitsMayDiffer() const {
    return guarantee_ < Guarantee::kBitwise ||
           (!options_.layout.empty() &&
            guarantee_ < Guarantee::kLayoutInvariant);
  }

  absl::StatusOr<std::string> Train(const Leg& leg) const {
    TrainOptions train;
    train.recipe = options_.path;
    train.sets = leg.other_layout ? layout_sets_ : options_.sets;
    train.run_dir = leg.run;
    train.until = leg.until;
    train.resume = leg.resumed ? "must" : "auto";
    train.allow = options_.allow;
    train.reason = options_.reason.empty() ? "verify" : options_.reason;
    if (leg.other_layout) train.allow.push_back("layout");
    if (leg.resumed) train.faults = options_.resumed_faults;
    train.threads = options_.threads;
    train.json = true;
    LS_ASSIGN_OR_RETURN(const ResolvedRun run, Resolve(train.sets));
    train.ranks = run.config.parallel.world();
    LS_ASSIGN_OR_RETURN(const Answer answer, TrainVerb(train));
    const Json json = Json::parse(answer.text, nullptr, false);
    return json.value("unseed", std::string());
  }

  absl::Status ReadResume(const std::string& run) {
    LS_ASSIGN_OR_RETURN(const LedgerReport ledger,
                        ReadLedger(*PosixFileSystem(), run));
    for (const LedgerEntry& entry : ledger.entries) {
      if (entry.event != "resume") continue;
      saved_ = entry.Field("state_saved");
      restored_ = entry.Field("state_restored");
    }
    return absl::OkStatus();
  }

  bool StateRestored() const { return !saved_.empty() && saved_ == restored_; }
  bool SameBits() const {
    return EqualLines() == steps_ && !straight_.empty() &&
           straight_ == resumed_;
  }
  int64_t EqualLines() const {
    const MetricsParting& m = metrics_;
    return m.step == 0 ? m.compared : m.step - m.first_a;
  }
  // Whatever bits may differ: steps, samples and rates may not.
  bool SameSamples() const {
    const std::set<std::string> fixed = {
        "sample_first", "sample_last", "samples_seen", "tokens_seen",
        "valid_tokens", "lr_bits",     "line"};
    const auto& fields = metrics_.fields;
    return metrics_.compared == steps_ &&
           std::ranges::find_first_of(fields, fixed) == fields.end();
  }
  bool Holds() const {
    if (!StateRestored()) return false;
    return BitsMayDiffer() ? SameSamples() : SameBits();
  }

  std::string Promise() const {
    const std::string rung = NameOf(guarantee_);
    if (BitsMayDiffer()) {
      return rung +
             " lets later bits differ here; the restored state is what "
             "was saved, and samples and rates are the same";
    }
    return rung + (options_.layout.empty()
                       ? " promises equal bits on the same layout"
                       : " promises equal bits on any layout");
  }

  std::string AsText() const {
    std::string text = absl::StrCat(
        Holds() ? "holds: " : "DOES NOT HOLD: ", Promise(),
        "\n  stopped after "
        "step ",
        steps_ / 2, " of ", steps_,
        options_.layout.empty() ? "" : ", resumed on " + options_.layout,
        "\n  state saved ", saved_, ", restored ", restored_,
        "\n  metrics: ", EqualLines(), " lines are equal");
    if (metrics_.step != 0) {
      absl::StrAppend(&text, "; step ", metrics_.step, " differs in ",
                      absl::StrJoin(metrics_.fields, ", "));
    }
    absl::StrAppend(&text, "\n  unseed: straight ", straight_, ", resumed ",
                    resumed_, "\n");
    return text;
  }

  std::string AsJson() const {
    const Json json = {{"ok", Holds()},
                       {"guarantee", NameOf(guarantee_)},
                       {"promise", Promise()},
                       {"same_bits", SameBits()},
                       {"stopped_after", steps_ / 2},
                       {"steps", steps_},
                       {"layout", options_.layout},
                       {"state_saved", saved_},
                       {"state_restored", restored_},
                       {"lines_equal", EqualLines()},
                       {"first_difference", metrics_.step},
                       {"fields", metrics_.fields},
                       {"unseed_straight", straight_},
                       {"unseed_resumed", resumed_}};
    return json.dump() + "\n";
  }

  const VerifyOptions& options_;
  Guarantee guarantee_ = Guarantee::kBitwise;
  int64_t steps_ = 0;
  std::vector<std::string> layout_sets_;
  ScratchFolder scratch_;
  std::string straight_, resumed_;  // unseed
  std::string saved_, restored_;    // at the resume
  MetricsParting metrics_;
};

}  // namespace

absl::StatusOr<Answer> VerifyRecipeVerb(const VerifyOptions& options) {
  return RecipeVerifier(options).Run();
}

}  // namespace lockstep
