// What the samples of a step are, and which of them a person should look at.
//
// What it is: for each sample where it came from, its loss, how repetitive it
// is, and how far it stands out from its like; sorted, the most suspicious
// first. What it is not: a proof: it names what to read. Why so: losses and
// repetition differ between prose and code, so a sample is held against others
// of its own source; medians are used, since the culprit must not hide itself
// by moving the mean.
//
//   z           = (value - median) / max(1.4826 * MAD, floor) over the others
//                 of the same source, in this step and those before it that
//                 were replayed; over all others where those are fewer than 8
//   repetition  = share of 4-grams that stand earlier in the sample
//   suspicion   = max(0, z of the loss) + min(max(0, z of the repetition), 10)
//
// (1.4826 makes the median absolute deviation, MAD, estimate a standard
// deviation: Rousseeuw and Croux, 1993.) Repetition is capped because it makes
// no spike by itself: a model that has learnt to repeat finds it easy.
#ifndef LOCKSTEP_TOOLS_EXPLANATION_H_
#define LOCKSTEP_TOOLS_EXPLANATION_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "data/dataset.h"
#include "tools/repetition.h"
#include "tools/stepper.h"

namespace lockstep {

// A document, or the part of it that a sample covers. Empty documents cover
// nothing and are left out.
struct DocumentPart {
  int64_t document = 0;  // of the source's file
  int64_t offset = 0;    // in the document, of the part's first token
  int64_t position = 0;  // in the sample, of the same token
  int64_t tokens = 0;
  int64_t labels = 0;  // of them that are predicted and count
  double loss = 0;     // nats, mean over the labels; 0 without one
  int64_t longest_run = 0;
};

struct SampleExplanation {
  SampleLocation at;
  int64_t labels = 0;
  double loss = 0;  // nats, the exact sum over the labels, divided once
  Repetition repetition;
  double non_text_share = 0;
  std::string text;  // decoded, as it is
  std::vector<DocumentPart> documents;
  // False: the step was not made from the tokens that stand there in the file.
  bool as_in_file = true;

  // By RankSamples.
  double loss_z = 0;
  double repetition_z = 0;
  double suspicion = 0;
  double excess_share = 0;  // of what the step's losses are above their medians
  size_t suspect_part = 0;  // of `documents`
};

// Everything of sample i of `samples` but its rank.
absl::StatusOr<SampleExplanation> ExamineSample(const Dataset& dataset,
                                                const StepSamples& samples,
                                                size_t i);

// What a sample of an earlier step contributes.
struct ReferenceSample {
  int64_t source = 0;
  double loss = 0;
  double repeated_share = 0;
};

// Fills in the ranks and sorts by suspicion, then by global index. Samples
// whose loss is not finite come first.
void RankSamples(std::span<const ReferenceSample> before,
                 std::vector<SampleExplanation>& samples);

// Of the finite ones; NaN of none.
double Median(std::vector<double> values);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_EXPLANATION_H_
