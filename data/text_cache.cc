#include "data/text_cache.h"

#include <algorithm>
#include <vector>

#include "data/block_hash.h"
#include "data/data_error.h"
#include "data/prepare.h"
#include "data/text_source.h"
#include "determinism/check.h"
#include "determinism/sha256.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

constexpr uint64_t kReadBytes = uint64_t{1} << 20;

TextOptions OptionsOf(const TextCacheRequest& request) {
  return {request.document_bytes, request.field};
}

absl::StatusOr<std::string> HashFile(FileSystem& fs, const TextFile& file) {
  LS_ASSIGN_OR_RETURN(const auto input, fs.OpenRead(file.path));
  std::string buffer(kReadBytes, '\0');
  Sha256 hash;
  for (uint64_t from = 0; from < input->Size(); from += kReadBytes) {
    const uint64_t bytes = std::min(kReadBytes, input->Size() - from);
    LS_RETURN_IF_ERROR(input->ReadAt(from, bytes, buffer.data()));
    hash.Update(buffer.data(), bytes);
  }
  return std::to_string(input->Size()) + " " + hash.Hex();
}

// The same bytes are another text when they are unpacked or searched for a
// field. Nothing for plain text, so that keys of before these kinds hold.
std::string HowItIsRead(const TextFile& file, const std::string& field) {
  std::string how;
  if (file.packing != Packing::kNone) {
    how += file.packing == Packing::kGzip ? " gzip" : " zstd";
  }
  if (file.json_lines) {
    how += " jsonl " + Sha256Hex(field.empty() ? "text" : field);
  }
  return how;
}

// Sizes stand beside the hashes, so that no two lists of files serialise alike.
absl::StatusOr<std::string> ContentKey(FileSystem& fs,
                                       const TextCacheRequest& request,
                                       const std::vector<TextFile>& files) {
  std::string text = "lockstep prepared text 1\n";
  text += "tokenizer " + request.tokenizer->identity() + "\n";
  text += "document_bytes " + std::to_string(request.document_bytes) + "\n";
  for (const TextFile& file : files) {
    auto hash = HashFile(fs, file);
    if (!hash.ok()) {
      return AsInputError(hash.status());
    }
    text += "file " + *hash + HowItIsRead(file, request.field) + "\n";
  }
  return Sha256Hex(text);
}

// Whether a complete pair stands at `prefix`; says so when it is damaged.
bool IsSound(FileSystem& fs, const std::string& prefix,
             const DataNotice& notice) {
  if (!fs.Exists(prefix + ".idx")) {
    return false;
  }
  const auto damage = VerifyBlocks(fs, prefix);
  if (damage.ok() && damage->empty()) {
    return true;
  }
  notice("data: the prepared file " + prefix +
         " is damaged and is made again: " +
         (damage.ok() ? damage->front().file + " from byte " +
                            std::to_string(damage->front().from) + " to " +
                            std::to_string(damage->front().to)
                      : std::string(damage.status().message())));
  return false;
}

// The text was read twice, for the key and for the tokens; a key of other text
// would lend it to every later run.
absl::Status CheckStill(FileSystem& fs, const TextCacheRequest& request,
                        const std::string& key, const std::string& prefix) {
  LS_ASSIGN_OR_RETURN(const TextFileList list,
                      ListTextFiles(fs, {request.input}, OptionsOf(request)));
  LS_ASSIGN_OR_RETURN(const std::string now,
                      ContentKey(fs, request, list.files));
  if (now == key) {
    return absl::OkStatus();
  }
  LS_RETURN_IF_ERROR(fs.Remove(prefix + ".idx"));
  return InputError("the text changed while it was being prepared",
                    request.input, "start again when nothing writes to it");
}

std::string Summary(const PrepareReport& report) {
  std::string text = std::to_string(report.files) + " files, " +
                     std::to_string(report.documents) + " documents, " +
                     std::to_string(report.tokens) + " tokens";
  if (!report.hidden_files.empty()) {
    text += "; " + std::to_string(report.hidden_files.size()) +
            " hidden names left out, the first " + report.hidden_files.front();
  }
  if (report.unknown > 0) {
    text += "; " + std::to_string(report.unknown) +
            " tokens stand for text that the tokenizer does not know";
  }
  if (report.blank_lines > 0) {
    text += "; " + std::to_string(report.blank_lines) +
            " blank lines of JSONL passed over";
  }
  return text;
}

}  // namespace

absl::StatusOr<std::string> PreparedPrefix(FileSystem& fs,
                                           const TextCacheRequest& request,
                                           const DataNotice& notice) {
  LS_CHECK(request.tokenizer != nullptr);
  const DataNotice say = notice ? notice : [](const std::string&) {};
  LS_ASSIGN_OR_RETURN(const TextFileList list,
                      ListTextFiles(fs, {request.input}, OptionsOf(request)));
  LS_ASSIGN_OR_RETURN(const std::string key,
                      ContentKey(fs, request, list.files));
  const std::string prefix =
      JoinPath(request.cache_dir, "text-" + key.substr(0, 32));
  if (IsSound(fs, prefix, say)) {
    say("data: " + request.input + " was prepared before (hit): " + prefix);
    return prefix;
  }
  say("data: preparing " + request.input + " (miss): " + prefix);
  LS_RETURN_IF_ERROR(fs.MakeDirs(request.cache_dir));
  PrepareOptions options;
  options.inputs = {request.input};
  options.output_prefix = prefix;
  options.tokenizer = request.tokenizer;
  options.document_bytes = request.document_bytes;
  options.field = request.field;
  LS_ASSIGN_OR_RETURN(const PrepareReport report, PrepareTokens(fs, options));
  LS_RETURN_IF_ERROR(CheckStill(fs, request, key, prefix));
  say("data: prepared " + Summary(report));
  return prefix;
}

}  // namespace lockstep
