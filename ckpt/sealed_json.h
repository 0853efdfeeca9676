// JSON files that notice when a bit of them changes.
//
// The last two lines of a sealed object are `  "sha256": "HEX"` and `}`, and
// HEX is the SHA-256 of all bytes before them: still plain JSON for everyone
// else. For manifest and index. Guards against accidents and not against
// someone who can recompute a hash: the ledger's chain is there for that.
//
// Inside ckpt only, and included by .cc files alone: it brings the JSON library
// with it, which must not reach the headers of the folder.

#ifndef CKPT_SEALED_JSON_H_
#define CKPT_SEALED_JSON_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace lockstep {

// Keeps the order of insertion, so that files read as they were thought out.
using OrderedJson = nlohmann::ordered_json;

std::string SealJson(const OrderedJson& object);

// InvalidArgument with a plain reason: cut short, changed, not JSON.
absl::StatusOr<OrderedJson> OpenSealedJson(std::string_view text);

// One line, invalid UTF-8 replaced.
std::string CompactJson(const OrderedJson& value);

// Takes typed fields out of an object and keeps the first complaint, so that a
// reader states what it wants and asks once whether it got it.
class JsonFields {
 public:
  // `path` names the object in complaints ("tensors[3]"). Not owned; must
  // outlive this.
  JsonFields(const OrderedJson& object, std::string path);

  void Get(const char* key, bool& out);
  void Get(const char* key, int64_t& out);
  void Get(const char* key, uint64_t& out);
  void Get(const char* key, std::string& out);
  // A field that older files lack; then `out` stays as it is.
  void GetIfThere(const char* key, std::string& out);
  void Get(const char* key, std::vector<int64_t>& out);
  void Get(const char* key, std::vector<std::string>& out);
  void Get(const char* key, std::map<std::string, std::string>& out);
  // An empty one of the kind, with a complaint, where there is none.
  const OrderedJson& Object(const char* key);
  const OrderedJson& Array(const char* key);

  void Complain(std::string_view what);
  bool ok() const { return error_.empty(); }
  const std::string& error() const { return error_; }

 private:
  const OrderedJson* Find(const char* key);
  void WrongType(const char* key, const char* wanted);

  const OrderedJson& object_;
  const std::string path_;
  std::string error_;
};

// 64 lower-case hex digits?
bool IsSha256Hex(std::string_view text);

}  // namespace lockstep

#endif  // CKPT_SEALED_JSON_H_
