// `lockstep data prepare|inspect|verify`.
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "data/prepare.h"
#include "data/shard_list.h"
#include "data/token_file.h"
#include "data/token_shards.h"
#include "data/tokenizer.h"
#include "data/verify_tokens.h"
#include "determinism/file_system.h"
#include "determinism/status.h"
#include "tools/verbs.h"

namespace lockstep {
namespace {

using Json = nlohmann::ordered_json;

void ShowProgress(const PrepareProgress& p) {
  const double share = p.bytes_total == 0
                           ? 1.0
                           : static_cast<double>(p.bytes_done) /
                                 static_cast<double>(p.bytes_total);
  const bool terminal = isatty(STDERR_FILENO) != 0;
  if (!terminal && p.bytes_done < p.bytes_total) return;
  std::fprintf(stderr, "%s%5.1f %%  %.1f MB  %lld documents  %lld tokens%s",
               terminal ? "\r" : "", share * 100,
               static_cast<double>(p.bytes_done) / 1e6,
               static_cast<long long>(p.documents),
               static_cast<long long>(p.tokens),
               terminal && p.bytes_done < p.bytes_total ? "" : "\n");
}

std::string PreparedText(const PrepareReport& r, const std::string& output) {
  std::string text =
      absl::StrCat(output, ".bin: ", r.documents, " documents, ", r.tokens,
                   " tokens (", NameOf(r.type), ") from ", r.files, " files, ",
                   r.text_bytes, " bytes\ncontent ", r.content_hash, "\n");
  if (r.unknown > 0) {
    absl::StrAppend(&text, "tokens for text that the tokenizer does not know: ",
                    r.unknown, "\n");
  }
  if (r.blank_lines > 0) {
    absl::StrAppend(&text, "blank lines, passed over: ", r.blank_lines, "\n");
  }
  for (const std::string& file : r.hidden_files) {
    absl::StrAppend(&text, "hidden, passed over: ", file, "\n");
  }
  return text;
}

std::string Table(const Json& object) {
  std::string text;
  for (const auto& [key, value] : object.items()) {
    absl::StrAppend(&text, absl::StrFormat("%-13s", key), value.dump(), "\n");
  }
  return text;
}

absl::StatusOr<Answer> InspectShards(const DataInspectOptions& options) {
  FileSystem& fs = *PosixFileSystem();
  LS_ASSIGN_OR_RETURN(const auto shards, TokenShards::Open(fs, options.prefix));
  Json object = {
      {"prefix", shards->prefix()},
      {"type", shards->type() == TokenType::kI32 ? "uint32" : "uint16"},
      {"tokens", shards->token_count()},
      {"shards", shards->shard_count()}};
  bool indexed = true;
  for (int64_t i = 0; i < shards->shard_count(); ++i) {
    indexed = indexed && shards->shard(i).has_side_files(fs);
  }
  if (indexed) {
    LS_RETURN_IF_ERROR(shards->IndexDocuments(fs, nullptr));
    object["documents"] = shards->document_count();
    object["content_hash"] = shards->content_hash();
  } else {
    object["documents"] = nullptr;
    object["content_hash"] = nullptr;
  }
  return Answer{options.json ? object.dump() + "\n" : Table(object)};
}

// Files from elsewhere have no hashes to hold them against: they get them now,
// and from then on each block is checked when it is read.
std::string VerifiedText(const TokenVerification& found,
                         const std::string& prefix) {
  std::string text;
  for (const DataDamage& d : found.damage) {
    absl::StrAppend(&text, d.file, ": bytes ", d.from, " to ", d.to,
                    " are not what was written\n");
  }
  for (const std::string& file : found.written) {
    absl::StrAppend(&text, file, ": there were no block hashes; written now\n");
  }
  if (found.damage.empty()) {
    absl::StrAppend(&text, prefix, ": every block holds\ncontent ",
                    found.content_hash, "\n");
  }
  return text;
}

}  // namespace

absl::StatusOr<Answer> DataPrepareVerb(const DataPrepareOptions& options) {
  LS_ASSIGN_OR_RETURN(const auto tokenizer, MakeTokenizer(options.tokenizer));
  PrepareOptions prepare = {.inputs = options.inputs,
                            .output_prefix = options.output,
                            .tokenizer = tokenizer.get(),
                            .document_bytes = options.document_bytes,
                            .progress = nullptr,
                            .field = options.field};
  if (!options.quiet && !options.json) prepare.progress = ShowProgress;
  LS_ASSIGN_OR_RETURN(const PrepareReport report,
                      PrepareTokens(*PosixFileSystem(), prepare));
  if (!options.json) return Answer{PreparedText(report, options.output)};
  const Json object = {{"prefix", options.output},
                       {"files", report.files},
                       {"documents", report.documents},
                       {"tokens", report.tokens},
                       {"text_bytes", report.text_bytes},
                       {"input_bytes", report.input_bytes},
                       {"blank_lines", report.blank_lines},
                       {"unknown", report.unknown},
                       {"tokenizer", tokenizer->identity()},
                       {"type", NameOf(report.type)},
                       {"content_hash", report.content_hash},
                       {"hidden_files", report.hidden_files}};
  return Answer{object.dump() + "\n"};
}

absl::StatusOr<Answer> DataInspectVerb(const DataInspectOptions& options) {
  if (NamesShards(*PosixFileSystem(), options.prefix)) {
    return InspectShards(options);
  }
  LS_ASSIGN_OR_RETURN(const auto file,
                      TokenFile::Open(*PosixFileSystem(), options.prefix));
  LS_RETURN_IF_ERROR(file->CheckTables());
  const Json object = {{"prefix", file->prefix()},
                       {"type", NameOf(file->type())},
                       {"tokens", file->token_count()},
                       {"sequences", file->sequence_count()},
                       {"documents", file->document_count()},
                       {"bin_bytes", file->bin_bytes()},
                       {"idx_bytes", file->idx_bytes()},
                       {"content_hash", file->content_hash()}};
  return Answer{options.json ? object.dump() + "\n" : Table(object)};
}

absl::StatusOr<Answer> DataVerifyVerb(const DataInspectOptions& options) {
  LS_ASSIGN_OR_RETURN(const TokenVerification found,
                      VerifyTokens(*PosixFileSystem(), options.prefix));
  const bool damaged = !found.damage.empty();
  if (!options.json) {
    return Answer{VerifiedText(found, options.prefix), damaged};
  }
  Json damage = Json::array();
  for (const DataDamage& d : found.damage) {
    damage.push_back({{"file", d.file}, {"from", d.from}, {"to", d.to}});
  }
  const Json object = {
      {"ok", !damaged},
      {"damage", damage},
      {"written", found.written},
      {"content_hash", damaged ? Json(nullptr) : Json(found.content_hash)}};
  return Answer{object.dump() + "\n", damaged};
}

}  // namespace lockstep
