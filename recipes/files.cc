#include "recipes/files.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "determinism/file_system.h"
#include "determinism/first_line.h"
#include "determinism/status.h"
#include "recipes/one_of.h"
#include "recipes/toml_reader.h"

namespace lockstep {
namespace {

// Deeper than any real chain; ends one that links make endless.
constexpr size_t kMostFiles = 32;

// One name a file, so that a circle through a/../a is seen.
std::string Plain(const std::string& path) {
  return std::filesystem::path(path).lexically_normal().string();
}

absl::Status CircleError(const std::vector<std::string>& chain,
                         const std::string& path, const std::string& where) {
  std::string circle;
  for (const std::string& file : chain) {
    circle += file + " -> ";
  }
  return InputError("extends goes in a circle: " + circle + path, where,
                    "remove one of these extends");
}

// The path in `extends`, "" without one; takes the key out of the table.
absl::StatusOr<std::string> TakeExtends(Value& root, const std::string& path,
                                        std::string& where) {
  const auto found = root.members.find("extends");
  if (found == root.members.end()) {
    return std::string();
  }
  const Value value = std::move(found->second);
  root.members.erase(found);
  where = value.origin.Where();
  if (!value.is(Value::Kind::kString) || value.text.empty()) {
    return InputError(
        "extends = " + CanonicalText(value) + " is not the path of a recipe",
        where, "write extends = \"base.toml\"");
  }
  return Plain(JoinPath(DirName(path), value.text));
}

// Files from the one named to the last base.
absl::StatusOr<std::vector<Value>> ReadChain(const std::string& path,
                                             const ReadText& read) {
  std::vector<Value> files;
  std::vector<std::string> chain;
  std::string next = path;
  std::string where = path;
  do {
    const bool circle = std::any_of(
        chain.begin(), chain.end(),
        [&](const std::string& file) { return Plain(file) == Plain(next); });
    if (circle || chain.size() == kMostFiles) {
      return CircleError(chain, next, where);
    }
    absl::StatusOr<std::string> text = read(next);
    if (!text.ok()) {
      return InputError(
          "recipe " + next + " cannot be read: " + FirstLine(text.status()),
          where, "name a recipe file that exists");
    }
    chain.push_back(next);
    LS_ASSIGN_OR_RETURN(Value root, ParseToml(*text, next));
    LS_ASSIGN_OR_RETURN(next, TakeExtends(root, next, where));
    files.push_back(std::move(root));
  } while (!next.empty());
  return files;
}

}  // namespace

absl::StatusOr<LayeredFiles> LoadFiles(const std::string& path,
                                       const ReadText& read) {
  LS_ASSIGN_OR_RETURN(std::vector<Value> files, ReadChain(path, read));
  LayeredFiles layered;
  layered.root = std::move(files.back());
  files.pop_back();
  while (!files.empty()) {
    PutOutOthers(files.back(), layered.root, layered.overridden);
    Overlay(std::move(files.back()), layered.root, layered.overridden);
    files.pop_back();
  }
  return layered;
}

}  // namespace lockstep
