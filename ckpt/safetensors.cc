#include "ckpt/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "ckpt/safetensors_header.h"
#include "determinism/check.h"
#include "determinism/sha256.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

static_assert(std::endian::native == std::endian::little,
              "tensors are written as they lie in memory");

constexpr uint64_t kLengthBytes = 8;
constexpr size_t kWriteBytes = size_t{4} << 20;

absl::Status Unsound(std::string_view what, const std::string& path) {
  return absl::DataLossError(
      "not a sound safetensors file: " + std::string(what) +
      "\n  where: " + path + "\n  do: use another copy of the file");
}

}  // namespace

absl::StatusOr<std::unique_ptr<SafetensorsWriter>> SafetensorsWriter::Create(
    FileSystem& file_system, const std::string& path,
    std::vector<SafetensorsSpec> tensors,
    const std::map<std::string, std::string>& metadata) {
  std::unique_ptr<SafetensorsWriter> writer(new SafetensorsWriter());
  writer->entries_ = LayOutSafetensors(std::move(tensors));
  const std::string header = MakeSafetensorsHeader(writer->entries_, metadata);
  const uint64_t length = header.size();
  std::string start(kLengthBytes, '\0');
  std::memcpy(start.data(), &length, kLengthBytes);
  start += header;
  writer->header_bytes_ = start.size();
  writer->header_sha256_ = Sha256Hex(start);
  for (SafetensorsEntry& entry : writer->entries_) {
    entry.offset_bytes += start.size();
  }
  LS_ASSIGN_OR_RETURN(writer->file_, file_system.CreateNew(path));
  LS_RETURN_IF_ERROR(writer->file_->Append(start));
  writer->written_bytes_ = start.size();
  return writer;
}

absl::Status SafetensorsWriter::WriteTensor(std::string_view name,
                                            std::span<const std::byte> data) {
  LS_CHECK_LT(next_, entries_.size());
  const SafetensorsEntry& entry = entries_[next_++];
  LS_CHECK_EQ(entry.name, name);
  LS_CHECK_EQ(entry.size_bytes, data.size());
  return WriteData(data);
}

absl::Status SafetensorsWriter::WriteData(std::span<const std::byte> data) {
  const char* bytes = reinterpret_cast<const char*>(data.data());
  for (size_t begin = 0; begin < data.size(); begin += kWriteBytes) {
    const size_t length = std::min(kWriteBytes, data.size() - begin);
    LS_RETURN_IF_ERROR(file_->Append(std::string_view(bytes + begin, length)));
  }
  written_bytes_ += data.size();
  return absl::OkStatus();
}

absl::Status SafetensorsWriter::Finish() {
  LS_CHECK_EQ(written_bytes_, file_bytes());
  LS_RETURN_IF_ERROR(file_->Sync());
  return file_->Close();
}

uint64_t SafetensorsWriter::file_bytes() const {
  return entries_.empty()
             ? header_bytes_
             : entries_.back().offset_bytes + entries_.back().size_bytes;
}

absl::StatusOr<std::unique_ptr<SafetensorsFile>> SafetensorsFile::Open(
    FileSystem& file_system, const std::string& path) {
  std::unique_ptr<SafetensorsFile> result(new SafetensorsFile());
  LS_ASSIGN_OR_RETURN(result->file_, file_system.OpenRead(path));
  const uint64_t file_bytes = result->file_->Size();
  uint64_t length = 0;
  if (file_bytes < kLengthBytes) {
    return Unsound("shorter than the length of a header", path);
  }
  LS_RETURN_IF_ERROR(result->file_->ReadAt(0, kLengthBytes, &length));
  if (length > kMaxSafetensorsHeaderBytes ||
      length > file_bytes - kLengthBytes) {
    return Unsound("a header of " + std::to_string(length) +
                       " bytes in a file of " + std::to_string(file_bytes),
                   path);
  }
  std::string start(kLengthBytes + length, '\0');
  LS_RETURN_IF_ERROR(result->file_->ReadAt(0, start.size(), start.data()));
  absl::StatusOr<SafetensorsHeader> header = ParseSafetensorsHeader(
      std::string_view(start).substr(kLengthBytes), file_bytes - start.size());
  if (!header.ok()) {
    return Unsound(std::string(header.status().message()), path);
  }
  result->header_bytes_ = start.size();
  result->header_sha256_ = Sha256Hex(start);
  result->metadata_ = std::move(header->metadata);
  result->entries_ = std::move(header->entries);
  for (size_t i = 0; i < result->entries_.size(); ++i) {
    result->entries_[i].offset_bytes += start.size();
    result->by_name_[result->entries_[i].name] = i;
  }
  return result;
}

std::vector<std::string> SafetensorsFile::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, index] : by_name_) names.push_back(name);
  return names;
}

const SafetensorsEntry* SafetensorsFile::Find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &entries_[found->second];
}

absl::Status SafetensorsFile::ReadTensor(const std::string& name,
                                         std::span<std::byte> out) const {
  const SafetensorsEntry* entry = Find(name);
  if (entry == nullptr) {
    return absl::NotFoundError("no tensor \"" + name + "\" in the file");
  }
  LS_CHECK_EQ(entry->size_bytes, out.size());
  return file_->ReadAt(entry->offset_bytes, out.size(), out.data());
}

}  // namespace lockstep
