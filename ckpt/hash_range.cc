#include "ckpt/hash_range.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <thread>

namespace lockstep {
namespace {

constexpr uint64_t kPieceBytes = uint64_t{4} << 20;

}  // namespace

absl::Status HashRange(const RandomAccessFile& file, uint64_t from, uint64_t to,
                       Sha256& sha256) {
  std::array<std::string, 2> buffers;
  std::thread hashing;  // of the piece before
  absl::Status read;
  size_t turn = 0;
  for (uint64_t at = from; at < to && read.ok();) {
    std::string& buffer = buffers[turn];
    turn = 1 - turn;
    buffer.resize(std::min(kPieceBytes, to - at));
    read = file.ReadAt(at, buffer.size(), buffer.data());
    at += buffer.size();
    if (hashing.joinable()) hashing.join();
    if (!read.ok()) break;
    const auto hash = [&sha256, &buffer] {
      sha256.Update(std::string_view(buffer));
    };
    if (at == to) {
      hash();
    } else {
      hashing = std::thread(hash);
    }
  }
  return read;
}

}  // namespace lockstep
