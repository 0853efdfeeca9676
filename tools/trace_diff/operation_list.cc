#include "tools/trace_diff/operation_list.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "tools/trace_diff/key_hasher.h"
#include "tools/trace_diff/phase_place.h"
#include "tools/trace_diff/record_view.h"

namespace lockstep {

OperationList::Key OperationList::KeyOf(const RecordView& view) {
  KeyHasher hasher;
  hasher.Number(static_cast<uint64_t>(view.step))
      .Number(static_cast<uint64_t>(view.attempt))
      .Number(view.first_sample)
      .Text(view.phase)
      .Text(view.scope)
      .Text(view.operation);
  return {hasher.low, hasher.high};
}

OperationList::Key OperationList::KeyOf(const OperationIdentity& identity) {
  RecordView view;
  view.step = identity.step;
  view.attempt = identity.attempt;
  view.first_sample = identity.first_sample;
  view.phase = identity.phase;
  view.scope = identity.scope;
  view.operation = identity.operation;
  return KeyOf(view);
}

OperationList::Key OperationList::WithOccurrence(const Key& key,
                                                 int64_t occurrence) {
  if (occurrence == 0) return key;
  KeyHasher hasher;
  hasher.Number(key.low).Number(key.high).Number(
      static_cast<uint64_t>(occurrence));
  return {hasher.low, hasher.high};
}

OperationList::OperationList(std::vector<TracedOperation> operations)
    : objects_(std::move(operations)) {
  Reserve(objects_.size());
  for (size_t i = 0; i < objects_.size(); ++i) {
    const OperationIdentity& identity = objects_[i].identity;
    Append(KeyOf(identity),
           {.object = static_cast<int64_t>(i),
            .step = identity.step,
            .of_launch = IsOfLaunch(identity.phase),
            .ends_step = identity.operation == kStepOperation});
  }
}

bool OperationList::Add(RawTrace trace, const TraceSteps& steps,
                        uint64_t& damaged_at, const RecordTest& wanted) {
  Reserve(entries_.size() + trace.records.size());
  for (const std::string_view record : trace.records) {
    const std::optional<RecordView> view = ViewOf(record);
    if (!view) {
      damaged_at = static_cast<uint64_t>(record.data() - trace.contents.get());
      return false;
    }
    if (view->step < steps.first || view->step > steps.last) continue;
    if (wanted && !wanted(*view)) continue;
    Append(KeyOf(*view), {.record = record,
                          .tensors = view->tensors,
                          .step = view->step,
                          .of_launch = IsOfLaunch(view->phase),
                          .ends_step = view->operation == kStepOperation,
                          .is_operation = view->is_operation});
  }
  traces_.push_back(std::move(trace));
  return true;
}

size_t OperationList::SlotOf(const Key& key) const {
  size_t slot = key.low & (slots_.size() - 1);
  while (slots_[slot].entry != 0 &&
         (slots_[slot].low != key.low ||
          !(entries_[slots_[slot].entry - 1].key == key))) {
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return slot;
}

void OperationList::Reserve(size_t entries) {
  if (slots_.size() >= 2 * entries) return;
  entries_.reserve(entries);
  std::vector<Slot> old(std::bit_ceil(std::max<size_t>(64, 2 * entries)));
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.entry != 0) slots_[SlotOf(entries_[slot.entry - 1].key)] = slot;
  }
}

void OperationList::Append(const Key& identity, Entry entry) {
  Slot& first = slots_[SlotOf(identity)];
  entry.occurrence = first.times++;
  entry.key = WithOccurrence(identity, entry.occurrence);
  entries_.push_back(entry);
  Slot& own = entry.occurrence == 0 ? first : slots_[SlotOf(entry.key)];
  own.entry = static_cast<uint32_t>(entries_.size());
  own.low = entry.key.low;
}

std::optional<size_t> OperationList::Find(const Key& key) const {
  if (slots_.empty()) return std::nullopt;
  const Slot& slot = slots_[SlotOf(key)];
  if (slot.entry == 0) return std::nullopt;
  return slot.entry - 1;
}

std::optional<size_t> OperationList::Find(const OperationList& other,
                                          size_t j) const {
  // Both usually come in one order.
  if (j < entries_.size() && SameIdentity(j, other, j)) return j;
  return Find(other.entries_[j].key);
}

std::optional<size_t> OperationList::Find(
    const OperationIdentity& identity) const {
  return Find(WithOccurrence(KeyOf(identity), identity.occurrence));
}

TracedOperation OperationList::At(size_t i) const {
  const Entry& entry = entries_[i];
  TracedOperation operation;
  if (entry.object >= 0) {
    operation = objects_[static_cast<size_t>(entry.object)];
  } else {
    trace::Record record;
    record.ParseFromArray(entry.record.data(),
                          static_cast<int>(entry.record.size()));
    operation = OperationOf(record);
  }
  operation.identity.occurrence = entry.occurrence;
  return operation;
}

std::vector<TracedOperation> OperationList::All() const {
  std::vector<TracedOperation> all;
  all.reserve(size());
  for (size_t i = 0; i < size(); ++i) all.push_back(At(i));
  return all;
}

bool OperationList::SameTensors(size_t i, const OperationList& other,
                                size_t j) const {
  const Entry &a = entries_[i], &b = other.entries_[j];
  if (a.object < 0 && b.object < 0) {
    return a.is_operation ? lockstep::SameTensors(a.tensors, b.tensors)
                          : a.tensors == b.tensors;
  }
  const TracedOperation x = At(i), y = other.At(j);
  return x.inputs == y.inputs && x.outputs == y.outputs;
}

// The two lanes stand behind each other; lanes of zero are not written.
bool OperationList::MayHave(size_t i, const Fingerprint& value) const {
  if (entries_[i].object >= 0) return true;
  trace::Tensor lanes;
  lanes.set_lane0(value.lane[0]);
  lanes.set_lane1(value.lane[1]);
  return entries_[i].tensors.find(lanes.SerializeAsString()) !=
         std::string_view::npos;
}

}  // namespace lockstep
