#include "tools/plan/hosts.h"

#include <algorithm>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "determinism/nearest.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

constexpr int64_t kMostSlots = 65'536;

absl::Status Odd(const std::string& where, const std::string& what) {
  return InputError(what, where, "write a host a line, as in: node01 slots=8");
}

absl::StatusOr<Host> HostOf(const std::string& where, absl::string_view line) {
  const std::vector<std::string> words =
      absl::StrSplit(line, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
  Host host = {.name = words[0]};
  // One with a dash in front would be an option of the launcher, and what else
  // no name can hold would go to ssh.
  const bool odd =
      std::any_of(host.name.begin(), host.name.end(), [](const char c) {
        return !absl::ascii_isalnum(static_cast<unsigned char>(c)) &&
               c != '.' && c != '-' && c != '_';
      });
  if (odd || host.name[0] == '-') {
    return Odd(where, absl::StrCat("'", host.name, "' is no host's name"));
  }
  for (size_t i = 1; i < words.size(); ++i) {
    absl::string_view value = words[i];
    if (!absl::ConsumePrefix(&value, "slots=") ||
        !absl::SimpleAtoi(value, &host.slots) || host.slots < 1 ||
        host.slots > kMostSlots) {
      return Odd(where, absl::StrCat("'", words[i],
                                     "' is not slots= with a number from 1 to ",
                                     kMostSlots));
    }
  }
  return host;
}

std::vector<std::string> NamesOf(const std::vector<Host>& hosts) {
  std::vector<std::string> names;
  for (const Host& host : hosts) names.push_back(host.name);
  return names;
}

}  // namespace

absl::StatusOr<std::vector<Host>> ReadHosts(FileSystem& fs,
                                            const std::string& path) {
  const absl::StatusOr<std::string> text = fs.ReadFile(path);
  if (!text.ok()) {
    return InputError("the file of hosts cannot be read", "--hosts " + path,
                      "give a file with a host a line");
  }
  std::vector<Host> hosts;
  std::set<std::string> seen;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(*text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const std::string where = absl::StrCat(path, ":", number);
    LS_ASSIGN_OR_RETURN(Host host, HostOf(where, line));
    if (!seen.insert(host.name).second) {
      return Odd(where, absl::StrCat("host ", host.name, " stands here twice"));
    }
    hosts.push_back(std::move(host));
  }
  if (hosts.empty()) return Odd(path, "the file names no host");
  return hosts;
}

std::vector<Host> EvenHosts(int64_t world, int64_t ranks_per_host) {
  std::vector<Host> hosts;
  for (int64_t first = 0; first < world; first += ranks_per_host) {
    hosts.push_back({.name = absl::StrCat("host", hosts.size()),
                     .slots = std::min(ranks_per_host, world - first)});
  }
  return hosts;
}

absl::StatusOr<std::vector<Host>> WithoutHosts(
    std::vector<Host> hosts, const std::vector<std::string>& lost) {
  const std::vector<std::string> names = NamesOf(hosts);
  for (const std::string& name : lost) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      const std::vector<std::string_view> known(names.begin(), names.end());
      return InputError(absl::StrCat("no host is called ", name),
                        "--lost " + name,
                        absl::StrCat("hosts are ", names.front(), " to ",
                                     names.back(), "; the nearest name is ",
                                     std::string(NearestName(name, known))));
    }
    std::erase_if(hosts, [&](const Host& host) { return host.name == name; });
  }
  return hosts;
}

int64_t SlotsOf(const std::vector<Host>& hosts) {
  int64_t slots = 0;
  for (const Host& host : hosts) slots += host.slots;
  return slots;
}

std::vector<int> HostOfRanks(const std::vector<Host>& hosts, int64_t ranks) {
  std::vector<int> host_of;
  for (size_t host = 0; host < hosts.size(); ++host) {
    for (int64_t slot = 0; slot < hosts[host].slots; ++slot) {
      if (static_cast<int64_t>(host_of.size()) == ranks) return host_of;
      host_of.push_back(static_cast<int>(host));
    }
  }
  return host_of;
}

}  // namespace lockstep
