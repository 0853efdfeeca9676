#include "recipes/layers.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "determinism/status.h"
#include "recipes/key_path.h"
#include "recipes/toml_reader.h"

namespace lockstep {
namespace {

// An array of tables loses each of its entries' keys, so that both values of
// data.source.0.weight can be told.
void Record(const Value& loser, const std::string& path,
            Overridden& overridden) {
  if (loser.is(Value::Kind::kTable)) {
    for (const auto& [key, member] : loser.members) {
      Record(member, JoinKey(path, key), overridden);
    }
    return;
  }
  const bool tables = loser.is(Value::Kind::kList) && !loser.items.empty() &&
                      loser.items.front().is(Value::Kind::kTable);
  if (tables) {
    for (size_t i = 0; i < loser.items.size(); ++i) {
      Record(loser.items[i], JoinKey(path, std::to_string(i)), overridden);
    }
    return;
  }
  std::vector<Value>& losers = overridden[path];
  losers.insert(losers.begin(), loser);
}

void OverlayAt(Value top, const std::string& path, Value& base,
               Overridden& overridden) {
  if (!top.is(Value::Kind::kTable) || !base.is(Value::Kind::kTable)) {
    Record(base, path, overridden);
    base = std::move(top);
    return;
  }
  base.origin = top.origin;
  for (auto& [key, member] : top.members) {
    const auto found = base.members.find(key);
    if (found == base.members.end()) {
      base.members.emplace(key, std::move(member));
    } else {
      OverlayAt(std::move(member), JoinKey(path, key), found->second,
                overridden);
    }
  }
}

absl::StatusOr<std::vector<std::string>> SplitPath(std::string_view path) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (begin <= path.size()) {
    const size_t end = std::min(path.find('.', begin), path.size());
    parts.emplace_back(path.substr(begin, end - begin));
    const bool bare =
        !parts.back().empty() && parts.back().find_first_not_of(
                                     "abcdefghijklmnopqrstuvwxyz"
                                     "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                     "0123456789_-") == std::string::npos;
    if (!bare) {
      return absl::InvalidArgumentError(
          "\"" + std::string(path) + "\" is no key; write section.key=value");
    }
    begin = end + 1;
  }
  return parts;
}

bool IsIndex(const std::string& part) {
  return part.find_first_not_of("0123456789") == std::string::npos;
}

Value EmptyTable(const Origin& origin) {
  Value table;
  table.origin = origin;
  return table;
}

// `inner` under the first of the keys, then it under the one before, ...: what
// a file that says the same would hold.
Value Nest(const std::vector<std::string>& parts, size_t from, Value inner) {
  for (size_t i = parts.size(); i > from; --i) {
    Value outer = EmptyTable(inner.origin);
    if (IsIndex(parts[i - 1])) {
      outer.kind = Value::Kind::kList;
      outer.items.push_back(std::move(inner));
    } else {
      outer.members.emplace(parts[i - 1], std::move(inner));
    }
    inner = std::move(outer);
  }
  return inner;
}

// The index, or an error unless it is of an entry or of the next one.
absl::StatusOr<size_t> IndexOf(const std::string& part, size_t count,
                               const std::string& path) {
  size_t index = 0;
  const auto result =
      std::from_chars(part.data(), part.data() + part.size(), index);
  if (result.ec != std::errc() || index > count) {
    return absl::InvalidArgumentError(
        path + " has " + std::to_string(count) +
        " entries; nearest valid index: " + std::to_string(count));
  }
  return index;
}

// Where a path leaves what exists: `at` has no parts[depth], or is itself the
// value where depth is the path's length.
struct Spot {
  Value* at;
  size_t depth;
  std::string path;
};

absl::StatusOr<Spot> Locate(const std::vector<std::string>& parts,
                            Value& root) {
  Spot spot{&root, 0, ""};
  for (; spot.depth < parts.size(); ++spot.depth) {
    const std::string& part = parts[spot.depth];
    Value& at = *spot.at;
    if (at.is(Value::Kind::kList) && IsIndex(part)) {
      LS_ASSIGN_OR_RETURN(const size_t index,
                          IndexOf(part, at.items.size(), spot.path));
      if (index == at.items.size()) {
        return spot;
      }
      spot.at = &at.items[index];
    } else if (at.is(Value::Kind::kTable)) {
      const auto member = at.members.find(part);
      if (member == at.members.end()) {
        return spot;
      }
      spot.at = &member->second;
    } else {
      return absl::InvalidArgumentError(
          spot.path + " is " + std::string(NameOf(at.kind)) + " at " +
          at.origin.Where() + ", so it has no key " + part);
    }
    spot.path = JoinKey(spot.path, part);
  }
  return spot;
}

// A list that the rest of the path begins must begin with entry 0.
absl::Status CheckNewIndices(const std::vector<std::string>& parts,
                             size_t from) {
  for (size_t i = from; i < parts.size(); ++i) {
    if (IsIndex(parts[i]) && parts[i] != "0") {
      return absl::InvalidArgumentError(
          parts[i - 1] + " has no entries yet; nearest valid index: 0");
    }
  }
  return absl::OkStatus();
}

absl::Status Place(const std::vector<std::string>& parts, Value value,
                   Value& root, Overridden& overridden) {
  LS_ASSIGN_OR_RETURN(Spot spot, Locate(parts, root));
  if (spot.depth == parts.size()) {
    OverlayAt(std::move(value), spot.path, *spot.at, overridden);
    return absl::OkStatus();
  }
  LS_RETURN_IF_ERROR(CheckNewIndices(parts, spot.depth + 1));
  Value rest = Nest(parts, spot.depth + 1, std::move(value));
  if (spot.at->is(Value::Kind::kList)) {
    spot.at->items.push_back(std::move(rest));
  } else {
    spot.at->members.emplace(parts[spot.depth], std::move(rest));
  }
  return absl::OkStatus();
}

}  // namespace

void Overlay(Value top, Value& base, Overridden& overridden) {
  OverlayAt(std::move(top), "", base, overridden);
}

absl::Status ApplySet(const std::string& set, Value& root,
                      Overridden& overridden) {
  const size_t equals = set.find('=');
  if (equals == std::string::npos) {
    return absl::InvalidArgumentError("no '='; write section.key=value");
  }
  const std::string_view text = set;
  LS_ASSIGN_OR_RETURN(const std::vector<std::string> parts,
                      SplitPath(text.substr(0, equals)));
  if (parts.front() == "extends") {
    return absl::InvalidArgumentError("extends stands in a file only");
  }
  const Origin origin{.file = "", .line = 0, .set_text = set};
  LS_ASSIGN_OR_RETURN(Value value,
                      ParseSetValue(text.substr(equals + 1), origin));
  return Place(parts, std::move(value), root, overridden);
}

}  // namespace lockstep
