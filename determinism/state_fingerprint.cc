#include "determinism/state_fingerprint.h"

#include <utility>

namespace lockstep {
namespace {

class FingerprintVisitor : public StateVisitor {
 public:
  FingerprintVisitor(StateGroupSet groups, const KnownFingerprints& known)
      : groups_(groups), known_(known) {}

  void Tensor(const StateTensor& tensor) override {
    if (!Takes(tensor.group)) return;
    const auto known = known_.find(tensor.name);
    if (tensors_.empty() || tensors_.back().name != tensor.name) {
      tensors_.push_back(
          {tensor.name, tensor.dtype, tensor.global_shape,
           known == known_.end() ? Fingerprint() : known->second});
    }
    if (tensor.replica || known != known_.end()) return;
    tensors_.back().value +=
        FingerprintBox(tensor.data, tensor.dtype, tensor.global_shape,
                       tensor.box_start, tensor.box_shape);
  }
  void U64(const std::string& name, StateGroup group,
           uint64_t& value) override {
    Scalar(name, group, DType::kU64, &value, sizeof(value));
  }
  void I64(const std::string& name, StateGroup group, int64_t& value) override {
    Scalar(name, group, DType::kI64, &value, sizeof(value));
  }
  void F64(const std::string& name, StateGroup group, double& value) override {
    Scalar(name, group, DType::kF64, &value, sizeof(value));
  }
  void Bytes(const std::string& name, StateGroup group,
             std::string& value) override {
    if (!Takes(group)) return;
    tensors_.push_back({name,
                        DType::kU8,
                        {static_cast<int64_t>(value.size())},
                        FingerprintBytes(value.data(), value.size())});
  }

  std::vector<TensorFingerprint> Take() { return std::move(tensors_); }

 private:
  bool Takes(StateGroup group) const { return (groups_ & SetOf(group)) != 0; }

  void Scalar(const std::string& name, StateGroup group, DType dtype,
              const void* value, size_t bytes) {
    if (!Takes(group)) return;
    tensors_.push_back({name, dtype, {1}, FingerprintBytes(value, bytes)});
  }

  const StateGroupSet groups_;
  const KnownFingerprints& known_;
  std::vector<TensorFingerprint> tensors_;
};

}  // namespace

std::vector<TensorFingerprint> StateTensorFingerprints(
    const StateRegistry& registry, StateGroupSet groups,
    const KnownFingerprints& known) {
  FingerprintVisitor visitor(groups, known);
  registry.Visit(visitor);
  return visitor.Take();
}

std::vector<TensorFingerprint> StateTensorFingerprints(
    const StateRegistry& registry, StateGroupSet groups) {
  return StateTensorFingerprints(registry, groups, {});
}

std::string StateFingerprint(const StateRegistry& registry,
                             StateGroupSet groups) {
  return FieldFingerprint(StateTensorFingerprints(registry, groups));
}

}  // namespace lockstep
