#include "data/text_list.h"

#include <algorithm>
#include <string_view>

#include "data/data_error.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

constexpr std::string_view kNotText[] = {".tar",     ".tgz",   ".zip", ".bz2",
                                         ".xz",      ".lz4",   ".7z",  ".rar",
                                         ".parquet", ".arrow", ".npy", ".npz"};

bool TakeSuffix(std::string_view& name, std::string_view suffix) {
  if (!name.ends_with(suffix)) return false;
  name.remove_suffix(suffix.size());
  return true;
}

absl::StatusOr<TextFile> KindOf(const std::string& path,
                                const TextOptions& options) {
  TextFile file;
  file.path = path;
  std::string_view name = path;
  if (TakeSuffix(name, ".gz")) {
    file.packing = Packing::kGzip;
  } else if (TakeSuffix(name, ".zst")) {
    file.packing = Packing::kZstd;
  }
  for (const std::string_view suffix : kNotText) {
    if (name.ends_with(suffix)) {
      return InputError("a " + std::string(suffix) + " file is not text", path,
                        "unpack it to text or to .jsonl; .gz and .zst are read "
                        "as they are");
    }
  }
  file.json_lines = name.ends_with(".jsonl") ||
                    (!options.field.empty() && name.ends_with(".json"));
  return file;
}

absl::Status ListInto(FileSystem& fs, const std::string& path, bool in_folder,
                      const TextOptions& options, TextFileList& list);

absl::Status ListFolder(FileSystem& fs, const std::string& folder,
                        const TextOptions& options, TextFileList& list) {
  auto names = fs.List(folder);
  if (!names.ok()) {
    return AsInputError(names.status());
  }
  for (const std::string& name : *names) {
    const std::string path = JoinPath(folder, name);
    if (name.starts_with('.')) {
      list.hidden_files.push_back(path);
      continue;
    }
    LS_RETURN_IF_ERROR(ListInto(fs, path, /*in_folder=*/true, options, list));
  }
  return absl::OkStatus();
}

absl::Status ListInto(FileSystem& fs, const std::string& path, bool in_folder,
                      const TextOptions& options, TextFileList& list) {
  if (!fs.Exists(path)) {
    const auto names = fs.List(DirName(path));
    if (names.ok() && std::find(names->begin(), names->end(), BaseName(path)) !=
                          names->end()) {
      return InputError("a link that leads to no file", path,
                        "it leads to itself, or what it led to is gone");
    }
    return InputError("no such text file or folder", path,
                      "check the path; in a recipe it is relative to the "
                      "recipe's folder");
  }
  auto info = fs.Stat(path);
  if (!info.ok()) {
    return AsInputError(info.status());
  }
  if (info->is_dir && info->is_link && in_folder) {
    return InputError("a link to a folder inside a folder of text", path,
                      "name the folder it points to as an input of its own");
  }
  if (info->is_dir) {
    return ListFolder(fs, path, options, list);
  }
  LS_ASSIGN_OR_RETURN(TextFile file, KindOf(path, options));
  file.bytes = info->size;
  list.bytes += info->size;
  list.files.push_back(std::move(file));
  return absl::OkStatus();
}

// An option that no file heeds is a misunderstanding.
absl::Status CheckOptions(const TextFileList& list, const std::string& where,
                          const TextOptions& options) {
  const auto json_lines = static_cast<size_t>(
      std::count_if(list.files.begin(), list.files.end(),
                    [](const TextFile& file) { return file.json_lines; }));
  if (!options.field.empty() && json_lines == 0) {
    return InputError("the field \"" + options.field +
                          "\" is named, and no input is a .jsonl file",
                      where, "name .jsonl files, or no field");
  }
  if (options.document_bytes > 0 && json_lines == list.files.size()) {
    return InputError(
        "document_bytes is given, and all inputs are .jsonl, "
        "where a line is a document",
        where, "leave document_bytes out");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TextFileList> ListTextFiles(
    FileSystem& fs, const std::vector<std::string>& inputs,
    const TextOptions& options) {
  TextFileList list;
  for (const std::string& input : inputs) {
    LS_RETURN_IF_ERROR(ListInto(fs, input, /*in_folder=*/false, options, list));
  }
  const std::string where = inputs.empty() ? "(no inputs)" : inputs.front();
  if (list.bytes == 0) {
    return InputError(
        "no text to prepare: files of no size, " +
            std::to_string(list.files.size()) + ", and hidden ones, " +
            std::to_string(list.hidden_files.size()) + ", are all there is",
        where,
        "name files or folders that hold text; a device, a pipe or a file of "
        "/proc tells no size and is not read");
  }
  LS_RETURN_IF_ERROR(CheckOptions(list, where, options));
  return list;
}

}  // namespace lockstep
