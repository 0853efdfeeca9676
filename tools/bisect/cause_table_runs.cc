// The first half of the table: what runs were made of, read and loaded; after
// the symptoms that people report: a resume that is not exact, scales that do
// not fit what was loaded, data that changed in place.
#include "tools/bisect/likely_cause.h"
#include "tools/bisect/symptoms.h"

namespace lockstep {
namespace {

using symptoms::Entry;
using symptoms::HasField;
using symptoms::HasKey;
using symptoms::Is;

constexpr CauseRow kCauses[] = {
    {[](const BisectResult& r) { return Is(r, "missing_steps"); },
     "one run has steps that the other has not",
     "a run that was stopped, failed or is still at work, or lines of "
     "metrics.jsonl that were lost",
     "`lockstep status` and the ledgers of both",
     "resume the shorter one, and compare again"},
    {[](const BisectResult& r) { return r.grew_apart; },
     "the states differ that the first common step goes on from",
     "what one of them was forked from is not what the other was",
     "`lockstep bisect` of the run that it grew from",
     "fork from a state that is the other's"},
    {[](const BisectResult& r) { return Is(r, "saved_state"); },
     "the states saved at a step differ and its lines do not",
     "a checkpoint that was written wrong or changed since, or a difference "
     "that no field shows, as without metrics.fingerprints",
     "`lockstep ckpt diff` the two, and replay the step from the checkpoint "
     "before",
     "resume from the one whose state a replay comes to"},
    {[](const BisectResult& r) {
       return Is(r, "manifest") && HasKey(r, "skip_list", true);
     },
     "one run passes over samples that the other does not",
     "samples that a launch was told to pass over",
     "the skip_list events in the ledgers, and `lockstep data order --run` of "
     "both",
     "give both the same --skip-samples at the same step"},
    {[](const BisectResult& r) {
       return Is(r, "manifest") && HasKey(r, "data", true);
     },
     "the manifests name other data",
     "data that were prepared again, or changed in place, under the same name",
     "`lockstep data verify` the files, and compare their hashes in the "
     "manifests",
     "train both on one set of token files"},
    {[](const BisectResult& r) {
       return Is(r, "manifest") && HasKey(r, "layout", true);
     },
     "the layouts differ on a rung below layout_invariant",
     "another layout adds up sums in another order",
     "`lockstep diff` says at which step a launch took another layout",
     "guarantee = \"layout_invariant\", or one layout for both"},
    {[](const BisectResult& r) { return Is(r, "manifest"); },
     "the recipes, seeds or rungs differ",
     "the runs were not asked for the same",
     "`lockstep recipe diff` the two recipes",
     "train one of them again with the other's recipe"},
    {[](const BisectResult& r) {
       return Is(r, "data") &&
              (HasField(r, "sample_first") || HasField(r, "sample_last") ||
               HasField(r, "samples_seen"));
     },
     "the step has other samples",
     "a cursor, a skip list or a batch schedule that moved",
     "`lockstep data order --run` of both, and the skips in their ledgers",
     "resume from a checkpoint before the step"},
    {[](const BisectResult& r) { return Is(r, "data") && r.tokens_of >= 0; },
     "the step has a sample under another index",
     "a cursor that slipped, or an order of samples that moved",
     "`lockstep data order --run` of both, and the skips in their ledgers",
     "resume from a checkpoint before the step"},
    {[](const BisectResult& r) { return Is(r, "data"); },
     "the same sample has other tokens",
     "token files, a tokenizer, or the reading of them",
     "`lockstep explain --step` shows the sample's documents, `lockstep data "
     "verify` the files",
     "put back what the run read"},
    {[](const BisectResult& r) {
       return Is(r, "state_after_load") &&
              (Entry(r, "run/seed") || Entry(r, "run/stream_table"));
     },
     "a resumed run leaves the one that went through: random streams",
     "a random stream that was not restored",
     "the entry in the checkpoint, with `lockstep ckpt show`",
     "resume with a program that restores every stream"},
    {[](const BisectResult& r) {
       return Is(r, "state_after_load") &&
              (Entry(r, "run/") || Entry(r, "skip_list/"));
     },
     "a resumed run leaves the one that went through: counters or the cursor",
     "a counter or a cursor that counts what was fetched, not what was used",
     "the counters in the step's lines of both runs",
     "resume from the checkpoint before"},
    {[](const BisectResult& r) {
       return Is(r, "state_after_load") && Entry(r, "optimizer/");
     },
     "a resumed run leaves the one that went through: moments or Adam's t",
     "optimizer state that was dropped, matched to other parameters, or begun "
     "anew",
     "`lockstep ckpt diff` with the other run's checkpoint",
     "resume from a checkpoint that verifies"},
    {[](const BisectResult& r) {
       return Is(r, "state_after_load") &&
              (Entry(r, "loss_scaler/") || Entry(r, "gradient_grid/"));
     },
     "a resumed run leaves the one that went through: scales",
     "scales that were reset, or made anew from what was loaded",
     "the loss scale in the lines of both runs",
     "restore scales with what they belong to"},
    {[](const BisectResult& r) {
       return Is(r, "state_after_load") && Entry(r, "parameters/");
     },
     "parameters differ right after a load",
     "weights that were narrowed, or rebuilt from a copy of less precision",
     "`lockstep ckpt diff` names elements and distances in ulp",
     "keep fp32 masters, and make every other copy from them"},
    {[](const BisectResult& r) { return Is(r, "state_after_load"); },
     "the state differs right after a load, or what reads it first",
     "an entry that a load changes, or that nobody saves",
     "`lockstep ckpt verify` and `ckpt diff` on the checkpoint",
     "resume from another checkpoint, by the program that saved it"},
    {[](const BisectResult& r) {
       return r.sound_memory.has_value() && !*r.sound_memory;
     },
     "in poisoned memory without overlap the step has other bits",
     "memory that is read before it is written, or a message that is used "
     "before it is there",
     "the step again under the address sanitizer, and with parallel.overlap = "
     "false",
     "write or wait before reading"},
};

}  // namespace

std::span<const CauseRow> CausesOfRuns() { return kCauses; }

}  // namespace lockstep
