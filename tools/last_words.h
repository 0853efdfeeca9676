// RUN/ranks/N.json: what rank N knew when it gave up.
//
// What it is: the step, the collective and whom it waited for, written by each
// survivor of a lost rank. What it is not: the reason, which the lost rank had;
// but whom all the others waited for is where to look. Why so: a job that ended
// with 6 on many machines leaves nothing else to tell the ranks apart.
#ifndef LOCKSTEP_TOOLS_LAST_WORDS_H_
#define LOCKSTEP_TOOLS_LAST_WORDS_H_

#include <mutex>
#include <string>

#include "parallel/watchdog.h"

namespace lockstep {

// To stderr where the file cannot be written; nowhere without a folder.
void WriteLastWords(const std::string& run_dir, const LastWords& words);

// Where last words go, said by the rank once it knows and asked for by whatever
// thread ends it.
class LastWordsFolder {
 public:
  void Set(const std::string& run_dir) {
    const std::lock_guard<std::mutex> lock(mutex_);
    run_dir_ = run_dir;
  }
  // The first to ask is heard: a rank has one last word, and its watchdog and
  // a signal may come at the same time.
  void Write(const LastWords& words) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!written_) WriteLastWords(run_dir_, words);
    written_ = true;
  }

 private:
  std::mutex mutex_;
  std::string run_dir_;
  bool written_ = false;
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_LAST_WORDS_H_
