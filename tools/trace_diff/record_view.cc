#include "tools/trace_diff/record_view.h"

#include "determinism/trace.pb.h"
#include "tools/trace_diff/traced_operation.h"
#include "tools/trace_diff/wire_reader.h"

namespace lockstep {
namespace {

using R = trace::Record;
using O = trace::Operation;

bool ReadOperation(std::string_view bytes, RecordView& view) {
  const char* begin = nullptr;
  const char* end = nullptr;
  WireReader reader(bytes);
  while (reader.Next()) {
    switch (reader.field()) {
      case O::kScopeFieldNumber:
        view.scope = reader.bytes();
        break;
      case O::kOperationFieldNumber:
        view.operation = reader.bytes();
        break;
      case O::kFirstSampleFieldNumber:
        view.first_sample = reader.number();
        break;
      case O::kInputsFieldNumber:
      case O::kOutputsFieldNumber:
        if (begin == nullptr) begin = reader.begin();
        end = reader.end();
        break;
      default:
        break;
    }
  }
  if (begin != nullptr) {
    view.tensors = {begin, static_cast<size_t>(end - begin)};
  }
  view.is_operation = true;
  return reader.ok();
}

bool ReadModule(std::string_view bytes, RecordView& view) {
  WireReader reader(bytes);
  while (reader.Next()) {
    if (reader.field() == trace::ModuleEnd::kScopeFieldNumber) {
      view.scope = reader.bytes();
    }
  }
  return reader.ok();
}

// A combined record is all its bytes.
bool ReadBody(int field, std::string_view bytes, RecordView& view) {
  if (field == R::kOperationFieldNumber) return ReadOperation(bytes, view);
  view.tensors = bytes;
  if (field == R::kPhaseEndFieldNumber) {
    view.operation = kPhaseOperation;
  } else if (field == R::kModuleEndFieldNumber) {
    view.operation = kModuleOperation;
    return ReadModule(bytes, view);
  } else if (field == R::kStepEndFieldNumber) {
    view.operation = kStepOperation;
  } else {
    return false;
  }
  return true;
}

// The next tensor of `rest` without its values, in two pieces.
struct TensorBytes {
  int field = 0;
  std::string_view before, after;
  friend bool operator==(const TensorBytes&, const TensorBytes&) = default;
};

TensorBytes WithoutValues(int field, std::string_view tensor) {
  TensorBytes bytes = {.field = field, .before = tensor, .after = {}};
  WireReader reader(tensor);
  while (reader.Next()) {
    if (reader.field() != trace::Tensor::kValuesFieldNumber) continue;
    bytes.before = {tensor.data(),
                    static_cast<size_t>(reader.begin() - tensor.data())};
    bytes.after = {
        reader.end(),
        static_cast<size_t>(tensor.data() + tensor.size() - reader.end())};
  }
  return bytes;
}

}  // namespace

std::optional<RecordView> ViewOf(std::string_view record) {
  RecordView view;
  bool sound = true;
  WireReader reader(record);
  while (sound && reader.Next()) {
    switch (reader.field()) {
      case R::kStepFieldNumber:
        view.step = static_cast<int64_t>(reader.number());
        break;
      case R::kAttemptFieldNumber:
        view.attempt = static_cast<int64_t>(reader.number());
        break;
      case R::kPhaseFieldNumber:
        view.phase = reader.bytes();
        break;
      case R::kMicroBatchFieldNumber:
        break;
      default:
        sound = ReadBody(reader.field(), reader.bytes(), view);
    }
  }
  if (!sound || !reader.ok() || view.operation.empty()) return std::nullopt;
  return view;
}

bool SameTensors(std::string_view a, std::string_view b) {
  if (a == b) return true;
  WireReader of_a(a), of_b(b);
  while (true) {
    const bool more = of_a.Next();
    if (more != of_b.Next()) return false;
    if (!more) return of_a.ok() && of_b.ok();
    if (WithoutValues(of_a.field(), of_a.bytes()) !=
        WithoutValues(of_b.field(), of_b.bytes())) {
      return false;
    }
  }
}

}  // namespace lockstep
