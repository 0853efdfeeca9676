// One string field of one JSON object, as a line of JSONL holds it.
//
// A line is parsed as a whole, strictly (RFC 8259, UTF-8), so that a damaged
// line cannot pass because the damage is in another field; only the chosen
// field is kept. Only the object's own fields count: a field of the same name
// further inside is another one.

#ifndef DATA_JSON_FIELD_H_
#define DATA_JSON_FIELD_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace lockstep {

// The text of `field`. `where` ("file:line") stands in the InputError for a
// line that is no JSON object, has an escape or byte that is no Unicode text,
// lacks the field, has it twice, or holds something else than a string there.
absl::StatusOr<std::string> JsonField(std::string_view line,
                                      const std::string& field,
                                      const std::string& where);

}  // namespace lockstep

#endif  // DATA_JSON_FIELD_H_
