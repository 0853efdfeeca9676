// What is fuzzed: every reader of bytes that this program did not write itself
// a moment ago.
//
// What it is: one function a parser, which hands it any bytes and uses what it
// answers as a caller would. What it is not: a test of what the answer is (each
// parser has that beside it). Why so: a run's folder is copied, cut off and
// edited by others, and a reader of it may refuse but not crash, hang, or read
// beyond its bytes. The same functions run under libFuzzer, by hand, and on
// their corpora in the default tests, so that neither can rot.
#ifndef LOCKSTEP_TESTS_FUZZ_FUZZ_ENTRIES_H_
#define LOCKSTEP_TESTS_FUZZ_FUZZ_ENTRIES_H_

#include <string_view>
#include <vector>

namespace lockstep {

struct FuzzEntry {
  const char* name;  // of the folder under tests/fuzz/corpus
  void (*run)(std::string_view bytes);
};

// Recipes and what stands on a command line.
void FuzzToml(std::string_view bytes);
void FuzzSetValue(std::string_view bytes);
void FuzzFaultText(std::string_view bytes);
void FuzzArgumentTexts(std::string_view bytes);
void FuzzResizeNote(std::string_view bytes);
void FuzzHosts(std::string_view bytes);
void FuzzNodeList(std::string_view bytes);
void FuzzWords(std::string_view bytes);
// A run's folder.
void FuzzSafetensors(std::string_view bytes);
void FuzzManifest(std::string_view bytes);
void FuzzIndex(std::string_view bytes);
void FuzzLedger(std::string_view bytes);
void FuzzLock(std::string_view bytes);
void FuzzMetrics(std::string_view bytes);
void FuzzRunNotes(std::string_view bytes);
void FuzzSpread(std::string_view bytes);
void FuzzTrace(std::string_view bytes);
// Data.
void FuzzTokenIndex(std::string_view bytes);
void FuzzTokenShard(std::string_view bytes);
void FuzzBlockHashes(std::string_view bytes);
void FuzzJsonLines(std::string_view bytes);
void FuzzPackedText(std::string_view bytes);
void FuzzTokenizer(std::string_view bytes);

// Of the library that is linked: all but `words`, or that.
std::vector<FuzzEntry> FuzzEntries();

}  // namespace lockstep

#endif  // LOCKSTEP_TESTS_FUZZ_FUZZ_ENTRIES_H_
