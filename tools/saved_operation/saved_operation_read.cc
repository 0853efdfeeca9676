// The way back from the file, which may be any file.
#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "ckpt/safetensors.h"
#include "determinism/status.h"
#include "tools/saved_operation/saved_operation.h"

namespace lockstep {
namespace {

using Facts = std::map<std::string, std::string>;

template <class T>
bool Number(const Facts& facts, const std::string& key, T& value) {
  const auto found = facts.find(key);
  return found != facts.end() && absl::SimpleAtoi(found->second, &value);
}

bool Samples(const Facts& facts, std::vector<uint64_t>& samples) {
  for (const auto part :
       absl::StrSplit(facts.at("samples"), ',', absl::SkipEmpty())) {
    uint64_t sample = 0;
    if (!absl::SimpleAtoi(part, &sample)) return false;
    samples.push_back(sample);
  }
  return true;
}

bool TakeFacts(const Facts& facts, SavedOperation& o) {
  for (const char* key : {"phase", "scope", "operation", "tensor", "run_a",
                          "run_b", "recipe", "samples", "not_alone"}) {
    if (!facts.contains(key)) return false;
  }
  OperationIdentity& id = o.identity;
  id.phase = facts.at("phase");
  id.scope = facts.at("scope");
  id.operation = facts.at("operation");
  o.tensor = facts.at("tensor");
  o.run_a = facts.at("run_a");
  o.run_b = facts.at("run_b");
  o.recipe = facts.at("recipe");
  o.not_alone = facts.at("not_alone");
  return Number(facts, "step", id.step) &&
         Number(facts, "attempt", id.attempt) &&
         Number(facts, "first_sample", id.first_sample) &&
         Number(facts, "occurrence", id.occurrence) &&
         Number(facts, "rank", o.rank) && Number(facts, "vocab", o.vocab) &&
         Number(facts, "seed", o.seed) && Samples(facts, o.samples);
}

// "y" of "a.0.y": a name may have dots itself. Numbers are places.
bool PutNumbered(std::string_view name, KeptTensor tensor,
                 std::map<int64_t, KeptTensor>& tensors) {
  const size_t dot = name.find('.');
  int64_t place = 0;
  if (dot == std::string_view::npos ||
      !absl::SimpleAtoi(std::string(name.substr(0, dot)), &place)) {
    return false;
  }
  tensor.name = std::string(name.substr(dot + 1));
  return tensors.emplace(place, std::move(tensor)).second;
}

std::vector<KeptTensor> InOrder(std::map<int64_t, KeptTensor> tensors) {
  std::vector<KeptTensor> ordered;
  for (auto& [place, tensor] : tensors) ordered.push_back(std::move(tensor));
  return ordered;
}

// Of an error its first line: where and what to do are said here.
absl::Status NoSuchFile(const std::string& path, const std::string& what) {
  return InputError(absl::StrCat("this is no operation that bisect saved: ",
                                 what.substr(0, what.find('\n'))),
                    path, "name the operation.safetensors of a bisect");
}

absl::Status TakeTensors(const SafetensorsFile& file, const std::string& path,
                         SavedOperation& o) {
  std::map<int64_t, KeptTensor> inputs, a, b;
  for (const SafetensorsEntry& entry : file.entries()) {
    KeptTensor tensor = {
        .name = {}, .dtype = entry.dtype, .shape = entry.shape, .bytes = {}};
    tensor.bytes.resize(entry.size_bytes);
    LS_RETURN_IF_ERROR(file.ReadTensor(
        entry.name, std::as_writable_bytes(std::span(tensor.bytes))));
    std::string_view name = entry.name;
    const auto is = [&](std::string_view prefix) {
      if (!name.starts_with(prefix)) return false;
      name.remove_prefix(prefix.size());
      return true;
    };
    bool known = true;
    if (is("input.")) {
      known = PutNumbered(name, std::move(tensor), inputs);
    } else if (is("a.")) {
      known = PutNumbered(name, std::move(tensor), a);
    } else if (is("b.")) {
      known = PutNumbered(name, std::move(tensor), b);
    } else if (is("layer.") || is("parameter.")) {
      auto& tensors = entry.name.starts_with("l") ? o.layer : o.parameters;
      tensor.name = std::string(name);
      tensors.push_back(std::move(tensor));
    } else {
      known = false;
    }
    if (!known) return NoSuchFile(path, "a tensor named " + entry.name);
  }
  o.inputs = InOrder(std::move(inputs));
  o.outputs_a = InOrder(std::move(a));
  o.outputs_b = InOrder(std::move(b));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SavedOperation> ReadSavedOperation(FileSystem& fs,
                                                  const std::string& path) {
  const auto info = fs.Stat(path);
  if (!info.ok() || info->is_dir) return NoSuchFile(path, "there is no file");
  const auto opened = SafetensorsFile::Open(fs, path);
  if (!opened.ok()) {
    return NoSuchFile(path, std::string(opened.status().message()));
  }
  const std::unique_ptr<SafetensorsFile>& file = *opened;
  const auto kind = file->metadata().find("kind");
  if (kind == file->metadata().end() || kind->second != kSavedOperationKind) {
    return NoSuchFile(path, "its metadata say nothing of the kind");
  }
  SavedOperation operation;
  if (!TakeFacts(file->metadata(), operation)) {
    return NoSuchFile(path, "its metadata lack a field");
  }
  LS_RETURN_IF_ERROR(TakeTensors(*file, path, operation));
  return operation;
}

int64_t LayerOfScope(std::string_view scope) {
  constexpr std::string_view kLayers = "layers.";
  if (!scope.starts_with(kLayers)) return -1;
  scope.remove_prefix(kLayers.size());
  int64_t layer = -1;
  const std::string number(scope.substr(0, scope.find('.')));
  return absl::SimpleAtoi(number, &layer) ? layer : -1;
}

const KeptTensor* FindKept(const std::vector<KeptTensor>& tensors,
                           const std::string& name) {
  const auto found =
      std::find_if(tensors.begin(), tensors.end(),
                   [&](const KeptTensor& t) { return t.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

}  // namespace lockstep
