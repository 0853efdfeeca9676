#include "tools/bisect/page/png.h"

#include <zlib.h>

#include "absl/strings/escaping.h"
#include "determinism/check.h"

namespace lockstep {
namespace {

void AppendU32(std::string& bytes, uint64_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) {
    bytes += static_cast<char>(value >> shift);
  }
}

void AppendChunk(std::string& png, const std::string& type,
                 const std::string& data) {
  AppendU32(png, data.size());
  const std::string body = type + data;
  png += body;
  AppendU32(png, crc32(0, reinterpret_cast<const Bytef*>(body.data()),
                       static_cast<uInt>(body.size())));
}

std::string Deflated(const std::string& bytes) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string packed(size, '\0');
  LS_CHECK_EQ(compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                        reinterpret_cast<const Bytef*>(bytes.data()),
                        static_cast<uLong>(bytes.size()), 9),
              Z_OK);
  packed.resize(size);
  return packed;
}

}  // namespace

std::string PngBytes(int64_t width, int64_t height,
                     const std::vector<uint8_t>& rgba) {
  LS_CHECK_EQ(static_cast<int64_t>(rgba.size()), width * height * 4);
  std::string rows;
  const auto line = static_cast<size_t>(width * 4);
  for (size_t row = 0; row < static_cast<size_t>(height); ++row) {
    rows += '\0';  // no filter
    rows.append(reinterpret_cast<const char*>(rgba.data()) + row * line, line);
  }
  std::string header;
  AppendU32(header, static_cast<uint64_t>(width));
  AppendU32(header, static_cast<uint64_t>(height));
  header += std::string("\x08\x06\0\0\0", 5);  // 8 bits, RGBA
  std::string png = "\x89PNG\r\n\x1a\n";
  AppendChunk(png, "IHDR", header);
  AppendChunk(png, "IDAT", Deflated(rows));
  AppendChunk(png, "IEND", "");
  return png;
}

std::string PngUri(int64_t width, int64_t height,
                   const std::vector<uint8_t>& rgba) {
  return "data:image/png;base64," +
         absl::Base64Escape(PngBytes(width, height, rgba));
}

}  // namespace lockstep
