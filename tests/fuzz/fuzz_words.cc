// The command's words: one a line, parsed by every verb's options and not done.
//
// Apart from the other entries, since it is linked with the whole command.
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_split.h"
#include "tests/fuzz/fuzz_entries.h"
#include "tests/fuzz/fuzz_file.h"
#include "tools/cli.h"

namespace lockstep {

void FuzzWords(std::string_view bytes) {
  std::vector<std::string> words;
  for (const absl::string_view word :
       absl::StrSplit(absl::string_view(bytes.data(), bytes.size()), '\n')) {
    // A word of the system's ends at its first zero.
    words.emplace_back(word.substr(0, word.find('\0')));
  }
  Use(ParseCommandLine(words));
}

std::vector<FuzzEntry> FuzzEntries() { return {{"words", FuzzWords}}; }

}  // namespace lockstep
