// `lockstep bisect A B`: from "the runs differ" to the operation that did it.
//
// What it is: what two runs' folders say of where they part, one replay of each
// with a trace of that step, and one more that keeps the guilty tensor. What it
// is not: a reader of faults that were planted: it sees folders and replays and
// nothing else (visibility enforces that). Why so: files can say when two runs
// part, but only doing the step again can say where, and whether it happens
// again.
//
//   1  metrics.jsonl: the first step that differs, and in what.
//   2  manifests of the launches that made it: every difference but the faults.
//      One that must change the bits (another recipe, seed, data) is the
//      answer, unless the step's line acquits it, or run b comes to its own
//      bits with run a's value too (settings_trial.h).
//   3  the samples of the step: other tokens under the same index are the
//      answer.
//   4  the last checkpoint that is equal in both, else the seed. Where a run
//   was
//      loaded there and does not recur from it, its load is suspected.
//      Where the runs took no fingerprints, one replay of each with some, from
//      there on, finds the step; also where only what they saved differs.
//   5  both replayed from there, the step traced on all ranks, inputs too; with
//      replicas also the step before, since what they hold of each other's
//      weights is in no line.
//      Both recur: the traces part at an operation. One does not: its own
//      trace, if the run left one, names the operation. Else it is tried from
//      one checkpoint further back, where what the steps before left in memory
//      comes back too; and what does not come back there either happened once.
//   6  the same again, keeping the bytes of that operation's tensors, in
//      poisoned memory and without messages beside computation
//      (kept_operation.h, poisoned_replay.h). A run that comes to other bits so
//      depends on memory that nobody wrote, or on a message that was not there:
//      its two replays name the operation.
//
// Verdicts:
//   equal            no step differs, both have the same ones, and what both
//                    saved is equal; where one step stopped both by its
//                    numbers, so are the operations of their replays of it
//   saved_state      no step's line differs, and the states saved at a step do;
//                    or a run went on from what it saved, which is not what its
//                    steps come to, or one was forked from another state than
//                    the other had: entry, file
//   missing_steps    no step's line differs, and one run alone has a step: the
//                    other stopped before it, or its line is lost. (A step that
//                    stopped a run by its numbers, a loss that is not finite or
//                    a spike, is done again, and has a verdict from below.)
//   manifest         a difference of the recipe or the like explains it
//   data             other tokens
//   state_after_load the first step after a load differs, and its state before
//                    any operation already did: entry, file
//   operation        it parts at equal inputs; repeatable or not
//   changed_between  an input is not what its `producer` left
//   control_flow     one did an operation that the other did not: `only_in`
//   received         the part that came first was not captured
//   unwritten_memory where fresh memory holds another pattern and no message is
//                    on its way, this operation leaves other bits
//   not_reproduced   no operation of the replays' traces differs though both
//                    recur (what does is written by nothing that is traced),
//                    or neither recurs
//
// JSON, fields are only ever added: verdict, step, rank, ranks, phase, scope,
// operation, tensor, sample, micro_batch, repeatable (null where nothing was
// replayed), replays (of each run), cause (what usually does that), causes
// [{symptom, cause, check, remedy}] (all that fit, the most telling first),
// differences
// [{key, a, b, explains}], fields (of the step's line; "stop": a run has none,
// the step stopped it), grew_apart (of
// saved_state: nothing that either did), from_further_back (one recurs only
// with the steps before), began_at, elements
// {count, differ, first [coordinate], a, b (hex), ulps {"1": N, "2": N, ...}},
// state {entry, rank, entries, path, saved_right} (of state_after_load),
// tokens_of, tokens_in (of `data`: as `sample`, the run `tokens_in` read what
// the other has under this index; null: under none near by),
// sound_memory, saved (a file for `doctor --operation`), certainty (sentences),
// commands [{what, line}], page (the file of it, null:
// none), notes, producer (of changed_between, text), only_in (of control_flow:
// a | b).
#ifndef LOCKSTEP_TOOLS_BISECT_BISECT_H_
#define LOCKSTEP_TOOLS_BISECT_BISECT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "determinism/file_system.h"
#include "tools/bisect/difference_map.h"
#include "tools/bisect/element_difference.h"
#include "tools/bisect/evidence.h"
#include "tools/bisect/loaded_state.h"
#include "tools/bisect/scope_tree.h"
#include "tools/saved_operation/saved_operation.h"
#include "tools/trace_diff/trace_diff.h"

namespace lockstep {

// One of the two, as its folder tells.
struct BisectRun {
  std::string path = {};
  std::string binary = {};  // empty: this program
  int64_t first_step = 0, last_step = 0;
  std::vector<int64_t> checkpoints = {};  // steps, ascending
};

struct BisectCommand {
  std::string what, line;  // for a shell
};

struct BisectOptions {
  std::string a, b;  // the runs' folders
  // The program that made each run; empty: this one. Called as
  // `P replay RUN --from S --to S --trace DIR --json`.
  std::string binary_a = {}, binary_b = {};
  std::string scratch = {};  // a new folder for traces; empty: a temporary one
  int64_t threads = 0;
};

struct BisectResult {
  BisectRun a = {}, b = {};
  std::vector<int64_t> equal_checkpoints = {};  // of both, ascending
  std::string verdict = {};
  int64_t step = 0;
  // The first step that both have went on from states that differ.
  bool grew_apart = false;
  // One of the two comes to its own bits only where a step before is done again
  // as well.
  bool from_further_back = false;
  int64_t began_at = 0;
  std::vector<std::string> fields = {};  // of metrics.jsonl that differ there
  std::vector<BisectDifference> differences = {};
  std::optional<TraceDifference> trace = {};
  std::optional<ElementDifference> elements = {};
  std::string odd_one = {};  // "a" or "b": whose record did not recur
  std::optional<bool> repeatable = {};
  int64_t sample = -1;  // of `data`
  // As `sample`, run `tokens_in` ("a" or "b") read what the other has under
  // this index; -1: under none near by.
  int64_t tokens_of = -1;
  std::string tokens_in = {};
  int replays = 0;  // of each run
  std::string cause = {};
  // Of `state_after_load`, where replays show it.
  std::optional<StateDifference> state = {};
  // Whether the step came to the same bits in memory that holds no numbers and
  // without messages on their way; absent: not tried.
  std::optional<bool> sound_memory = {};
  std::optional<SavedOperation> saved_operation = {};
  std::string saved = {};  // the file of it, where it was written
  ScopeTree tree = {};
  std::optional<DifferenceMap> map = {};  // of `elements`
  std::vector<std::string> certainty = {};
  std::vector<BisectCommand> commands = {};
  std::string page = {};
  std::vector<std::string> notes = {};

  bool equal() const { return verdict == "equal"; }
};

// InputError: no run, no step in common. Errors of the replays.
absl::StatusOr<BisectResult> Bisect(FileSystem& fs,
                                    const BisectOptions& options);

// "operation: layers.1.mixer up_proj, rank 1", in a line, and the place with
// all that is known of it; empty where there is none.
std::string BisectHeadline(const BisectResult& result);
std::string BisectPlace(const BisectResult& result);

// `fix_json`: an object to stand as `fix`; empty: none was asked for.
std::string BisectText(const BisectResult& result);
std::string BisectJson(const BisectResult& result,
                       const std::string& fix_json = {});

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BISECT_BISECT_H_
