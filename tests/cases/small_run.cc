#include "tests/cases/small_run.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "data/token_file_writer.h"
#include "determinism/check.h"
#include "determinism/file_system.h"
#include "tools/run_setup.h"
#include "tools/step_fingerprint.h"

namespace lockstep {

using Json = nlohmann::json;

std::string WriteDocuments(const std::string& name,
                           const std::vector<std::vector<int32_t>>& documents,
                           int64_t vocab) {
  const std::string prefix = testing::TempDir() + "/" + name;
  auto writer = TokenFileWriter::Create(*PosixFileSystem(), prefix, vocab);
  LS_CHECK(writer.ok()) << std::string(writer.status().message());
  for (const auto& document : documents) {
    LS_CHECK((*writer)->Append(document).ok());
    LS_CHECK((*writer)->EndDocument().ok());
  }
  LS_CHECK((*writer)->Finish().ok());
  return prefix;
}

std::string WriteSamples(const std::string& name, int64_t samples,
                         int64_t salt) {
  const int64_t train = samples * kSmallSequence + 1;
  std::vector<std::vector<int32_t>> documents(1);
  for (int64_t k = 0; k < train + 2 * kSmallSequence; ++k) {
    if (k == train || (k < train && k > 0 && k % 20 == 0)) {
      documents.emplace_back();
    }
    documents.back().push_back(
        static_cast<int32_t>((k * k / 3 + 11 * k + salt) % 257));
  }
  return WriteDocuments(name, documents);
}

std::string SourceOf(const std::string& prefix, const std::string& more) {
  return absl::StrCat("[[data.source]]\npath = \"", prefix, "\"\n", more);
}

std::vector<std::vector<int32_t>> UnevenDocuments(int64_t count, int64_t salt) {
  std::vector<std::vector<int32_t>> documents(static_cast<size_t>(count));
  for (int64_t d = 0; d < count; ++d) {
    for (int64_t t = 0; t < 3 + (d * 7 + salt) % 29; ++t) {
      documents[static_cast<size_t>(d)].push_back(
          static_cast<int32_t>((t * t + 5 * d + salt) % 257));
    }
  }
  return documents;
}

std::string WriteSmallRecipe(const std::string& name, const std::string& toml) {
  char folder[4096];
  LS_CHECK(getcwd(folder, sizeof(folder)) != nullptr);
  const std::string path = testing::TempDir() + "/" + name + ".toml";
  const std::string text = absl::StrCat(
      "extends = \"", folder,
      "/recipes/debug.toml\"\n[model]\nhidden = 32\nffn = 32\nheads = 4\n"
      "mamba_heads = 4\n[batch]\nglobal = 4\nmicro = 2\n[data]\nsequence = ",
      kSmallSequence, "\nvalidation_fraction = 0.01\n", toml);
  LS_CHECK(WriteFileAtomically(*PosixFileSystem(), path, text).ok());
  return path;
}

std::string SmallRecipe(const std::string& name, int64_t samples) {
  return WriteSmallRecipe(name, SourceOf(WriteSamples(name, samples)));
}

TrainRig SmallRig(const std::string& name) {
  return TrainRig(name, TrainRig::kOfRecipe);
}

std::vector<Json> Lines(const TrainRig& rig) {
  std::vector<Json> lines;
  for (const std::string& line : rig.Metrics()) {
    lines.push_back(Json::parse(line));
  }
  return lines;
}

std::vector<std::vector<SampleLocation>> Consumed(const TrainRig& rig,
                                                  const RigOptions& options) {
  FileSystem& fs = *PosixFileSystem();
  const auto run = ResolveRun(fs, options.recipe, options.sets, rig.dir());
  LS_CHECK(run.ok()) << std::string(run.status().message());
  const RunConfig& c = run->config;
  const auto data = Dataset::Open(fs, c.data, rig.dir(), c.seed, c.model.vocab);
  LS_CHECK(data.ok()) << std::string(data.status().message());
  std::vector<std::vector<SampleLocation>> steps;
  for (const Json& line : Lines(rig)) {
    const uint64_t first = line["sample_first"], last = line["sample_last"];
    const auto samples = static_cast<int64_t>(last - first + 1);
    const int64_t tokens = c.data.sequence;
    std::vector<int32_t> tokens_ST1(
        static_cast<size_t>(samples * (tokens + 1)));
    std::vector<uint8_t> mask_ST(static_cast<size_t>(samples * tokens));
    steps.emplace_back();
    std::vector<uint64_t> ids;
    for (int64_t s = 0; s < samples; ++s) {
      const uint64_t g = first + static_cast<uint64_t>(s);
      ids.push_back(g);
      LS_CHECK(
          (*data)
              ->TrainSample(g, RowsOfSample(s, tokens, tokens_ST1, mask_ST, {}))
              .ok());
      steps.back().push_back((*data)->Locate(g).value());
    }
    EXPECT_EQ(line["fingerprint"]["data"],
              DataField(ids, tokens, tokens_ST1, mask_ST))
        << "step " << line["step"];
  }
  return steps;
}

int64_t ExpectUnbroken(const std::string& name, const RigOptions& options,
                       const std::vector<int64_t>& stops,
                       const TrainRig& unbroken) {
  const TrainRig rig = SmallRig(name);
  RigOptions part = options;
  for (const int64_t stop : stops) {
    part.until = stop;
    rig.Unseed(part);
    EXPECT_EQ(rig.Metrics().size(), static_cast<size_t>(stop)) << name;
  }
  const std::string unseed = rig.Unseed(options);
  const std::vector<std::string> got = rig.Metrics();
  EXPECT_TRUE(SameLines(got, unbroken.Metrics())) << name;
  EXPECT_EQ(unseed, unbroken.Unseed(options)) << name;
  return static_cast<int64_t>(got.size());
}

namespace {

std::string CheckpointDir(int64_t step) {
  return absl::StrFormat("checkpoints/step_%08d/", step);
}

}  // namespace

Json IndexOf(const TrainRig& rig, int64_t step) {
  return Json::parse(rig.Read(CheckpointDir(step) + "index.json"));
}

std::map<std::string, std::string> EntriesOf(const TrainRig& rig,
                                             int64_t step) {
  std::map<std::string, std::string> entries;
  const Json index = IndexOf(rig, step);
  for (const Json& tensor : index["tensors"]) {
    entries[tensor["name"]] = tensor.dump();
  }
  return entries;
}

std::string EntryBytes(const TrainRig& rig, int64_t step,
                       const std::string& entry) {
  const Json index = IndexOf(rig, step);
  for (const Json& tensor : index["tensors"]) {
    if (tensor["name"] != entry) continue;
    const Json& box = tensor["boxes"][0];
    return rig.Read(CheckpointDir(step) + box["file"].get<std::string>())
        .substr(box["offset"], box["bytes"]);
  }
  ADD_FAILURE() << "no entry " << entry;
  return "";
}

uint64_t CounterOf(const TrainRig& rig, int64_t step,
                   const std::string& entry) {
  const std::string bytes = EntryBytes(rig, step, entry);
  uint64_t value = 0;
  EXPECT_EQ(bytes.size(), sizeof(value)) << entry;
  if (bytes.size() == sizeof(value)) {
    std::memcpy(&value, bytes.data(), sizeof(value));
  }
  return value;
}

}  // namespace lockstep
