// What identifies a record of a trace, and its tensors, read in place.
//
// Private to the list of operations. The strings lie in the record.
#ifndef LOCKSTEP_TOOLS_TRACE_DIFF_RECORD_VIEW_H_
#define LOCKSTEP_TOOLS_TRACE_DIFF_RECORD_VIEW_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace lockstep {

struct RecordView {
  int64_t step = 0;
  int64_t attempt = 0;
  std::string_view phase;
  std::string_view scope;
  std::string_view operation;  // "(phase)", ... where it is no operation
  uint64_t first_sample = 0;
  // From the first input to the last output; of other records all they have.
  std::string_view tensors;
  bool is_operation = false;
};

// Nothing for what is no record.
std::optional<RecordView> ViewOf(std::string_view record);

// Whether two operations' tensors are the same but for values that only one of
// the traces recorded.
bool SameTensors(std::string_view a, std::string_view b);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_TRACE_DIFF_RECORD_VIEW_H_
