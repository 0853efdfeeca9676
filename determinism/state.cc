#include "determinism/state.h"

#include <array>
#include <bit>
#include <set>
#include <utility>

#include "determinism/check.h"

namespace lockstep {
namespace {

static_assert(std::endian::native == std::endian::little,
              "fingerprints and files hold little-endian words");

constexpr std::array<const char*, kStateGroupCount> kNames = {
    "master", "moment", "runtime", "counter", "random",
    "data",   "scaler", "grid",    "spike"};

// Puts the object's name before each entry and sees that none comes twice.
class NamingVisitor : public StateVisitor {
 public:
  NamingVisitor(StateVisitor& visitor, std::set<std::string>& seen)
      : visitor_(visitor), seen_(seen) {}

  void set_object(const std::string& name) { object_ = name; }

  void Tensor(const StateTensor& tensor) override {
    StateTensor named = tensor;
    named.name = object_ + "/" + tensor.name;
    if (named.name != last_tensor_) last_tensor_ = Named(tensor.name);
    visitor_.Tensor(named);
  }
  void U64(const std::string& name, StateGroup group,
           uint64_t& value) override {
    visitor_.U64(Named(name), group, value);
  }
  void I64(const std::string& name, StateGroup group, int64_t& value) override {
    visitor_.I64(Named(name), group, value);
  }
  void F64(const std::string& name, StateGroup group, double& value) override {
    visitor_.F64(Named(name), group, value);
  }
  void Bytes(const std::string& name, StateGroup group,
             std::string& value) override {
    visitor_.Bytes(Named(name), group, value);
  }

 private:
  std::string Named(const std::string& entry) {
    LS_CHECK(!entry.empty()) << "an entry of " << object_ << " has no name";
    std::string name = object_ + "/" + entry;
    LS_CHECK(seen_.insert(name).second) << "state entry " << name << " twice";
    return name;
  }

  StateVisitor& visitor_;
  std::set<std::string>& seen_;
  std::string object_;
  std::string last_tensor_;  // its further boxes follow
};

}  // namespace

const char* NameOf(StateGroup group) {
  return kNames[static_cast<size_t>(group)];
}

StateRegistry::~StateRegistry() {
  LS_CHECK(objects_.empty())
      << "state registry destroyed before " << objects_.begin()->first;
}

void StateRegistry::Visit(StateVisitor& visitor) const {
  std::set<std::string> seen;
  NamingVisitor naming(visitor, seen);
  for (const auto& [name, object] : objects_) {
    naming.set_object(name);
    object->VisitState(naming);
  }
}

std::vector<std::string> StateRegistry::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, object] : objects_) names.push_back(name);
  return names;
}

Stateful::Stateful(StateRegistry& registry, std::string name)
    : registry_(registry), name_(std::move(name)) {
  LS_CHECK(!name_.empty()) << "a stateful object needs a name";
  const bool is_new = registry_.objects_.emplace(name_, this).second;
  LS_CHECK(is_new) << "two stateful objects are named " << name_;
}

Stateful::~Stateful() { registry_.objects_.erase(name_); }

}  // namespace lockstep
