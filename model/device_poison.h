// Fresh memory that holds a pattern, for whoever suspects that some is read
// before it is written.
//
// What it is: while one exists, every block that any Device of the process
// hands out is filled with a pattern that is NaN in every float type. What it
// is not: a check: whoever uses it compares two results. Why so: a step whose
// bits are the same with it and without it has read nothing that nobody wrote;
// without it, memory that happened to be zero looks like a value.
#ifndef LOCKSTEP_MODEL_DEVICE_POISON_H_
#define LOCKSTEP_MODEL_DEVICE_POISON_H_

namespace lockstep {

class ScopedPoison {
 public:
  ScopedPoison();
  ~ScopedPoison();
  ScopedPoison(const ScopedPoison&) = delete;
  ScopedPoison& operator=(const ScopedPoison&) = delete;
};

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_DEVICE_POISON_H_
