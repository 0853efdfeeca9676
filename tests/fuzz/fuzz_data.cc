// Token files, text and tokenizers.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/block_hash.h"
#include "data/json_field.h"
#include "data/sentencepiece_facts.h"
#include "data/text_list.h"
#include "data/text_source.h"
#include "data/token_file.h"
#include "data/token_shards.h"
#include "tests/fuzz/fuzz_entries.h"
#include "tests/fuzz/fuzz_file.h"

namespace lockstep {
namespace {

// All documents of a source, as far as it goes.
void ReadAll(TextSource& source) {
  while (true) {
    const auto piece = source.Next();
    if (!piece.ok() || piece->end_of_source) break;
    Use(*piece);
  }
  Use(source.blank_lines());
}

void ReadText(std::string_view bytes, const std::string& name,
              const TextOptions& options) {
  MemoryFileSystem fs;
  PutFile(fs, "/" + name, bytes);
  const auto files = ListTextFiles(fs, {"/" + name}, options);
  if (!files.ok()) return;
  ReadAll(*MakeTextSource(fs, files->files, options));
}

}  // namespace

// An index beside tokens of as many bytes as it may speak of.
void FuzzTokenIndex(std::string_view bytes) {
  for (const size_t tokens : {size_t{0}, size_t{64}, size_t{1024}}) {
    MemoryFileSystem fs;
    PutFile(fs, "/a.idx", bytes);
    PutFile(fs, "/a.bin", std::string(tokens, '\1'));
    const auto file = TokenFile::Open(fs, "/a");
    if (!file.ok()) continue;
    Use((*file)->CheckTables());
    const int64_t documents = (*file)->document_count();
    for (int64_t d = 0; d < std::min<int64_t>(documents, 64); ++d) {
      Use((*file)->DocumentStart(d));
    }
    std::vector<int32_t> out(
        static_cast<size_t>(std::min<int64_t>((*file)->token_count(), 64)));
    Use((*file)->Read(0, out));
  }
}

void FuzzTokenShard(std::string_view bytes) {
  MemoryFileSystem fs;
  PutFile(fs, "/a_000001.bin", bytes);
  const auto shards = TokenShards::Open(fs, "/a_000001.bin");
  if (!shards.ok()) return;
  if (!(*shards)->IndexDocuments(fs, [](const std::string&) {}).ok()) return;
  Use((*shards)->CheckTables());
  std::vector<int32_t> out(
      static_cast<size_t>(std::min<int64_t>((*shards)->token_count(), 64)));
  Use((*shards)->Read(0, out));
}

void FuzzBlockHashes(std::string_view bytes) {
  const auto hashes = ParseBlockHashes(bytes, "a.blocks");
  if (!hashes.ok()) return;
  Use(hashes->ContentHash());
  Use(hashes->Serialize());
}

void FuzzJsonLines(std::string_view bytes) {
  Use(JsonField(bytes, "text", "a.jsonl:1"));
  ReadText(bytes, "a.jsonl", {});
}

void FuzzPackedText(std::string_view bytes) {
  ReadText(bytes, "a.txt", {.document_bytes = 4});
  ReadText(bytes, "a.txt.gz", {});
  ReadText(bytes, "a.jsonl.zst", {});
}

void FuzzTokenizer(std::string_view bytes) {
  Use(ReadSentencePieceFacts(bytes, "a.model"));
}

}  // namespace lockstep
