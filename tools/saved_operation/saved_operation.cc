#include "tools/saved_operation/saved_operation.h"

#include <map>
#include <memory>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ckpt/safetensors.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

using Facts = std::map<std::string, std::string>;

struct Named {
  std::string name;
  const KeptTensor* tensor;
};

void AddNumbered(const std::string& prefix,
                 const std::vector<KeptTensor>& tensors,
                 std::vector<Named>& all) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    all.push_back({absl::StrCat(prefix, i, ".", tensors[i].name), &tensors[i]});
  }
}

std::vector<Named> AllTensors(const SavedOperation& o) {
  std::vector<Named> all;
  AddNumbered("input.", o.inputs, all);
  AddNumbered("a.", o.outputs_a, all);
  AddNumbered("b.", o.outputs_b, all);
  for (const KeptTensor& t : o.layer) all.push_back({"layer." + t.name, &t});
  for (const KeptTensor& t : o.parameters) {
    all.push_back({"parameter." + t.name, &t});
  }
  return all;
}

Facts FactsOf(const SavedOperation& o) {
  const OperationIdentity& id = o.identity;
  return {{"kind", kSavedOperationKind},
          {"step", absl::StrCat(id.step)},
          {"attempt", absl::StrCat(id.attempt)},
          {"phase", id.phase},
          {"scope", id.scope},
          {"operation", id.operation},
          {"first_sample", absl::StrCat(id.first_sample)},
          {"occurrence", absl::StrCat(id.occurrence)},
          {"rank", absl::StrCat(o.rank)},
          {"tensor", o.tensor},
          {"run_a", o.run_a},
          {"run_b", o.run_b},
          {"recipe", o.recipe},
          {"vocab", absl::StrCat(o.vocab)},
          {"seed", absl::StrCat(o.seed)},
          {"samples", absl::StrJoin(o.samples, ",")},
          {"not_alone", o.not_alone}};
}

}  // namespace

absl::Status WriteSavedOperation(FileSystem& fs, const std::string& path,
                                 const SavedOperation& operation) {
  const std::vector<Named> all = AllTensors(operation);
  std::vector<SafetensorsSpec> specs;
  std::map<std::string, const KeptTensor*> by_name;
  for (const auto& [name, tensor] : all) {
    specs.push_back({name, tensor->dtype, tensor->shape});
    by_name[name] = tensor;
  }
  const std::string temporary = path + ".tmp";
  LS_RETURN_IF_ERROR(fs.RemoveTree(temporary));
  LS_ASSIGN_OR_RETURN(const std::unique_ptr<SafetensorsWriter> writer,
                      SafetensorsWriter::Create(fs, temporary, std::move(specs),
                                                FactsOf(operation)));
  for (const SafetensorsEntry& entry : writer->entries()) {
    LS_RETURN_IF_ERROR(writer->WriteTensor(
        entry.name, std::as_bytes(std::span(by_name.at(entry.name)->bytes))));
  }
  LS_RETURN_IF_ERROR(writer->Finish());
  LS_RETURN_IF_ERROR(fs.Rename(temporary, path));
  return fs.SyncDir(DirName(path));
}

}  // namespace lockstep
