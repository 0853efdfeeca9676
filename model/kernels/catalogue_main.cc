// bazel run //model/kernels:catalogue    writes CATALOGUE.md; started
// otherwise, it prints it.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "model/kernels/catalogue.h"

int main() {
  const std::string text = lockstep::CatalogueText(lockstep::AllKernels());
  const char* workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  if (workspace == nullptr) return std::fputs(text.c_str(), stdout) < 0;
  const std::string path =
      std::string(workspace) + "/model/kernels/CATALOGUE.md";
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) {
    std::perror(path.c_str());
    return 1;
  }
  const bool wrote = std::fputs(text.c_str(), file) >= 0;
  return std::fclose(file) != 0 || !wrote;
}
