// The command line of `lockstep`: parsing, dispatch to a verb, exit code.
//
// Apart from main() so that the process's own settings stand by themselves, and
// apart from the verbs so that the command-line library is compiled once.
#ifndef LOCKSTEP_TOOLS_CLI_H_
#define LOCKSTEP_TOOLS_CLI_H_

#include <string>
#include <vector>

namespace lockstep {

// Returns the process's exit code (determinism/status.h).
int RunCommandLine(int argc, char** argv);

// What is wrong with the words behind the program's name, or ""; a call for
// help is "help". Does and prints nothing: for a fuzzer.
std::string ParseCommandLine(const std::vector<std::string>& words);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_CLI_H_
