// Kind `document`: which token is another, in which steps, and that a plan only
// counts as met what was read.

#include <string>
#include <vector>

#include "determinism/fault.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

std::vector<FaultSpec> Specs(const std::vector<std::string>& texts) {
  std::vector<FaultSpec> specs;
  for (const std::string& text : texts) {
    auto spec = ParseFault(text);
    EXPECT_TRUE(spec.ok()) << spec.status();
    if (spec.ok()) specs.push_back(*std::move(spec));
  }
  return specs;
}

TEST(DocumentFaultTest, ItsKeysAreAStepADocumentAndWhereInIt) {
  const auto spec =
      Specs({"kind=document,step=7,document=300,source=2,element=5"}).at(0);
  EXPECT_EQ(spec.kind, FaultKind::kDocument);
  EXPECT_EQ(std::string(NameOf(spec.kind)), "document");
  EXPECT_EQ(spec.document, 300);
  EXPECT_EQ(spec.source, 2);
  EXPECT_EQ(spec.element, 5);
  for (const char* text :
       {"kind=document,document=3", "kind=document,step=3",
        "kind=document,step=3,document=-1", "kind=document,step=3,document=x",
        "kind=document,step=3,document=1,at=a",
        "kind=document,step=3,document=1,sample=1",
        "kind=flip,at=a,element=1,bit=1,document=1"}) {
    EXPECT_EQ(ParseFault(text).status().code(),
              absl::StatusCode::kInvalidArgument)
        << text;
  }
}

TEST(DocumentFaultTest, ItIsInForceInItsStepsAndMetWhenItWasRead) {
  FaultPlan plan(Specs({"kind=flip,step=3,at=a,element=0,bit=0",
                        "kind=document,step=3,document=8",
                        "kind=document,step=4,document=9,when=from,element=2",
                        "kind=document,step=4,document=7,rank=1"}),
                 0);
  plan.BeginStep(2, 0);
  EXPECT_TRUE(plan.ChangedTokens().empty());
  plan.BeginStep(3, 0);
  const auto third = plan.ChangedTokens();
  ASSERT_EQ(third.size(), 1u);
  EXPECT_EQ(third[0].document, 8);
  EXPECT_EQ(third[0].token, 0);
  EXPECT_EQ(third[0].source, 0);
  EXPECT_EQ(plan.Unfired().size(), 3u) << "asked for is not read";
  plan.Met(third[0].order);
  EXPECT_EQ(plan.Unfired().size(), 2u);
  for (const int64_t step : {4, 5, 100}) {
    plan.BeginStep(step, 0);
    const auto tokens = plan.ChangedTokens();
    ASSERT_EQ(tokens.size(), 1u) << step;
    EXPECT_EQ(tokens[0].document, 9);
    EXPECT_EQ(tokens[0].token, 2);
  }
}

TEST(DocumentFaultTest, AHardwareFaultIsNotMetAgain) {
  const auto specs = Specs({"kind=document,step=3,document=8,replayed=no",
                            "kind=document,step=3,document=9"});
  FaultPlan run(specs, 0), replay(specs, 0, /*replay=*/true);
  run.BeginStep(3, 0);
  replay.BeginStep(3, 0);
  EXPECT_EQ(run.ChangedTokens().size(), 2u);
  ASSERT_EQ(replay.ChangedTokens().size(), 1u);
  EXPECT_EQ(replay.ChangedTokens()[0].document, 9);
}

}  // namespace
}  // namespace lockstep
