// The registry of everything that decides the future of a run.
//
// What must survive a resume derives from Stateful and describes itself in one
// function, VisitState, which saving, loading, fingerprinting and poisoning all
// call: no direction can be forgotten. The base class registers in its
// constructor, so a stateful object that nobody saves cannot exist. The
// checkpoint is this registry written down. Not for caches, buffers or
// anything that can be derived; runtime weights (kRuntime) are visited for
// their fingerprint, yet rebuilt and not saved (N10).

#ifndef DETERMINISM_STATE_H_
#define DETERMINISM_STATE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "determinism/dtype.h"
#include "determinism/fingerprint.h"

namespace lockstep {

enum class StateGroup : uint8_t {
  kMaster,   // fp32 parameters, the source of truth
  kMoment,   // optimizer moments
  kRuntime,  // weights in the storage type; not saved
  kCounter,  // iterations, updates, samples, tokens
  kRandom,   // seeds and stream table
  kData,     // cursor, skip list
  kScaler,   // loss scale
  kGrid,     // exponents of N5
  kSpike,    // statistics of the spike detector
};
inline constexpr int kStateGroupCount = 9;

// "master", "moment", ...
const char* NameOf(StateGroup group);

// Sets of groups, as bits.
using StateGroupSet = uint32_t;
constexpr StateGroupSet SetOf(StateGroup group) {
  return StateGroupSet{1} << static_cast<int>(group);
}
inline constexpr StateGroupSet kAllState = (1u << kStateGroupCount) - 1;
// What a checkpoint holds.
inline constexpr StateGroupSet kSavedState =
    kAllState & ~SetOf(StateGroup::kRuntime);

// A box of a tensor that this rank has: `data` is the box, contiguous and
// row-major.
struct StateTensor {
  std::string name;
  StateGroup group;
  DType dtype;
  std::vector<int64_t> global_shape;
  std::vector<int64_t> box_start;
  std::vector<int64_t> box_shape;
  void* data;
  // Another rank has the same box and counts, saves and hashes it; a load
  // fills both.
  bool replica = false;
};

// Gets references: a loading visitor writes through them.
class StateVisitor {
 public:
  virtual ~StateVisitor() = default;
  // Of a tensor with several boxes one call a box, in a row, all with the same
  // name and global shape. A rank that has nothing of a tensor visits one box
  // without elements, so that every rank names every entry.
  virtual void Tensor(const StateTensor& tensor) = 0;
  virtual void U64(const std::string& name, StateGroup group,
                   uint64_t& value) = 0;
  virtual void I64(const std::string& name, StateGroup group,
                   int64_t& value) = 0;
  virtual void F64(const std::string& name, StateGroup group,
                   double& value) = 0;
  // Any bytes; a loader may change the length.
  virtual void Bytes(const std::string& name, StateGroup group,
                     std::string& value) = 0;
};

class Stateful;

// One a rank; outlives what registers in it. Not thread-safe.
class StateRegistry {
 public:
  StateRegistry() = default;
  StateRegistry(const StateRegistry&) = delete;
  StateRegistry& operator=(const StateRegistry&) = delete;
  ~StateRegistry();

  // Every entry of every object, objects in the byte order of their names,
  // entries in the order of VisitState, named "<object>/<entry>". A name that
  // comes twice is a bug.
  void Visit(StateVisitor& visitor) const;

  // Sorted.
  std::vector<std::string> Names() const;

 private:
  friend class Stateful;
  std::map<std::string, Stateful*> objects_;
};

class Stateful {
 public:
  Stateful(const Stateful&) = delete;
  Stateful& operator=(const Stateful&) = delete;
  virtual ~Stateful();

  const std::string& name() const { return name_; }
  // Names every entry once, always the same ones in the same order.
  virtual void VisitState(StateVisitor& visitor) = 0;

 protected:
  // `name` is unique in the registry and not empty.
  Stateful(StateRegistry& registry, std::string name);

 private:
  StateRegistry& registry_;
  const std::string name_;
};

// One record an entry of the given groups; a scalar is a tensor of shape [1],
// bytes are U8 of shape [n]. `value` covers this rank's box and adds up over
// ranks that hold disjoint boxes (N11); boxes that are replicas count as zero.
// Scalars and bytes stand on every rank: whoever adds takes them once.
std::vector<TensorFingerprint> StateTensorFingerprints(
    const StateRegistry& registry, StateGroupSet groups);

// 32 hex digits over the above: the fields of N11, for a rank that holds all.
std::string StateFingerprint(const StateRegistry& registry,
                             StateGroupSet groups = kAllState);

// Overwrites all state with a pattern that is NaN in every float type. Whoever
// restores afterwards shows that nothing was left as it happened to be.
void PoisonState(const StateRegistry& registry,
                 StateGroupSet groups = kAllState);

}  // namespace lockstep

#endif  // DETERMINISM_STATE_H_
