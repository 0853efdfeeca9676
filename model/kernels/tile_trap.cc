#include "model/kernels/tile_trap.h"

#include <immintrin.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>

#include "determinism/environment.h"
#include "model/kernels/tile_instruction.h"

namespace lockstep {
namespace {

constexpr int kRegisters = 8;
constexpr int kRows = 16;
constexpr int kRowBytes = 64;

struct TileState {
  bool configured = false;
  uint16_t row_bytes[kRegisters];
  uint8_t rows[kRegisters];
  uint8_t data[kRegisters][kRows][kRowBytes];
};
thread_local TileState tiles;
std::atomic<int64_t> instructions, products;

bool Configure(const uint8_t* from) {
  if (from[0] != 1 || from[1] != 0) return false;
  std::memcpy(tiles.row_bytes, from + 16, sizeof(tiles.row_bytes));
  std::memcpy(tiles.rows, from + 48, sizeof(tiles.rows));
  for (int i = 0; i < kRegisters; ++i) {
    if (tiles.row_bytes[i] > kRowBytes || tiles.rows[i] > kRows) return false;
  }
  std::memset(tiles.data, 0, sizeof(tiles.data));
  tiles.configured = true;
  return true;
}

void Move(const TileInstruction& in, bool load) {
  for (int row = 0; row < tiles.rows[in.reg]; ++row) {
    auto* const memory = reinterpret_cast<uint8_t*>(in.base + row * in.index);
    uint8_t* const held = tiles.data[in.reg][row];
    const size_t bytes = tiles.row_bytes[in.reg];
    if (load) {
      std::memset(held, 0, kRowBytes);
      std::memcpy(held, memory, bytes);
    } else {
      std::memcpy(memory, held, bytes);
    }
  }
}

float Widened(const uint8_t* at) {
  uint16_t bits;
  std::memcpy(&bits, at, sizeof(bits));
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

// sum[m][n] += the block of 32: even and odd chains, then even + odd (N3).
bool Multiply(int sum, int a, int b) {
  const int pairs = tiles.row_bytes[a] / 4;
  if (tiles.rows[sum] != tiles.rows[a] || pairs != tiles.rows[b] ||
      tiles.row_bytes[sum] != tiles.row_bytes[b] || sum == a || sum == b ||
      a == b) {
    return false;
  }
  for (int m = 0; m < tiles.rows[sum]; ++m) {
    for (int n = 0; n < tiles.row_bytes[sum] / 4; ++n) {
      float even = 0.0f, odd = 0.0f, held;
      for (int p = 0; p < pairs; ++p) {
        const uint8_t* const x = tiles.data[a][m] + 4 * p;
        const uint8_t* const y = tiles.data[b][p] + 4 * n;
        even = std::fma(Widened(x), Widened(y), even);
        odd = std::fma(Widened(x + 2), Widened(y + 2), odd);
      }
      uint8_t* const at = tiles.data[sum][m] + 4 * n;
      std::memcpy(&held, at, sizeof(held));
      held += even + odd;
      std::memcpy(at, &held, sizeof(held));
    }
  }
  products.fetch_add(1, std::memory_order_relaxed);
  return true;
}

bool Execute(const TileInstruction& in) {
  if (in.opcode == 0x49 && in.prefix == 0 && in.memory && in.reg == 0) {
    return Configure(reinterpret_cast<const uint8_t*>(in.base));
  }
  if (!tiles.configured) return false;
  if (in.opcode == 0x49 && in.prefix == 0 && !in.memory) {
    tiles.configured = false;
    return true;
  }
  if (in.opcode == 0x49 && in.prefix == 3 && !in.memory) {
    std::memset(tiles.data[in.reg], 0, sizeof(tiles.data[in.reg]));
    return true;
  }
  if (in.opcode == 0x4b && in.memory && in.prefix != 0) {
    Move(in, in.prefix != 2);
    return true;
  }
  if (in.opcode == 0x5c && in.prefix == 2 && !in.memory) {
    return Multiply(in.reg, in.rm, in.third);
  }
  return false;
}

// A handler starts with the system's MXCSR; the tiles flush, whatever it says.
void OnIllegal(int, siginfo_t*, void* raw) {
  auto& context = *static_cast<ucontext_t*>(raw);
  greg_t& next = context.uc_mcontext.gregs[REG_RIP];
  _mm_setcsr(0x9fc0);
  TileInstruction in;
  if (!DecodeTileInstruction(context, in) || !Execute(in)) {
    signal(SIGILL, SIG_DFL);  // and meet it again
    return;
  }
  instructions.fetch_add(1, std::memory_order_relaxed);
  next += in.length;
}

}  // namespace

bool EmulateTiles() {
  if (!IsaPresent(Isa::kAvx512)) return false;
  struct sigaction action = {};
  action.sa_sigaction = &OnIllegal;
  action.sa_flags = SA_SIGINFO;
  return sigaction(SIGILL, &action, nullptr) == 0;
}

TileCounts EmulatedTiles() { return {instructions.load(), products.load()}; }

}  // namespace lockstep
