#include "tools/trace_scopes.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "determinism/nearest.h"

namespace lockstep {
namespace {

// Of forward and backward, then of parameters, whose own names go on below
// these, then of what ranks send and of the norm of gradients.
std::vector<std::string> Scopes(size_t layers) {
  std::vector<std::string> scopes = {"embeddings", "norm_f", "lm_head",
                                     "layers"};
  for (size_t i = 0; i < layers; ++i) {
    for (const char* start : {"layers.", "backbone.layers."}) {
      scopes.push_back(absl::StrCat(start, i));
      scopes.push_back(absl::StrCat(start, i, ".mixer"));
    }
    scopes.push_back(absl::StrCat("backbone.layers.", i, ".norm"));
  }
  for (const char* other :
       {"backbone", "backbone.layers", "backbone.embeddings", "backbone.norm_f",
        "gradients", "pipeline", "pipeline.forward", "pipeline.backward"}) {
    scopes.emplace_back(other);
  }
  return scopes;
}

// Parameters are named below their module; operations are not.
bool IsBelow(std::string_view scope, std::string_view module) {
  const bool has_parameters =
      module == "lm_head" ||
      (module.starts_with("backbone.") && module != "backbone.layers");
  const bool is_layer = module.starts_with("backbone.layers.") &&
                        std::count(module.begin(), module.end(), '.') == 2;
  return has_parameters && !is_layer && scope.size() > module.size() &&
         scope.starts_with(module) && scope[module.size()] == '.';
}

}  // namespace

std::string NearestTraceScope(const std::string& scope, size_t layers) {
  const std::vector<std::string> scopes = Scopes(layers);
  const auto fits = [&](const std::string& module) {
    return scope == module || IsBelow(scope, module);
  };
  if (scope.empty() || std::any_of(scopes.begin(), scopes.end(), fits)) {
    return scope;
  }
  const std::vector<std::string_view> names(scopes.begin(), scopes.end());
  return std::string(NearestName(scope, names));
}

std::vector<std::string> TraceScopeNotes(const std::string& scope,
                                         size_t layers) {
  const std::string nearest = NearestTraceScope(scope, layers);
  if (nearest == scope) return {};
  return {absl::StrCat("no operation of this model is of module ", scope,
                       ", so none is traced; the nearest is ", nearest)};
}

}  // namespace lockstep
