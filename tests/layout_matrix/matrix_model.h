// The models of the layout matrix.
//
// What it is: five that train in milliseconds and together have every layer
// kind; vocabularies of odd sizes, of which a grid of four has slices that are
// full, one that is partly padding, and ones that are nothing else; fewer
// key/value heads than ranks; stages of unequal length. What it is not: models
// of any use. Why so: what makes a layout hard is how things divide, not how
// large they are.
#ifndef LOCKSTEP_TESTS_LAYOUT_MATRIX_MATRIX_MODEL_H_
#define LOCKSTEP_TESTS_LAYOUT_MATRIX_MATRIX_MODEL_H_

#include <string>
#include <vector>

namespace lockstep {

struct MatrixModel {
  std::string name;
  int layers;
  int cuts;  // stages of a cut pattern; 1: not cut
  std::vector<std::string> sets;
};

const std::vector<MatrixModel>& MatrixModels();

// Whether the model of this name, or of any where it is empty, can be cut into
// so many stages a rank, or into any number that the matrix has where it is 0.
bool SomeModelFits(const std::string& name, int pipeline, int interleave);

}  // namespace lockstep

#endif  // LOCKSTEP_TESTS_LAYOUT_MATRIX_MATRIX_MODEL_H_
