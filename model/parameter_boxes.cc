#include "model/parameter_boxes.h"

#include <algorithm>
#include <utility>

#include "determinism/check.h"

namespace lockstep {
namespace {

std::vector<HeldRange> RangesOf(const Parameter& p, const TensorShare& share,
                                int dim) {
  if (p.spec.split.dim == dim) {
    return HeldRanges(p.spec.split, share.degree, share.index);
  }
  return {{0, p.spec.shape[static_cast<size_t>(dim)]}};
}

}  // namespace

StateSharding ShardingOf(const std::vector<Parameter>& parameters, int ranks) {
  std::vector<ShardedTensor> tensors;
  for (const Parameter& p : parameters) {
    tensors.push_back({p.shape[0], p.row_elements()});
  }
  return StateSharding(tensors, ranks);
}

std::vector<Parameter> PlaceParameters(const std::vector<ParameterSpec>& specs,
                                       const StorePlacement& placement) {
  std::vector<Parameter> held;
  const TensorShare& share = placement.tensor;
  for (const ParameterSpec& spec : specs) {
    if (!placement.Holds(spec, specs.back().layer)) continue;
    Parameter p;
    p.spec = spec;
    p.shape = HeldShape(spec.shape, spec.split, share.degree, share.index);
    p.speaks = OwnsCopy(spec.split, share.degree, share.index);
    held.push_back(std::move(p));
  }
  const StateSharding sharding = ShardingOf(held, placement.data_ranks);
  for (size_t i = 0; i < held.size(); ++i) {
    held[i].owned =
        sharding.RowsOf(static_cast<int64_t>(i), placement.data_rank);
  }
  return held;
}

// Rows are cut into the ranges that the tensor share has; columns are one
// range, so that a box is contiguous.
std::vector<ParameterBox> BoxesOf(const Parameter& p,
                                  const TensorShare& share) {
  std::vector<ParameterBox> boxes;
  std::vector<int64_t> start(p.shape.size(), 0), shape = p.shape;
  if (p.spec.split.dim == 1) {
    const auto columns = RangesOf(p, share, 1);
    LS_CHECK_EQ(columns.size(), 1u) << p.spec.name;
    start[1] = columns[0].begin;
  }
  LS_CHECK_LE(p.spec.split.dim, 1) << p.spec.name;
  int64_t local = 0;  // row of `shape` at which the range begins
  for (const HeldRange& rows : RangesOf(p, share, 0)) {
    const int64_t begin = std::max(p.owned.begin, local);
    const int64_t end = std::min(p.owned.end, local + rows.end - rows.begin);
    if (begin < end) {
      start[0] = rows.begin + begin - local;
      shape[0] = end - begin;
      boxes.push_back(
          {start, shape, (begin - p.owned.begin) * p.row_elements()});
    }
    local += rows.end - rows.begin;
  }
  return boxes;
}

std::vector<ParameterRun> RunsOf(const Parameter& p, const TensorShare& share) {
  std::vector<ParameterRun> runs;
  const int64_t row = p.spec.count() / p.spec.shape[0];
  for (const ParameterBox& box : BoxesOf(p, share)) {
    const int64_t held = p.row_elements();
    if (held == row) {
      runs.push_back({box.owned, box.start[0] * row, box.shape[0] * row});
      continue;
    }
    for (int64_t i = 0; i < box.shape[0]; ++i) {
      runs.push_back({box.owned + i * held,
                      (box.start[0] + i) * row + box.start[1], held});
    }
  }
  return runs;
}

// An entry that is not here has a box without elements.
void ParameterStore::VisitRows(
    StateVisitor& visitor, const std::string& suffix, StateGroup group,
    const std::function<void*(const Parameter&)>& data) {
  auto here = parameters_.begin();
  for (const ParameterSpec& spec : specs_) {
    const DType dtype =
        group == StateGroup::kRuntime ? spec.runtime_dtype : DType::kF32;
    StateTensor tensor = {.name = spec.name + suffix,
                          .group = group,
                          .dtype = dtype,
                          .global_shape = spec.shape,
                          .box_start = std::vector<int64_t>(spec.shape.size()),
                          .box_shape = std::vector<int64_t>(spec.shape.size()),
                          .data = nullptr};
    if (here == parameters_.end() || here->spec.index != spec.index) {
      visitor.Tensor(tensor);
      continue;
    }
    const Parameter& p = *here++;
    tensor.data = data(p);
    const auto boxes = BoxesOf(p, placement_.tensor);
    if (boxes.empty()) visitor.Tensor(tensor);
    for (const ParameterBox& box : boxes) {
      tensor.box_start = box.start;
      tensor.box_shape = box.shape;
      tensor.replica = !p.speaks;
      tensor.data = static_cast<char*>(data(p)) +
                    box.owned * static_cast<int64_t>(SizeOf(dtype));
      visitor.Tensor(tensor);
    }
  }
}

int64_t Parameter::LogicalElement(int64_t element,
                                  const TensorShare& share) const {
  for (const ParameterRun& run : RunsOf(*this, share)) {
    if (element >= run.owned && element < run.owned + run.count) {
      return run.logical + element - run.owned;
    }
  }
  LS_CHECK(false) << "element " << element << " of " << spec.name;
  return -1;
}

}  // namespace lockstep
