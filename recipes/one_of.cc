#include "recipes/one_of.h"

#include <algorithm>
#include <functional>
#include <string_view>

#include "recipes/key_path.h"

namespace lockstep {
namespace {

constexpr char kSection[] = "train";
constexpr const char* kOneOf[] = {"steps", "samples", "tokens"};

void PutOut(const std::function<bool(const std::string& key)>& gives,
            Value& base, Overridden& overridden) {
  const auto section = base.members.find(kSection);
  if (section == base.members.end() ||
      std::none_of(std::begin(kOneOf), std::end(kOneOf), gives)) {
    return;
  }
  for (const std::string key : kOneOf) {
    const auto weaker = section->second.members.find(key);
    if (gives(key) || weaker == section->second.members.end()) continue;
    std::vector<Value>& losers = overridden[JoinKey(kSection, key)];
    losers.insert(losers.begin(), weaker->second);
    section->second.members.erase(weaker);
  }
}

}  // namespace

void PutOutOthers(const Value& top, Value& base, Overridden& overridden) {
  const Value* section = top.Member(kSection);
  if (section == nullptr) return;
  PutOut(
      [&](const std::string& key) { return section->Member(key) != nullptr; },
      base, overridden);
}

void PutOutOthers(const std::vector<std::string>& sets, Value& base,
                  Overridden& overridden) {
  const auto gives = [&](const std::string& key) {
    return std::any_of(sets.begin(), sets.end(), [&](const std::string& set) {
      return set.starts_with(JoinKey(kSection, key) + "=");
    });
  };
  PutOut(gives, base, overridden);
}

}  // namespace lockstep
