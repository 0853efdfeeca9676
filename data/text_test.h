// What the tests of text sources share.

#ifndef DATA_TEXT_TEST_H_
#define DATA_TEXT_TEST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "data/test_files.h"
#include "data/text_source.h"
#include "determinism/check.h"
#include "determinism/status.h"
#include "gtest/gtest.h"

namespace lockstep {

using Texts = std::vector<std::string>;

inline absl::StatusOr<Texts> Documents(FileSystem& fs, const Texts& inputs,
                                       const TextOptions& options = {},
                                       int64_t* blank_lines = nullptr) {
  LS_ASSIGN_OR_RETURN(const TextFileList list,
                      ListTextFiles(fs, inputs, options));
  const auto source = MakeTextSource(fs, list.files, options);
  Texts documents;
  std::string document;
  while (true) {
    LS_ASSIGN_OR_RETURN(const TextPiece piece, source->Next());
    if (piece.end_of_source) {
      EXPECT_EQ(document, "");
      EXPECT_EQ(source->bytes_done(), list.bytes);
      if (blank_lines != nullptr) *blank_lines = source->blank_lines();
      return documents;
    }
    document += piece.bytes;
    if (piece.ends_document) {
      documents.push_back(document);
      document.clear();
    }
  }
}

// Reading `input` must fail as the user's, with all of `told` in the message.
inline void ExpectTextRefused(FileSystem& fs, const std::string& input,
                              const std::vector<std::string>& told,
                              const TextOptions& options = {}) {
  const auto documents = Documents(fs, {input}, options);
  ASSERT_FALSE(documents.ok()) << input << " was taken; expected: " << told[0];
  EXPECT_EQ(ExitCodeFor(documents.status()), 2);
  const std::string message = MessageOf(documents.status());
  for (const std::string& text : told) {
    EXPECT_NE(message.find(text), std::string::npos)
        << "no '" << text << "' in: " << message;
  }
  EXPECT_NE(message.find("do: "), std::string::npos) << message;
}

}  // namespace lockstep

#endif  // DATA_TEXT_TEST_H_
