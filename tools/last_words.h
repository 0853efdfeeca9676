// RUN/ranks/N.json: what rank N knew when it gave up.
//
// What it is: the step, the collective and whom it waited for, written by each
// survivor of a lost rank. What it is not: the reason, which the lost rank had;
// but whom all the others waited for is where to look. Why so: a job that ended
// with 6 on many machines leaves nothing else to tell the ranks apart.
#ifndef LOCKSTEP_TOOLS_LAST_WORDS_H_
#define LOCKSTEP_TOOLS_LAST_WORDS_H_

#include <string>

#include "parallel/watchdog.h"

namespace lockstep {

// To stderr where the file cannot be written; nowhere without a folder.
void WriteLastWords(const std::string& run_dir, const LastWords& words);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_LAST_WORDS_H_
