#include "ckpt/ledger_line.h"

#include <variant>

#include "ckpt/sealed_json.h"
#include "determinism/check.h"
#include "determinism/sha256.h"

namespace lockstep {
namespace {

constexpr std::string_view kSumStart = ",\"sum\":\"";
constexpr std::string_view kSumEnd = "\"}";
constexpr size_t kSumDigits = 16;
constexpr size_t kSumBytes = kSumStart.size() + kSumDigits + kSumEnd.size();

std::string SumOf(std::string_view body) {
  std::string sum(kSumStart);
  return sum.append(Sha256Hex(body), 0, kSumDigits).append(kSumEnd);
}

}  // namespace

std::string MakeLedgerLine(int64_t seq, int64_t time_ms, std::string_view event,
                           const LedgerFields& fields, std::string_view prev) {
  OrderedJson json;
  json["seq"] = seq;
  json["time_ms"] = time_ms;
  json["event"] = std::string(event);
  for (const auto& [name, value] : fields) {
    LS_CHECK(!json.contains(name) && name != "prev" && name != "sum") << name;
    OrderedJson& field = json[name];
    std::visit([&](const auto& plain) { field = plain; }, value);
  }
  json["prev"] = std::string(prev);
  std::string body = CompactJson(json);
  body.pop_back();  // '}'
  return body + SumOf(body);
}

bool ParseLedgerLine(std::string_view line, LedgerLine& out) {
  if (line.size() <= kSumBytes) return false;
  const std::string_view body = line.substr(0, line.size() - kSumBytes);
  if (line.substr(body.size()) != SumOf(body)) return false;
  const OrderedJson json = OrderedJson::parse(line, nullptr, false);
  JsonFields fields(json, "line");
  fields.Get("seq", out.entry.seq);
  fields.Get("time_ms", out.entry.time_ms);
  fields.Get("event", out.entry.event);
  fields.Get("prev", out.prev);
  out.entry.line = std::string(line);
  out.entry.sha256 = Sha256Hex(line);
  return fields.ok();
}

std::string LedgerEntry::Field(std::string_view name) const {
  const OrderedJson json = OrderedJson::parse(line, nullptr, false);
  const auto found =
      json.is_object() ? json.find(std::string(name)) : json.end();
  if (found == json.end()) return "";
  return found->is_string() ? found->get<std::string>() : CompactJson(*found);
}

}  // namespace lockstep
