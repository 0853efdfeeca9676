// The fields of a protobuf message, read in place.
//
// What it is: tags, varints, fixed numbers and ranges of bytes, as the encoding
// has them (protobuf.dev/programming-guides/encoding). What it is not: a
// parser of whole messages, which trace.pb.h has. Why so: of a million records
// the comparison of traces needs who did it, and whether the bytes are equal;
// making an object of each takes most of the time.
#ifndef LOCKSTEP_TOOLS_TRACE_DIFF_WIRE_READER_H_
#define LOCKSTEP_TOOLS_TRACE_DIFF_WIRE_READER_H_

#include <cstdint>
#include <string_view>

namespace lockstep {

class WireReader {
 public:
  explicit WireReader(std::string_view bytes)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  // The next field; false at the end and behind what is no field (ok() says).
  bool Next() {
    if (at_ == end_) return false;
    begin_ = at_;
    const uint64_t tag = Varint();
    field_ = static_cast<int>(tag >> 3);
    switch (tag & 7) {
      case 0:
        number_ = Varint();
        break;
      case 1:
        Take(8);
        break;
      case 2:
        Take(Varint());
        break;
      case 5:
        Take(4);
        break;
      default:
        ok_ = false;
    }
    return ok_;
  }

  int field() const { return field_; }
  uint64_t number() const { return number_; }        // of a varint
  std::string_view bytes() const { return bytes_; }  // of any other
  const char* begin() const { return begin_; }  // of the field, tag and all
  const char* end() const { return at_; }
  bool ok() const { return ok_; }

 private:
  uint64_t Varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && at_ != end_; shift += 7) {
      const auto byte = static_cast<unsigned char>(*at_++);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    ok_ = false;
    return 0;
  }
  void Take(uint64_t length) {
    if (length > static_cast<uint64_t>(end_ - at_)) {
      ok_ = false;
      return;
    }
    bytes_ = {at_, static_cast<size_t>(length)};
    at_ += length;
  }

  const char* at_;
  const char* const end_;
  const char* begin_ = nullptr;
  int field_ = 0;
  uint64_t number_ = 0;
  std::string_view bytes_;
  bool ok_ = true;
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_TRACE_DIFF_WIRE_READER_H_
