// A picture inside a page.
//
// What it is: pixels as a PNG in a data URI, so that a page needs no other
// file. What it is not: an image library. Format: PNG, W3C Recommendation of
// 2003, RGBA of 8 bits, no filter.
#ifndef LOCKSTEP_TOOLS_BISECT_PAGE_PNG_H_
#define LOCKSTEP_TOOLS_BISECT_PAGE_PNG_H_

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

// Row-major, 4 bytes a pixel.
std::string PngBytes(int64_t width, int64_t height,
                     const std::vector<uint8_t>& rgba);
// "data:image/png;base64,...".
std::string PngUri(int64_t width, int64_t height,
                   const std::vector<uint8_t>& rgba);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BISECT_PAGE_PNG_H_
