#include "tools/bisect/kept_operation.h"

#include <memory>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tools/bisect/layer_parameters.h"
#include "tools/bisect/poisoned_replay.h"
#include "tools/bisect/why_not_alone.h"
#include "tools/saved_operation/kept.h"
#include "tools/stored_run.h"

namespace lockstep {
namespace {

OperationIdentity In(OperationIdentity id, Phase phase, std::string scope,
                     const char* operation) {
  id.phase = NameOf(phase);
  id.scope = std::move(scope);
  id.operation = operation;
  id.occurrence = 0;
  return id;
}

// What one rank keeps.
struct RankKeepers {
  OperationKeeper wanted, x, above;
  int slice = -1;  // its tokens of each sample; -1: all
};

class StepKeeper {
 public:
  StepKeeper(const OperationIdentity& identity, int rank)
      : identity_(identity),
        rank_(rank),
        layer_(LayerOfScope(identity.scope)),
        parameters_(layer_) {}

  WindowVisitor Visitor() {
    return {.begin = [this](int rank, Stepper& s) { return Begin(rank, s); },
            .step =
                [this](int rank, Stepper& s, const ReplayedStep& step) {
                  return End(rank, s, step);
                }};
  }

  KeptOperation Take() {
    SavedOperation& saved = kept_.saved;
    saved.identity = identity_;
    saved.rank = rank_;
    for (auto& [rank, keepers] : keepers_) TakeRank(rank, *keepers);
    saved.not_alone = WhyNotAlone(identity_);
    if (saved.not_alone.empty()) {
      saved.parameters = std::move(parameters_.parameters);
    }
    return std::move(kept_);
  }

 private:
  absl::Status Begin(int rank, Stepper& stepper) {
    const auto layers =
        static_cast<int64_t>(stepper.config().model.Layers().size());
    const bool last = layer_ == layers - 1;
    auto keepers = std::unique_ptr<RankKeepers>(new RankKeepers{
        OperationKeeper(identity_),
        OperationKeeper(In(identity_, Phase::kForward,
                           absl::StrCat("layers.", layer_), "norm")),
        OperationKeeper(
            In(identity_, Phase::kBackward,
               last ? "norm_f" : absl::StrCat("layers.", layer_ + 1),
               last ? "norm" : "residual"))});
    if (rank == rank_) stepper.AddTracer(&keepers->wanted);
    if (layer_ >= 0) {
      stepper.AddObserver(&keepers->x);
      stepper.AddObserver(&keepers->above);
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    keepers_[rank] = std::move(keepers);
    TakeParameters(stepper);
    keepers_[rank]->slice =
        stepper.layout().sequence_parallel ? stepper.layout().at.tensor : -1;
    kept_.saved.vocab = stepper.config().model.vocab;
    kept_.saved.seed = stepper.state().seed;
    return absl::OkStatus();
  }

  // As the operation's step finds them; what is traced may begin earlier.
  void TakeParameters(Stepper& stepper) {
    const auto next = static_cast<int64_t>(stepper.state().iterations) + 1;
    if (layer_ >= 0 && next == identity_.step) {
      stepper.registry().Visit(parameters_);
    }
  }

  absl::Status End(int rank, Stepper& stepper, const ReplayedStep& step) {
    const std::lock_guard<std::mutex> lock(mutex_);
    // A step that was refused is the next one still.
    if (step.stopped.empty()) TakeParameters(stepper);
    if (rank != rank_ || !stepper.config().data.reset_at_documents ||
        step.report.step != identity_.step) {
      return absl::OkStatus();
    }
    const std::vector<uint64_t>& samples = keepers_.at(rank)->wanted.samples();
    const int64_t tokens = stepper.config().data.sequence;
    const size_t count = samples.size() * static_cast<size_t>(tokens);
    std::vector<int32_t> ids(count + samples.size()), segments(count);
    std::vector<uint8_t> mask(count);
    for (size_t s = 0; s < samples.size(); ++s) {
      LS_RETURN_IF_ERROR(stepper.dataset().TrainSample(
          samples[s],
          RowsOfSample(static_cast<int64_t>(s), tokens, ids, mask, segments)));
    }
    KeptTensor kept = {.name = "segments",
                       .dtype = DType::kI32,
                       .shape = {static_cast<int64_t>(samples.size()), tokens},
                       .bytes = {}};
    kept.bytes.assign(reinterpret_cast<const char*>(segments.data()),
                      segments.size() * sizeof(int32_t));
    kept_.saved.layer.push_back(std::move(kept));
    return absl::OkStatus();
  }

  // The first rank that has a thing: copies of it are equal. Tensor ranks that
  // have tokens of each sample have one each.
  void TakeRank(int rank, RankKeepers& keepers) {
    SavedOperation& saved = kept_.saved;
    if (rank == rank_) {
      saved.samples = keepers.wanted.samples();
      saved.inputs = keepers.wanted.TakeInputs();
      saved.outputs_a = keepers.wanted.TakeOutputs();
    }
    const auto take = [&](std::vector<KeptTensor> tensors, std::string name) {
      if (keepers.slice >= 0) absl::StrAppend(&name, ".", keepers.slice);
      if (tensors.empty() || FindKept(saved.layer, name) != nullptr) return;
      tensors[0].name = name;
      saved.layer.push_back(std::move(tensors[0]));
    };
    take(keepers.x.TakeInputs(), "x");
    take(keepers.above.TakeOutputs(), "gradient");
  }

  const OperationIdentity identity_;
  const int rank_;
  const int64_t layer_;
  std::mutex mutex_;  // guards what follows
  std::map<int, std::unique_ptr<RankKeepers>> keepers_;
  LayerParameters parameters_;
  KeptOperation kept_;
};

}  // namespace

absl::StatusOr<KeptOperation> KeepOperation(FileSystem& fs,
                                            const SideOptions& options,
                                            const OperationIdentity& identity,
                                            int rank) {
  StepKeeper keeper(identity, rank);
  LS_ASSIGN_OR_RETURN(const bool recurs,
                      ReplayPoisoned(fs, options, keeper.Visitor()));
  KeptOperation kept = keeper.Take();
  kept.recurs = recurs;
  LS_ASSIGN_OR_RETURN(const Manifest manifest,
                      ManifestOfStep(fs, options.run, options.step));
  kept.saved.recipe = manifest.recipe.text;
  return kept;
}

}  // namespace lockstep
