// Shard files: what other readers expect, and what hostile files try.

#include "ckpt/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>

#include "determinism/memory_file_system.h"

namespace lockstep {
namespace {

constexpr char kPath[] = "/x.safetensors";

std::span<const std::byte> AsBytes(const std::string& text) {
  return std::as_bytes(std::span<const char>(text));
}

// header length, header, data.
std::string FileOf(const std::string& header, const std::string& data,
                   int64_t lie = 0) {
  const uint64_t length = header.size() + static_cast<uint64_t>(lie);
  std::string file(8, '\0');
  std::memcpy(file.data(), &length, 8);
  return file + header + data;
}

absl::Status OpenStatus(const std::string& file) {
  MemoryFileSystem fs;
  EXPECT_TRUE(WriteFileAtomically(fs, kPath, file).ok());
  return SafetensorsFile::Open(fs, kPath).status();
}

TEST(Safetensors, RoundTripAndLayout) {
  MemoryFileSystem fs;
  auto writer = *SafetensorsWriter::Create(fs, kPath,
                                           {{"z", DType::kU8, {3}},
                                            {"b", DType::kF32, {1, 2}},
                                            {"a", DType::kBF16, {2}},
                                            {"e", DType::kF64, {0, 7}},
                                            {"s", DType::kI64, {}}},
                                           {{"step", "7"}});
  // Wider first, so that everything is aligned.
  std::vector<std::string> order;
  for (const SafetensorsEntry& entry : writer->entries()) {
    order.push_back(entry.name);
    EXPECT_EQ(entry.offset_bytes % SizeOf(entry.dtype), 0u) << entry.name;
    const std::string data(entry.size_bytes, entry.name[0]);
    ASSERT_TRUE(writer->WriteTensor(entry.name, AsBytes(data)).ok());
  }
  EXPECT_EQ(order, (std::vector<std::string>{"e", "s", "b", "a", "z"}));
  ASSERT_TRUE(writer->Finish().ok());

  auto file = *SafetensorsFile::Open(fs, kPath);
  EXPECT_EQ(file->Names(), (std::vector<std::string>{"a", "b", "e", "s", "z"}));
  EXPECT_EQ(file->metadata().at("format"), "pt");
  EXPECT_EQ(file->metadata().at("step"), "7");
  EXPECT_EQ(file->header_bytes() % 4096, 0u);
  EXPECT_EQ(file->header_sha256(), writer->header_sha256());
  EXPECT_EQ(file->file_bytes(), writer->file_bytes());
  for (const SafetensorsEntry& entry : file->entries()) {
    std::string data(entry.size_bytes, '?');
    ASSERT_TRUE(file->ReadTensor(entry.name,
                                 std::as_writable_bytes(std::span<char>(data)))
                    .ok());
    EXPECT_EQ(data, std::string(entry.size_bytes, entry.name[0]));
  }
  EXPECT_EQ(file->Find("b")->shape, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(file->Find("nothing"), nullptr);
}

TEST(Safetensors, WritesTheBytesOfTheFormat) {
  MemoryFileSystem fs;
  auto writer = *SafetensorsWriter::Create(fs, kPath, {{"t", DType::kU8, {2}}});
  ASSERT_TRUE(writer->WriteTensor("t", AsBytes("hi")).ok());
  ASSERT_TRUE(writer->Finish().ok());
  std::string header =
      R"({"__metadata__":{"format":"pt"},)"
      R"("t":{"data_offsets":[0,2],"dtype":"U8","shape":[2]}})";
  header.resize(4096 - 8, ' ');
  EXPECT_EQ(*fs.ReadFile(kPath), FileOf(header, "hi"));
}

struct HostileFile {
  const char* what;
  std::string file;
};

void ExpectRefused(const std::vector<HostileFile>& files) {
  for (const HostileFile& hostile : files) {
    const absl::Status status = OpenStatus(hostile.file);
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss)
        << hostile.what << ": " << status;
  }
}

TEST(Safetensors, RefusesLengthsThatLie) {
  const std::string good =
      R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})";
  EXPECT_TRUE(OpenStatus(FileOf(good, "hi")).ok());
  ExpectRefused({{"empty", ""},
                 {"short length", "1234567"},
                 {"header longer than the file", FileOf(good, "hi", 1000)},
                 {"header of 2^64 - 1", std::string(8, '\xff') + good},
                 {"header cut", FileOf(good, "hi", -3)},
                 {"header reaches into the data", FileOf(good, "hi", 1)},
                 {"trailing garbage", FileOf(good, "hi!")},
                 {"truncated", FileOf(good, "h")},
                 {"not an object", FileOf("[1,2]", "")},
                 {"leading blank", FileOf(" " + good, "hi")},
                 {"not JSON", FileOf("{\"a\"", "")},
                 {"deep nesting", FileOf("{" + std::string(200000, '['), "")}});
}

TEST(Safetensors, RefusesDtypesAndShapesThatLie) {
  ExpectRefused(
      {{"unknown dtype",
        FileOf(R"({"a":{"dtype":"U7","shape":[2],"data_offsets":[0,2]}})",
               "hi")},
       {"dtype is a number",
        FileOf(R"({"a":{"dtype":1,"shape":[2],"data_offsets":[0,2]}})", "hi")},
       {"negative dim",
        FileOf(R"({"a":{"dtype":"U8","shape":[-2],"data_offsets":[0,2]}})",
               "hi")},
       {"two negative dims",
        FileOf(R"({"a":{"dtype":"U8","shape":[-1,-2],"data_offsets":[0,2]}})",
               "hi")},
       {"fractional dim",
        FileOf(R"({"a":{"dtype":"U8","shape":[2.0],"data_offsets":[0,2]}})",
               "hi")},
       {"shape overflows to 2",
        FileOf(R"({"a":{"dtype":"U8","shape":[4294967296,4294967296,2],)"
               R"("data_offsets":[0,2]}})",
               "hi")},
       {"dim above 2^63",
        FileOf(R"({"a":{"dtype":"U8","shape":[9223372036854775810],)"
               R"("data_offsets":[0,2]}})",
               "hi")}});
}

TEST(Safetensors, RefusesOffsetsThatLie) {
  ExpectRefused(
      {{"offsets beyond the end",
        FileOf(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
               "hi")},
       {"offsets backwards",
        FileOf(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[2,0]}})",
               "hi")},
       {"negative offset",
        FileOf(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[-1,1]}})",
               "hi")},
       {"three offsets",
        FileOf(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,1,2]}})",
               "hi")},
       {"size and shape disagree",
        FileOf(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,2]}})",
               "hi")},
       {"overlap",
        FileOf(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
               R"("b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
               "hi!")},
       {"twice the same bytes",
        FileOf(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
               R"("b":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})",
               "hi")},
       {"gap", FileOf(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                      R"("b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}})",
                      "hi!")}});
}

TEST(Safetensors, RefusesHeadersThatContradictThemselves) {
  ExpectRefused(
      {{"a name twice",
        FileOf(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
               R"("a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
               "hi")},
       {"a field twice", FileOf(R"({"a":{"dtype":"U8","shape":[2],"shape":[2],)"
                                R"("data_offsets":[0,2]}})",
                                "hi")},
       {"a field too many",
        FileOf(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2],"x":1}})",
               "hi")},
       {"a field missing",
        FileOf(R"({"a":{"dtype":"U8","data_offsets":[0,2]}})", "hi")},
       {"metadata not strings",
        FileOf(R"({"__metadata__":{"n":1},)"
               R"("a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})",
               "hi")},
       {"invalid UTF-8",
        FileOf("{\"\xff\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":"
               "[0,2]}}",
               "hi")}});
}

}  // namespace
}  // namespace lockstep
