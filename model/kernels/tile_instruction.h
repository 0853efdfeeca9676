// One tile instruction of AMX, taken apart where a thread stopped at it.
//
// What it is: the encodings of the Intel SDM, volume 2, chapter 3, for the few
// instructions that tiles.h has; for tests (tile_trap.h). What it is not: a
// disassembler.

#ifndef MODEL_KERNELS_TILE_INSTRUCTION_H_
#define MODEL_KERNELS_TILE_INSTRUCTION_H_

#include <ucontext.h>

#include <cstdint>

namespace lockstep {

// The three-byte VEX form, in which all of them are.
struct TileInstruction {
  int prefix;   // 0: none, 1: 66, 2: F3, 3: F2
  int opcode;   // of the map 0F 38
  int reg;      // modrm.reg
  int third;    // VEX.vvvv
  bool memory;  // else `rm` is a register
  int rm;
  int64_t base;   // address of the memory operand without its index
  int64_t index;  // times its scale: a row's stride
  int length;     // bytes
};

// At the context's instruction pointer; false for anything else. Safe in a
// signal handler.
bool DecodeTileInstruction(const ucontext_t& context, TileInstruction& in);

}  // namespace lockstep

#endif  // MODEL_KERNELS_TILE_INSTRUCTION_H_
