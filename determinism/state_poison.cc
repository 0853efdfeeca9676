// The pattern that shows what a restore has forgotten.
#include <cstring>

#include "determinism/state.h"

namespace lockstep {
namespace {

int64_t CountOf(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (const int64_t dim : shape) count *= dim;
  return count;
}

// All bits set but for the lowest byte: a NaN in every float type, negative or
// huge in every integer type, and no sentinel that code would choose.
constexpr unsigned char kPoisonLow = 0xa5;
constexpr unsigned char kPoisonHigh = 0xff;

void PoisonElements(void* data, int64_t count, size_t element_bytes) {
  auto* bytes = static_cast<unsigned char*>(data);
  for (int64_t i = 0; i < count; ++i, bytes += element_bytes) {
    std::memset(bytes, kPoisonHigh, element_bytes);
    bytes[0] = kPoisonLow;
  }
}

class PoisonVisitor : public StateVisitor {
 public:
  explicit PoisonVisitor(StateGroupSet groups) : groups_(groups) {}

  void Tensor(const StateTensor& tensor) override {
    if (!Takes(tensor.group)) return;
    PoisonElements(tensor.data, CountOf(tensor.box_shape),
                   SizeOf(tensor.dtype));
  }
  void U64(const std::string&, StateGroup group, uint64_t& value) override {
    if (Takes(group)) PoisonElements(&value, 1, sizeof(value));
  }
  void I64(const std::string&, StateGroup group, int64_t& value) override {
    if (Takes(group)) PoisonElements(&value, 1, sizeof(value));
  }
  void F64(const std::string&, StateGroup group, double& value) override {
    if (Takes(group)) PoisonElements(&value, 1, sizeof(value));
  }
  void Bytes(const std::string&, StateGroup group,
             std::string& value) override {
    if (Takes(group)) value.assign(value.size() + 1, '\xa5');
  }

 private:
  bool Takes(StateGroup group) const { return (groups_ & SetOf(group)) != 0; }
  const StateGroupSet groups_;
};

}  // namespace

void PoisonState(const StateRegistry& registry, StateGroupSet groups) {
  PoisonVisitor visitor(groups);
  registry.Visit(visitor);
}

}  // namespace lockstep
