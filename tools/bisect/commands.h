// What to type to see it again.
#ifndef LOCKSTEP_TOOLS_BISECT_COMMANDS_H_
#define LOCKSTEP_TOOLS_BISECT_COMMANDS_H_

#include <string>
#include <vector>

#include "tools/bisect/bisect.h"

namespace lockstep {

// One word of a POSIX shell, whatever is in it.
std::string ShellWord(const std::string& text);

std::vector<BisectCommand> CommandsOf(const BisectResult& result);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BISECT_COMMANDS_H_
