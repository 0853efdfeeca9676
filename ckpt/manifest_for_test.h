// A manifest with every field set, and copies of it with a change.

#ifndef CKPT_MANIFEST_FOR_TEST_H_
#define CKPT_MANIFEST_FOR_TEST_H_

#include <string>

#include "ckpt/manifest.h"

namespace lockstep {

inline Manifest Sample() {
  Manifest m;
  m.run_id = "run-a";
  m.created_ms = 1234567890123;
  m.code = {"c0ffee", false, std::string(64, '1'), true};
  m.recipe.name = "debug";
  m.recipe.trajectory_text =
      "model.hidden = 64\nmodel.pattern = \"M-|M*-\"\noptimizer.lr = 0.001\n"
      "data.tokenizer = \"byte\"\nseed = 18446744073709551615\n";
  m.recipe.text =
      m.recipe.trajectory_text + "checkpoint.every = 5\ntrain.steps = 20\n";
  m.recipe.trajectory = std::string(64, '2');
  m.recipe.full = std::string(64, '3');
  m.order = "fp32chain";
  m.compiler = "GCC 12.2.0 -c opt";
  m.libraries = {{"protobuf", "3.21.12"}, {"absl", "20220623"}};
  m.hardware = {{"cpu_model", "Xeon"}, {"hostname", "alpha"}};
  m.data = {{"a.txt", 10, std::string(64, '4')},
            {"b.txt", 20, std::string(64, '5')}};
  m.tokenizer = {"byte", "hash"};
  m.layout = {4, 2, 2, 1, 2, 3};
  m.root_seed = 18446744073709551615u;
  m.guarantee = Guarantee::kBitwise;
  m.schedule_length_samples = 320;
  m.ledger_head = std::string(64, '0');
  m.faults = {"kind=flip,step=7"};
  m.allowed = {{"optimizer.lr", "0.1", "0.2", "it \"stalls\"", 40}};
  m.allowed_since = 20;
  return m;
}

inline Manifest With(void (*change)(Manifest&)) {
  Manifest m = Sample();
  change(m);
  return m;
}

// In both texts.
inline Manifest WithKey(const std::string& from, const std::string& to) {
  Manifest m = Sample();
  for (std::string* text : {&m.recipe.trajectory_text, &m.recipe.text}) {
    const size_t at = text->find(from);
    if (at != std::string::npos) text->replace(at, from.size(), to);
  }
  return m;
}

}  // namespace lockstep

#endif  // CKPT_MANIFEST_FOR_TEST_H_
