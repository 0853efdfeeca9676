#include "tools/tensorboard.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <optional>

#include "determinism/crc32c.h"
#include "determinism/memory_file_system.h"
#include "tools/tensorboard.pb.h"

namespace lockstep {
namespace {

using tensorboard::Event;

// Frames of a file, each check done; nothing where one does not hold. A
// reader of its own, from the format's description.
std::optional<std::vector<Event>> ReadAll(std::string_view file) {
  const auto checked = [&](size_t size) -> std::optional<std::string_view> {
    if (file.size() < size + 4) return std::nullopt;
    uint32_t masked = 0;
    std::memcpy(&masked, file.data() + size, 4);
    const std::string_view data = file.substr(0, size);
    const uint32_t rotated = masked - 0xa282ead8u;
    if (((rotated << 15) | (rotated >> 17)) != Crc32c(data)) {
      return std::nullopt;
    }
    file.remove_prefix(size + 4);
    return data;
  };
  std::vector<Event> events;
  while (!file.empty()) {
    const auto header = checked(8);
    if (!header) return std::nullopt;
    uint64_t length = 0;
    std::memcpy(&length, header->data(), 8);
    const auto data = checked(length);
    if (!data || !events.emplace_back().ParseFromString(std::string(*data))) {
      return std::nullopt;
    }
  }
  return events;
}

struct Rig {
  std::string Write(int64_t first_step) {
    auto events = EventFile::Open(fs, clock, "/run/tb", "host.7", first_step);
    EXPECT_TRUE(events.ok());
    EXPECT_TRUE(
        (*events)
            ->Append(first_step, {{"train/loss", 4.25}, {"train/lr", 1e-3}})
            .ok());
    return (*events)->path();
  }
  MemoryFileSystem fs;
  ManualClock clock{1'700'000'000'250};
};

// RFC 3720, B.4: 32 bytes of zeros, of ones, ascending, descending.
TEST(TensorBoardTest, Crc32cMeetsPublishedVectors) {
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  std::string ascending, descending;
  for (char i = 0; i < 32; ++i) {
    ascending += i;
    descending += static_cast<char>(31 - i);
  }
  EXPECT_EQ(Crc32c(ascending), 0x46dd794eu);
  EXPECT_EQ(Crc32c(descending), 0x113fdb5cu);
  EXPECT_EQ(MaskedCrc32c("123456789"),
            ((0xe3069283u >> 15) | (0xe3069283u << 17)) + 0xa282ead8u);
}

TEST(TensorBoardTest, FramesComeBack) {
  Rig rig;
  const std::string path = rig.Write(3);
  EXPECT_EQ(path, "/run/tb/events.out.tfevents.1700000000.host.7");
  const auto events = ReadAll(*rig.fs.ReadFile(path));
  ASSERT_TRUE(events);
  ASSERT_EQ(events->size(), 3u);
  EXPECT_EQ(events->at(0).file_version(), "brain.Event:2");
  EXPECT_EQ(events->at(1).session_log().status(),
            tensorboard::SessionLog::START);
  EXPECT_EQ(events->at(1).step(), 3);
  const Event& scalars = events->at(2);
  EXPECT_EQ(scalars.step(), 3);
  EXPECT_EQ(scalars.wall_time(), 1'700'000'000.25);
  ASSERT_EQ(scalars.summary().value_size(), 2);
  EXPECT_EQ(scalars.summary().value(0).tag(), "train/loss");
  EXPECT_EQ(scalars.summary().value(0).simple_value(), 4.25f);
}

// Canary: every single flipped bit, and every cut inside a frame, is seen.
TEST(TensorBoardTest, CanaryDamagedFramesAreSeen) {
  Rig rig;
  const std::string good = *rig.fs.ReadFile(rig.Write(1));
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    ASSERT_FALSE(ReadAll(bad)) << bit;
  }
  int whole = 0;
  for (size_t cut = 0; cut < good.size(); ++cut) {
    whole += ReadAll(good.substr(0, cut)).has_value() ? 1 : 0;
  }
  EXPECT_EQ(whole, 3);  // before each of the three frames
}

// Readers go by name, so a clock that stands still or goes back must not put a
// later launch before an earlier one.
TEST(TensorBoardTest, NamesAscendWhateverTheClockSays) {
  Rig rig;
  const std::string first = rig.Write(1), second = rig.Write(2);
  EXPECT_LT(first, second);
  ManualClock back(1'600'000'000'000);
  auto third = EventFile::Open(rig.fs, back, "/run/tb", "host.7", 3);
  ASSERT_TRUE(third.ok());
  EXPECT_LT(second, (*third)->path());
  EXPECT_EQ(rig.fs.List("/run/tb")->size(), 3u);
}

TEST(TensorBoardTest, ScalarsOfAStepAndAnEvaluation) {
  StepReport report;
  report.loss = 2;
  report.lr = 0.5;
  const auto tags = [](const Scalars& scalars) {
    return std::map<std::string, double>(scalars.begin(), scalars.end());
  };
  EXPECT_EQ(tags(ScalarsOf(report)).size(), 7u);
  EXPECT_EQ(tags(ScalarsOf(report))["train/lr"], 0.5);
  report.skipped = true;
  EXPECT_EQ(tags(ScalarsOf(report)).count("train/lr"), 0u);
  Evaluation evaluation;
  evaluation.sources.resize(2);
  evaluation.sources[1].bits_per_byte = 3;
  EXPECT_EQ(tags(ScalarsOf(evaluation)).size(), 6u);
  EXPECT_EQ(tags(ScalarsOf(evaluation))["eval/source_1/bits_per_byte"], 3);
}

}  // namespace
}  // namespace lockstep
