#include "model/kernels/catalogue.h"

#include <fstream>
#include <sstream>
#include <string>

#include "gtest/gtest.h"

namespace lockstep {
namespace {

std::string Committed() {
  std::ifstream file("model/kernels/CATALOGUE.md");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(CatalogueTest, IsCurrent) {
  EXPECT_EQ(Committed(), CatalogueText(AllKernels()))
      << "run: bazel run //model/kernels:catalogue";
}

TEST(CatalogueTest, ANewGapOrOperationShows) {
  std::vector<KernelInfo> kernels = AllKernels();
  const std::string now = CatalogueText(kernels);
  kernels[0].known_gaps = "one gap";
  EXPECT_NE(CatalogueText(kernels), now);
  kernels.pop_back();
  EXPECT_NE(CatalogueText(kernels), now);
}

}  // namespace
}  // namespace lockstep
