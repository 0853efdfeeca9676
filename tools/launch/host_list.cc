#include "tools/launch/host_list.h"

#include <cstdint>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

constexpr int64_t kMostHosts = 65'536;
constexpr size_t kMostDigits = 18;

absl::Status NoNodeList(std::string_view list) {
  return InputError("this is no list of nodes",
                    "SLURM_JOB_NODELIST = " + std::string(list),
                    "give --hosts FILE");
}

// Parts between commas that stand in no brackets.
std::vector<std::string> OuterParts(const std::string& list) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : list) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::string Padded(int64_t number, size_t width) {
  const std::string digits = std::to_string(number);
  return std::string(width - std::min(width, digits.size()), '0') + digits;
}

// "01-03" and "7": numbers as wide as they are written.
bool AddRange(const std::string& head, const std::string& range,
              const std::string& tail, std::vector<std::string>& names) {
  const std::pair<std::string, std::string> ends =
      absl::StrSplit(range, absl::MaxSplits('-', 1));
  int64_t first = 0, last = 0;
  if (ends.first.size() > kMostDigits ||
      !absl::SimpleAtoi(ends.first, &first) || first < 0) {
    return false;
  }
  last = first;
  if (!ends.second.empty() && !absl::SimpleAtoi(ends.second, &last)) {
    return false;
  }
  if (last < first || last - first >= kMostHosts) return false;
  for (int64_t n = first; n <= last; ++n) {
    names.push_back(head + Padded(n, ends.first.size()) + tail);
  }
  return static_cast<int64_t>(names.size()) <= kMostHosts;
}

// One part, "rack1n[01-03,7]" or a plain name.
bool AddPart(const std::string& part, std::vector<std::string>& names) {
  const size_t open = part.find('['), close = part.find(']');
  if (open == std::string::npos && close == std::string::npos) {
    if (!part.empty()) names.push_back(part);
    return !part.empty();
  }
  const bool sound = open != std::string::npos && close != std::string::npos &&
                     open < close && part.find('[', close) == std::string::npos;
  if (!sound) return false;
  const std::string head = part.substr(0, open), tail = part.substr(close + 1);
  const std::string inside = part.substr(open + 1, close - open - 1);
  for (const std::string& range :
       std::vector<std::string>(absl::StrSplit(inside, ','))) {
    if (!AddRange(head, range, tail, names)) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ExpandNodeList(std::string_view list) {
  std::vector<std::string> names;
  for (const std::string& part : OuterParts(std::string(list))) {
    if (!AddPart(part, names)) return NoNodeList(list);
  }
  return names;
}

absl::StatusOr<std::vector<LaunchHost>> SlurmHosts(
    std::string_view node_list, std::string_view tasks_per_node) {
  LS_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                      ExpandNodeList(node_list));
  std::vector<LaunchHost> hosts;
  const absl::Status unfit = InputError(
      "these are not the tasks of so many nodes",
      absl::StrCat("SLURM_TASKS_PER_NODE = ", std::string(tasks_per_node), ", ",
                   names.size(), " node(s)"),
      "give --hosts FILE");
  for (const std::string& part : std::vector<std::string>(
           absl::StrSplit(std::string(tasks_per_node), ','))) {
    const std::pair<std::string, std::string> pair =
        absl::StrSplit(part, absl::MaxSplits("(x", 1));
    int64_t slots = 0, times = 1;
    if (!absl::SimpleAtoi(pair.first, &slots) || slots < 1) return unfit;
    if (!pair.second.empty()) {
      if (pair.second.back() != ')') return unfit;
      const std::string digits = pair.second.substr(0, pair.second.size() - 1);
      if (!absl::SimpleAtoi(digits, &times) || times < 1) return unfit;
    }
    for (int64_t i = 0; i < times; ++i) {
      if (hosts.size() == names.size()) return unfit;
      hosts.push_back({.name = names[hosts.size()], .slots = slots});
    }
  }
  if (hosts.size() != names.size()) return unfit;
  return hosts;
}

std::string HostOfRank(const std::vector<LaunchHost>& hosts, int64_t rank) {
  for (const LaunchHost& host : hosts) {
    if (rank >= 0 && rank < host.slots) return host.name;
    rank -= host.slots;
  }
  return "";
}

}  // namespace lockstep
