// Google's SentencePiece, as much of it as is used, without its headers.
//
// What it is: a model as a table of pieces with an encoder, and the trainer.
// What it is not: a Tokenizer (sentencepiece_tokenizer.h). Why so: the library
// brings its own protobuf and string_view, which must not meet ours; they stay
// in one source file. Kudo and Richardson, "SentencePiece", EMNLP 2018.

#ifndef DATA_SENTENCEPIECE_LIBRARY_H_
#define DATA_SENTENCEPIECE_LIBRARY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

// Nothing below "fatal": what the library has to say, our errors say, and
// stderr is the command's.
inline constexpr int kLibraryLogLevel = 3;

enum class PieceKind : uint8_t { kText, kByte, kControl, kUnknown };

// Immutable and safe to use from several threads.
class PieceModel {
 public:
  virtual ~PieceModel() = default;

  // Null for bytes that the library refuses; `error` then says why, as far as
  // the library does.
  static std::unique_ptr<PieceModel> Load(const std::string& bytes,
                                          std::string& error);

  virtual int64_t piece_count() const = 0;
  virtual int32_t end_id() const = 0;      // of "</s>", or -1
  virtual int32_t unknown_id() const = 0;  // or -1
  virtual PieceKind Kind(int32_t id) const = 0;
  virtual std::string Text(int32_t id) const = 0;  // U+2581 stands for a space
  // Appends the ids of `text`.
  virtual void Encode(std::string_view text,
                      std::vector<int32_t>& out) const = 0;
};

// Trains on `sentences` with the library's own options, which the model
// records; the model's bytes. Empty on failure; `error` then says why, as far
// as the library does.
std::string TrainPieces(const std::map<std::string, std::string>& options,
                        const std::vector<std::string>& sentences,
                        std::string& error);

}  // namespace lockstep

#endif  // DATA_SENTENCEPIECE_LIBRARY_H_
