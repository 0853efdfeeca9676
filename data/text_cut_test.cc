// Where plain text is cut, against the rule said plainly.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "data/text_source.h"
#include "determinism/check.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

// A text in pieces of given sizes.
class Pieces : public ByteStream {
 public:
  Pieces(std::string text, uint64_t seed)
      : text_(std::move(text)), state_(seed) {}
  absl::StatusOr<std::string_view> Next() override {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    const size_t bytes =
        std::min<size_t>(text_.size() - at_, 1 + (state_ >> 60));
    at_ += bytes;
    return std::string_view(text_).substr(at_ - bytes, bytes);
  }
  uint64_t bytes_read() const override { return at_; }

 private:
  const std::string text_;
  uint64_t state_;
  size_t at_ = 0;
};

// "Before the first byte after a blank line, once there are that many bytes":
// two newlines with nothing but carriage returns between or behind them.
std::vector<std::string> Plainly(const std::string& text, size_t bytes) {
  std::vector<std::string> documents;
  size_t begin = 0;
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '\n' || text[i] == '\r' || i - begin < bytes) continue;
    int newlines = 0;
    for (size_t k = i;
         k > begin && (text[k - 1] == '\n' || text[k - 1] == '\r'); --k) {
      newlines += text[k - 1] == '\n' ? 1 : 0;
    }
    if (newlines < 2) continue;
    documents.push_back(text.substr(begin, i - begin));
    begin = i;
  }
  documents.push_back(text.substr(begin));
  return documents;
}

std::vector<std::string> Cut(const std::string& text, int64_t bytes,
                             uint64_t seed) {
  const auto source =
      MakePlainSource(std::make_unique<Pieces>(text, seed), bytes);
  std::vector<std::string> documents;
  for (std::string document;;) {
    const auto piece = source->Next();
    LS_CHECK(piece.ok());
    if (piece->end_of_source) return documents;
    document += piece->bytes;
    if (!piece->ends_document) continue;
    documents.push_back(document);
    document.clear();
  }
}

TEST(TextCutTest, AnyTextInAnyPiecesIsCutByTheRule) {
  uint64_t state = 7;
  int64_t documents = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string text;
    state = state * 6364136223846793005u + 1442695040888963407u;
    const size_t length = 1 + (state >> 57);
    while (text.size() < length) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      text += "\n\n\n\r\rabc"[state >> 61];
    }
    for (const int64_t bytes : {1, 2, 5, 17, 40}) {
      const auto expected = Plainly(text, static_cast<size_t>(bytes));
      ASSERT_EQ(Cut(text, bytes, state), expected) << round << ", " << bytes;
      documents += static_cast<int64_t>(expected.size());
    }
  }
  EXPECT_GT(documents, 40'000);
}

}  // namespace
}  // namespace lockstep
