// Boxes of a tensor: what two have in common, and its bytes from one to the
// other.
//
// What it is: arithmetic of starts and lengths, and one loop that copies runs.
// What it is not: files or memory of a run: whoever loads (box_copy.h) or reads
// a checkpoint in parts (tensor_parts.h) knows those. Why so: one loop decides
// where a byte of a shard goes, whatever the layout.

#ifndef CKPT_BOX_H_
#define CKPT_BOX_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace lockstep {

struct Box {
  std::vector<int64_t> start = {};
  std::vector<int64_t> shape = {};
  friend bool operator==(const Box&, const Box&) = default;
};

int64_t ElementsOf(const Box& box);

// Of one tensor's rank; nothing where they share no element. Scalars, of rank
// 0, are the same box.
std::optional<Box> Overlap(const Box& a, const Box& b);

// What the two share, from `from`'s elements to `to`'s, both row-major and
// contiguous; `width` bytes an element. They share something.
void CopyOverlap(const Box& from_box, const char* from, const Box& to_box,
                 char* to, size_t width);

}  // namespace lockstep

#endif  // CKPT_BOX_H_
