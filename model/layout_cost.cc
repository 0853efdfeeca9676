#include "model/layout_cost.h"

#include <algorithm>

#include "determinism/check.h"
#include "model/parameters.h"

namespace lockstep {
namespace {

constexpr double kGrid = 8;

// Elements in memory of what is held, as ParameterStore lays them out.
double MemoryOf(const ParameterSpec& spec, int64_t degree) {
  if (degree == 1 || spec.split.dim < 0) {
    return static_cast<double>(spec.memory());
  }
  const auto dim = static_cast<size_t>(spec.split.dim);
  return static_cast<double>(spec.count() / spec.shape[dim]) *
         static_cast<double>(HeldMemory(spec.split, degree));
}

// Of an element of a gradient's sum.
double SumBytes(const CostShape& shape) {
  return shape.grid ? kGrid : kFp32Bytes;
}

// The schedule with as few micro-batches as have its most in flight. Groups of
// an interleaved one keep their lengths; the first ones are the longest.
PipelineShape Shortened(PipelineShape shape) {
  constexpr int64_t kGroups = 4;
  const int64_t groups = shape.micro_batches / shape.ranks;
  if (groups <= kGroups) return shape;
  shape.micro_batches = kGroups * (shape.micro_batches / groups) +
                        std::min(kGroups, shape.micro_batches % groups);
  return shape;
}

StageRange StageAt(const RankPlace& place,
                   const std::vector<StageRange>& stages, int chunk) {
  LS_CHECK_EQ(stages.size(), static_cast<size_t>(place.schedule.stages()));
  return stages[static_cast<size_t>(
      PipelineStageOf(place.schedule, place.pipeline_rank, chunk))];
}

}  // namespace

void TensorRankCosts::Held::Add(const Held& more) {
  memory += more.memory;
  low += more.low;
  owned += more.owned;
  largest_row = std::max(largest_row, more.largest_row);
  tensors += more.tensors;
  runtime_bytes += more.runtime_bytes;
  token_sliced += more.token_sliced;
  token_sliced_tensors += more.token_sliced_tensors;
}

TensorRankCosts::TensorRankCosts(const ModelConfig& model,
                                 const CostOptions& options, int64_t degree,
                                 int64_t index)
    : layers_(model.Layers()),
      shape_(ShapeOfCosts(model, options, degree)),
      activations_(shape_, layers_),
      held_(layers_.size() + 2),
      tensors_(held_.size()),
      sliced_tensors_(held_.size()),
      bucket_elements_(std::max<int64_t>(
          options.bucket_bytes / static_cast<int64_t>(SumBytes(shape_)), 1)) {
  for (const ParameterSpec& spec : ListParameters(
           model, options.storage, VocabularyCuts(options, degree))) {
    double count = 1;
    const std::vector<int64_t> shape =
        HeldShape(spec.shape, spec.split, degree, index);
    for (const int64_t size : shape) count *= static_cast<double>(size);
    const bool low = spec.runtime_dtype != DType::kF32;
    Held one = {.memory = MemoryOf(spec, degree), .owned = count, .tensors = 1};
    one.low = low ? one.memory : 0;
    one.largest_row = count / std::max(static_cast<double>(shape[0]), 1.0);
    one.runtime_bytes = count * static_cast<double>(SizeOf(spec.runtime_dtype));
    one.token_sliced = spec.token_sliced ? count : 0;
    one.token_sliced_tensors = spec.token_sliced ? 1 : 0;
    const auto place = static_cast<size_t>(spec.layer + 1);
    held_[place].Add(one);
    const bool sliced = shape_.sequence && spec.token_sliced;
    (sliced ? sliced_tensors_ : tensors_)[place].push_back(
        {shape[0], static_cast<int64_t>(one.largest_row)});
  }
}

// Places in `held_`, ascending: what the rank's stages have.
std::vector<size_t> TensorRankCosts::Places(
    const RankPlace& place, const std::vector<StageRange>& stages) const {
  std::vector<size_t> places;
  for (int chunk = 0; chunk < place.schedule.interleave; ++chunk) {
    const StageRange stage = StageAt(place, stages, chunk);
    const bool last = stage.end == static_cast<int64_t>(layers_.size());
    if (stage.begin == 0) places.push_back(0);
    for (int64_t i = stage.begin; i < stage.end; ++i) {
      places.push_back(static_cast<size_t>(i) + 1);
    }
    if (last) places.push_back(layers_.size() + 1);
  }
  return places;
}

TensorRankCosts::Held TensorRankCosts::HeldAt(
    const RankPlace& place, const std::vector<StageRange>& stages) const {
  Held held;
  for (const size_t at : Places(place, stages)) held.Add(held_[at]);
  return held;
}

// Reduce-scatters of gradients: those of a rank go together in the order of the
// list, but for sums over token slices, which go by themselves
// (gradient_reduction.h).
double TensorRankCosts::Buckets(const RankPlace& place,
                                const std::vector<StageRange>& stages) const {
  size_t buckets = 0;
  for (const auto* by_place : {&tensors_, &sliced_tensors_}) {
    std::vector<ShardedTensor> tensors;
    for (const size_t at : Places(place, stages)) {
      const std::vector<ShardedTensor>& here = (*by_place)[at];
      tensors.insert(tensors.end(), here.begin(), here.end());
    }
    buckets += PlanBuckets(tensors, bucket_elements_).size();
  }
  return static_cast<double>(buckets);
}

MemoryMoment TensorRankCosts::InFlight(
    const RankPlace& place, const std::vector<StageRange>& stages) const {
  MemoryMoment most;
  if (place.schedule.micro_batches == 0) return most;
  std::vector<StageMemory> chunks;
  for (int chunk = 0; chunk < place.schedule.interleave; ++chunk) {
    chunks.push_back(activations_.OfStage(StageAt(place, stages, chunk)));
  }
  double kept = 0;
  for (const PipelineAction& action :
       PipelineScheduleOf(Shortened(place.schedule), place.pipeline_rank)) {
    const StageMemory& stage = chunks[static_cast<size_t>(action.chunk)];
    const bool forward = action.direction == PipelineDirection::kForward;
    if (!forward) kept -= stage.kept;
    const MemoryMoment moment =
        (forward ? stage.forward : stage.backward).With({kept, 0});
    if (moment.total() > most.total()) most = moment;
    if (forward) kept += stage.kept;
  }
  return most;
}

// Rows are shared out so that two ranks differ by one row at the most
// (state_sharding.h): the mean and a row is the most that one has.
RankMemory TensorRankCosts::Memory(
    const RankPlace& place, const std::vector<StageRange>& stages) const {
  const Held held = HeldAt(place, stages);
  const auto ranks = static_cast<double>(place.data_ranks);
  const bool whole = place.data_ranks == 1;
  const double owned =
      whole ? held.owned
            : std::min(held.owned, held.owned / ranks + held.largest_row);
  const double masters = kFp32Bytes * (whole ? held.memory : owned);
  const MemoryMoment passes = InFlight(place, stages);
  RankMemory m;
  m.parameters = masters + held.low * shape_.element +
                 (whole ? 0 : kFp32Bytes * (held.memory - held.low));
  m.gradients =
      held.memory * SumBytes(shape_) + (shape_.grid ? kFp32Bytes * owned : 0);
  m.state = 2 * masters;
  m.activations = passes.activations;
  m.communication = passes.communication;
  return m;
}

RankTraffic TensorRankCosts::Traffic(
    const RankPlace& place, const std::vector<StageRange>& stages) const {
  const Held held = HeldAt(place, stages);
  const double sum = SumBytes(shape_);
  const auto micro = static_cast<double>(place.schedule.micro_batches);
  RankTraffic traffic;
  if (place.data_ranks > 1) {
    traffic.data = {Buckets(place, stages) + held.tensors,
                    held.owned * sum + held.runtime_bytes};
  }
  if (shape_.sequence) {
    traffic.tensor = {held.token_sliced_tensors, held.token_sliced * sum};
  }
  for (int chunk = 0; chunk < place.schedule.interleave; ++chunk) {
    const StageRange stage = StageAt(place, stages, chunk);
    traffic.tensor += TensorTraffic(shape_, layers_, stage).Times(micro);
    const bool first = stage.begin == 0;
    const bool last = stage.end == static_cast<int64_t>(layers_.size());
    const double sends = (first ? 0 : 1) + (last ? 0 : 1);
    traffic.pipeline += AxisTraffic{1, shape_.stream()}.Times(sends * micro);
  }
  return traffic;
}

}  // namespace lockstep
