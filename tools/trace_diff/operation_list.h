// What one rank did, as its trace has it, ready to be matched.
//
// What it is: operations in the order of the trace, found by identity, compared
// by bytes and made objects of only where one asks to see them. What it is not:
// a judgement (rank_parting.h). Why so: a trace has millions of records, nearly
// all of which are equal to the other's.
#ifndef LOCKSTEP_TOOLS_TRACE_DIFF_OPERATION_LIST_H_
#define LOCKSTEP_TOOLS_TRACE_DIFF_OPERATION_LIST_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "determinism/trace_raw.h"
#include "tools/trace_diff/traced_operation.h"

namespace lockstep {

struct RecordView;

// Steps of a trace, both included.
struct TraceSteps {
  int64_t first = 0;
  int64_t last = INT64_MAX;
};

// Which records are taken; empty: all.
using RecordTest = std::function<bool(const RecordView&)>;

class OperationList {
 public:
  OperationList() = default;
  explicit OperationList(std::vector<TracedOperation> operations);

  // Adds a file's records of these steps; false, with its place, for one that
  // is none. Occurrences are counted on from what is there.
  bool Add(RawTrace trace, const TraceSteps& steps, uint64_t& damaged_at,
           const RecordTest& wanted = {});

  size_t size() const { return entries_.size(); }
  // With the occurrence; a record is parsed for it.
  TracedOperation At(size_t i) const;
  std::vector<TracedOperation> All() const;

  // Of the same identity: identities are compared by 128 bits of a hash.
  bool SameIdentity(size_t i, const OperationList& other, size_t j) const {
    return entries_[i].key == other.entries_[j].key;
  }
  std::optional<size_t> Find(const OperationList& other, size_t j) const;
  std::optional<size_t> Find(const OperationIdentity& identity) const;
  // Kinds and values of all tensors.
  bool SameTensors(size_t i, const OperationList& other, size_t j) const;
  // Of a launch or a checkpoint (phase_place.h).
  bool OfLaunch(size_t i) const { return entries_[i].of_launch; }
  int64_t StepOf(size_t i) const { return entries_[i].step; }
  // The fields of a step, which are behind all of its operations.
  bool EndsStep(size_t i) const { return entries_[i].ends_step; }
  // False where an operation certainly has no such tensor.
  bool MayHave(size_t i, const Fingerprint& value) const;

 private:
  struct Key {
    uint64_t low = 0, high = 0;
    friend bool operator==(const Key& a, const Key& b) {
      return a.low == b.low && a.high == b.high;
    }
  };
  struct Entry {
    Key key = {};
    // Of a record: all of it, and its tensors. Of an object, its place.
    std::string_view record = {}, tensors = {};
    int64_t object = -1;
    int64_t occurrence = 0;
    int64_t step = 0;
    bool of_launch = false;
    bool ends_step = false;
    bool is_operation = true;
  };

  static Key KeyOf(const RecordView& view);
  static Key KeyOf(const OperationIdentity& identity);
  static Key WithOccurrence(const Key& key, int64_t occurrence);

  // `identity`: without the occurrence, which is counted.
  void Append(const Key& identity, Entry entry);
  size_t SlotOf(const Key& key) const;
  void Reserve(size_t entries);
  std::optional<size_t> Find(const Key& key) const;

  std::vector<RawTrace> traces_;
  std::vector<TracedOperation> objects_;
  std::vector<Entry> entries_;
  // Open addressing, twice as many slots as entries: places + 1, of the first
  // of an identity how many there are, and half of the key, so that a look
  // touches one line of memory.
  struct Slot {
    uint32_t entry = 0;
    uint32_t times = 0;
    uint64_t low = 0;
  };
  std::vector<Slot> slots_;
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_TRACE_DIFF_OPERATION_LIST_H_
