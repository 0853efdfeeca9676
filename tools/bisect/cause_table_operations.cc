// The second half of the table: what operations do, once or each time; after
// the symptoms that people report: sums without an order, ties, machines that
// compute wrongly, paths that depend on scale.
#include "tools/bisect/likely_cause.h"
#include "tools/bisect/symptoms.h"

namespace lockstep {
namespace {

using symptoms::AnOperation;
using symptoms::FewUlps;
using symptoms::HasField;
using symptoms::InPhase;
using symptoms::Is;
using symptoms::OneHighBit;
using symptoms::OneTime;
using symptoms::OtherProgram;
using symptoms::SomeRanks;
using symptoms::WholeRows;

constexpr CauseRow kCauses[] = {
    {[](const BisectResult& r) {
       return AnOperation(r) && r.from_further_back;
     },
     "it comes back only where the step before is done again too",
     "a buffer that still has what a step before left in it",
     "who writes this tensor, in which stretches, and when",
     "write all of it in each step, or clear it"},
    {[](const BisectResult& r) { return OneTime(r) && HasField(r, "loss"); },
     "it does not come back, and the loss shows it",
     "a value that was wrong once, in forward: memory or arithmetic of that "
     "machine, or a race",
     "`lockstep replay --swap-ranks` of the step there, and `lockstep doctor`",
     "take the machine out if doctor or a replay there agrees"},
    {[](const BisectResult& r) { return OneTime(r) && HasField(r, "stop"); },
     "it does not come back, and its numbers stopped the run",
     "a value that was wrong once, before the update: memory or arithmetic of "
     "that machine, or a race",
     "`lockstep replay --swap-ranks` of the step there, and `lockstep doctor`",
     "take the machine out if doctor or a replay there agrees"},
    {[](const BisectResult& r) {
       return OneTime(r) &&
              (HasField(r, "fingerprint.grads") || HasField(r, "grad_norm"));
     },
     "it does not come back, and gradients show it first",
     "a value that was wrong once, in backward or reduction: memory or "
     "arithmetic of that machine, a message, or a race",
     "`lockstep replay --swap-ranks` of the step there, and `lockstep doctor`",
     "take the machine out if doctor or a replay there agrees"},
    {[](const BisectResult& r) { return OneTime(r); },
     "it does not come back, and the update shows it first",
     "a value that was wrong once, in the update or behind it: memory of that "
     "machine, or a race",
     "`lockstep replay --swap-ranks` of the step there, and `lockstep doctor`",
     "take the machine out if doctor or a replay there agrees"},
    {[](const BisectResult& r) { return AnOperation(r) && OneHighBit(r); },
     "one element is far off",
     "an index, a bound or a write of another operation, in the one program "
     "and not in the other",
     "`lockstep doctor --operation` on what was saved, and the address "
     "sanitizer",
     "mend what writes there"},
    {[](const BisectResult& r) { return AnOperation(r) && WholeRows(r); },
     "one or two whole rows differ",
     "rows that changed places, or one token's or sample's row: an order of "
     "ties, a gather, a mask",
     "the rows of both runs in the saved operation",
     "one written order of ties (the lowest index)"},
    {[](const BisectResult& r) {
       return AnOperation(r) && r.trace && r.trace->across_layouts;
     },
     "the runs have other layouts",
     "a sum over ranks in another order, or a shard in another place",
     "the operation's tensors on both layouts, with `lockstep trace diff`",
     "one written order, whatever the ranks"},
    {[](const BisectResult& r) {
       return AnOperation(r) &&
              (InPhase(r, "reduction") || InPhase(r, "collective"));
     },
     "what ranks summed or gave each other differs",
     "a collective: a rank left out, counted twice, or an order that is not "
     "written",
     "each rank's own sums, with `lockstep trace diff`",
     "sums in the order of ranks"},
    {[](const BisectResult& r) {
       return AnOperation(r) && InPhase(r, "message");
     },
     "a message between stages of the pipeline differs",
     "a message that was lost, taken twice, or used before it was there",
     "what the stage before sent, with `lockstep trace diff`",
     "wait for each message, and use each once"},
    {[](const BisectResult& r) {
       return AnOperation(r) && (InPhase(r, "optimizer") || InPhase(r, "clip"));
     },
     "gradients are equal and the update is not",
     "another rate, clip factor, decay or counter of updates",
     "lr, grad_norm_clipped and updates in the lines of both runs",
     "one place that decides each of them"},
    {[](const BisectResult& r) {
       return AnOperation(r) && OtherProgram(r) && FewUlps(r);
     },
     "a few units in the last place, and the programs differ",
     "another library, compiler flag or instruction set, or a sum in another "
     "order",
     "change one thing of the stack at a time, and bisect again",
     "take the written order, or pin the stack"},
    {[](const BisectResult& r) { return AnOperation(r) && FewUlps(r); },
     "a few units in the last place",
     "another order of a sum: tuning by time, atomic additions, another "
     "blocking",
     "`lockstep doctor --operation`: every level and number of threads must "
     "agree",
     "fix all choices, and add in a written order"},
    {[](const BisectResult& r) { return AnOperation(r) && SomeRanks(r); },
     "some ranks part and others do not",
     "what differs between ranks: placement, the inputs they get, an order of "
     "reduction that depends on size",
     "`lockstep replay --swap-ranks`, and the same step on fewer ranks",
     "mend the first operation that depends on the scale"},
    {[](const BisectResult& r) { return AnOperation(r) && OtherProgram(r); },
     "the programs differ, and equal inputs give other outputs",
     "a kernel, library or flag that changed",
     "--binary-a and --binary-b, then one change at a time",
     "keep the kernel that is right until the other is mended"},
    {[](const BisectResult& r) { return AnOperation(r); },
     "equal inputs give other outputs, each time",
     "another program at this operation",
     "the code of its kernel, and `lockstep doctor --operation`",
     "mend the kernel, and show it with --verify-fix"},
    {[](const BisectResult& r) {
       return Is(r, "control_flow") &&
              (HasField(r, "skipped") || HasField(r, "loss_scale"));
     },
     "one run skipped the step's update",
     "an overflow or a spike that only one of them met",
     "loss_scale and skipped in the lines of both, and the ledgers",
     "one decision from reduced values, for all ranks"},
    {[](const BisectResult& r) { return Is(r, "control_flow"); },
     "one run did an operation that the other did not",
     "a decision that one of them took: a gradient computed once more, another "
     "number of micro-batches, a path by size",
     "the operation, with `lockstep trace diff`",
     "decide from values that all ranks have"},
    {[](const BisectResult& r) { return Is(r, "changed_between"); },
     "an input is not what its producer left",
     "a write into memory that another operation owns, a buffer that is used "
     "again too early, or an operation that announces nothing",
     "the address sanitizer, and what stands between the two in the code",
     "announce the hidden operation, or mend the write"},
    {[](const BisectResult& r) { return Is(r, "received"); },
     "what came first was not captured",
     "it parted in something earlier than the step that was traced, or on a "
     "rank that left no trace",
     "`lockstep replay --trace` from an earlier step, if it comes back; and "
     "`trace.ranks` of the run",
     "more checkpoints or fingerprints; traces of all ranks"},
    {[](const BisectResult& r) {
       return Is(r, "not_reproduced") && r.repeatable.value_or(false);
     },
     "both runs come back, and no operation of their traces differs",
     "a write behind the last operation of the step, or of something that "
     "announces nothing",
     "the entry that differs after the step, and what writes to it in the code",
     "announce the hidden operation, or mend the write"},
    {[](const BisectResult& r) {
       return Is(r, "not_reproduced") && OtherProgram(r);
     },
     "replays part from the records, and the programs differ",
     "the program that does the replay is not the one that made the run",
     "--binary-a and --binary-b", "keep the program with the run"},
    {[](const BisectResult& r) { return Is(r, "not_reproduced"); },
     "the difference does not come back",
     "something outside of the steps: the machine, a file, an evaluation, a "
     "race",
     "both replays on the machines that made the runs",
     "train.trace at level operation, so that the next time leaves a record"},
};

}  // namespace

std::span<const CauseRow> CausesOfOperations() { return kCauses; }

}  // namespace lockstep
