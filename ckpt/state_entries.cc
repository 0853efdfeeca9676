#include "ckpt/state_entries.h"

#include <algorithm>
#include <cstring>

#include "determinism/check.h"
#include "parallel/over_ranks.h"

namespace lockstep {
namespace {

class Collector : public StateVisitor {
 public:
  explicit Collector(StateGroupSet groups) : groups_(groups) {}

  void Tensor(const StateTensor& t) override {
    if (!Wanted(t.group)) return;
    entries.push_back({t.name, t.group, StateKind::kTensor, t.dtype,
                       t.global_shape, t.box_start, t.box_shape, t.data,
                       nullptr, t.replica});
  }
  void U64(const std::string& name, StateGroup group,
           uint64_t& value) override {
    Scalar(name, group, StateKind::kU64, DType::kU64, &value);
  }
  void I64(const std::string& name, StateGroup group, int64_t& value) override {
    Scalar(name, group, StateKind::kI64, DType::kI64, &value);
  }
  void F64(const std::string& name, StateGroup group, double& value) override {
    Scalar(name, group, StateKind::kF64, DType::kF64, &value);
  }
  void Bytes(const std::string& name, StateGroup group,
             std::string& value) override {
    if (!Wanted(group)) return;
    const int64_t count = static_cast<int64_t>(value.size());
    entries.push_back({name,
                       group,
                       StateKind::kBytes,
                       DType::kU8,
                       {count},
                       {0},
                       {count},
                       value.data(),
                       &value,
                       false});
  }

  std::vector<StateEntry> entries;

 private:
  bool Wanted(StateGroup group) const { return (groups_ & SetOf(group)) != 0; }
  void Scalar(const std::string& name, StateGroup group, StateKind kind,
              DType dtype, void* data) {
    if (!Wanted(group)) return;
    entries.push_back(
        {name, group, kind, dtype, {1}, {0}, {1}, data, nullptr, false});
  }

  const StateGroupSet groups_;
};

// Bit patterns of a float type.
struct FloatLayout {
  uint64_t sign;
  uint64_t exponent;
};

bool LayoutOf(DType dtype, FloatLayout& layout) {
  switch (dtype) {
    case DType::kF32:
      layout = {uint64_t{1} << 31, 0x7f800000};
      return true;
    case DType::kF64:
      layout = {uint64_t{1} << 63, uint64_t{0x7ff} << 52};
      return true;
    case DType::kBF16:
      layout = {0x8000, 0x7f80};
      return true;
    case DType::kF16:
      layout = {0x8000, 0x7c00};
      return true;
    default:
      return false;
  }
}

template <typename Word>
class InsaneWords {
 public:
  InsaneWords(const FloatLayout& layout, bool refuse_negative)
      : exponent_(static_cast<Word>(layout.exponent)),
        sign_(static_cast<Word>(layout.sign)),
        most_(refuse_negative ? sign_ : static_cast<Word>(~Word{0})) {}

  // The place of the first, or -1.
  int64_t First(const char* data, size_t count) const {
    size_t at = 0;
    while (at + kBlock <= count && !AnyInBlock(data + at * sizeof(Word))) {
      at += kBlock;
    }
    for (; at < count; ++at) {
      if (Insane(data + at * sizeof(Word))) return static_cast<int64_t>(at);
    }
    return -1;
  }

 private:
  // So many at once, without a way out in between: the compiler's vectors.
  static constexpr size_t kBlock = 1024;

  // Minus zero is no negative number.
  bool Insane(const char* at) const {
    Word bits;
    std::memcpy(&bits, at, sizeof(Word));
    return (bits & exponent_) == exponent_ || bits > most_;
  }
  bool AnyInBlock(const char* data) const {
    Word any = 0;
    for (size_t i = 0; i < kBlock; ++i) {
      any |= static_cast<Word>(Insane(data + i * sizeof(Word)) ? 1 : 0);
    }
    return any != 0;
  }

  const Word exponent_, sign_, most_;
};

template <typename Word>
int64_t FirstInsane(const char* data, size_t count, const FloatLayout& layout,
                    bool refuse_negative) {
  return InsaneWords<Word>(layout, refuse_negative).First(data, count);
}

bool IsSecondMoment(const StateEntry& entry) {
  return entry.name.ends_with(".exp_avg_sq");
}

}  // namespace

size_t StateEntry::size_bytes() const {
  size_t bytes = SizeOf(dtype);
  for (const int64_t dim : box_shape) bytes *= static_cast<size_t>(dim);
  return bytes;
}

std::vector<StateEntry> CollectState(const StateRegistry& registry,
                                     StateGroupSet groups) {
  Collector collector(groups);
  registry.Visit(collector);
  std::stable_sort(
      collector.entries.begin(), collector.entries.end(),
      [](const StateEntry& a, const StateEntry& b) { return a.name < b.name; });
  return std::move(collector.entries);
}

std::vector<StateEntry> EntriesToSave(const StateRegistry& registry, int rank) {
  std::vector<StateEntry> entries = CollectState(registry, kSavedState);
  std::erase_if(entries, [rank](const StateEntry& entry) {
    const bool shared = (SetOf(entry.group) & kSharedState) != 0;
    if (!shared) return rank != 0;
    // A tensor without elements is one box of none, and rank 0's.
    const bool empty =
        entry.size_bytes() == 0 && entry.box_shape != entry.shape;
    return entry.replica || empty || (entry.size_bytes() == 0 && rank != 0);
  });
  return entries;
}

int64_t FirstInsanityIn(const StateEntry& entry, int64_t begin, int64_t end) {
  FloatLayout layout;
  const bool trained =
      entry.group == StateGroup::kMaster || entry.group == StateGroup::kMoment;
  if (!trained || !LayoutOf(entry.dtype, layout)) return -1;
  const size_t width = SizeOf(entry.dtype);
  const auto first_insane = width == 2   ? FirstInsane<uint16_t>
                            : width == 4 ? FirstInsane<uint32_t>
                                         : FirstInsane<uint64_t>;
  const int64_t at = first_insane(
      static_cast<const char*>(entry.data) + static_cast<size_t>(begin) * width,
      static_cast<size_t>(end - begin), layout, IsSecondMoment(entry));
  return at < 0 ? -1 : begin + at;
}

std::string InsanityText(const StateEntry& entry, int64_t at) {
  return "element " + std::to_string(at) + " of " + entry.name +
         (IsSecondMoment(entry) ? " is not a finite number of at least 0"
                                : " is not a finite number");
}

std::string InsanityIn(const StateEntry& entry) {
  const auto count =
      static_cast<int64_t>(entry.size_bytes() / SizeOf(entry.dtype));
  const int64_t at = FirstInsanityIn(entry, 0, count);
  return at < 0 ? "" : InsanityText(entry, at);
}

}  // namespace lockstep
