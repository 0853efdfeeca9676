#include "model/kernels/tile_instruction.h"

#include <cstring>

namespace lockstep {
namespace {

int64_t Register(const ucontext_t& context, int number) {
  static constexpr int kPlaces[] = {
      REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
      REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  return context.uc_mcontext.gregs[kPlaces[number]];
}

int64_t Displacement(const uint8_t* at, int bytes) {
  if (bytes == 1) return static_cast<int8_t>(*at);
  int32_t value = 0;
  if (bytes == 4) std::memcpy(&value, at, sizeof(value));
  return value;
}

// The operand that modrm names, from the byte behind it on.
void DecodeMemory(const ucontext_t& context, const uint8_t* code, int mod,
                  int base_bit, int index_bit, TileInstruction& in) {
  const uint8_t* at = code + in.length;
  int bytes = mod == 1 ? 1 : mod == 2 ? 4 : 0;
  in.index = 0;
  if (in.rm == 4) {  // a scale, an index and a base
    const int sib = *at++;
    const int index = (sib >> 3 & 7) | index_bit << 3;
    const int base = sib & 7;
    if (index != 4) in.index = Register(context, index) << (sib >> 6);
    const bool none = base == 5 && mod == 0;
    if (none) bytes = 4;
    in.base = none ? 0 : Register(context, base | base_bit << 3);
  } else if (in.rm == 5 && mod == 0) {  // from the next instruction on
    bytes = 4;
    in.base = reinterpret_cast<int64_t>(at + bytes);
  } else {
    in.base = Register(context, in.rm | base_bit << 3);
  }
  in.base += Displacement(at, bytes);
  in.length = static_cast<int>(at + bytes - code);
}

}  // namespace

bool DecodeTileInstruction(const ucontext_t& context, TileInstruction& in) {
  const auto* const code =
      reinterpret_cast<const uint8_t*>(context.uc_mcontext.gregs[REG_RIP]);
  if (code[0] != 0xc4 || (code[1] & 0x1f) != 2) return false;
  if ((code[2] & 0x84) != 0) return false;  // W and L
  in.prefix = code[2] & 3;
  in.third = ~(code[2] >> 3) & 15;
  in.opcode = code[3];
  const int mod = code[4] >> 6;
  in.reg = code[4] >> 3 & 7;
  in.rm = code[4] & 7;
  in.memory = mod != 3;
  in.length = 5;
  if (in.memory) {
    DecodeMemory(context, code, mod, (~code[1] >> 5) & 1, (~code[1] >> 6) & 1,
                 in);
  }
  return true;
}

}  // namespace lockstep
