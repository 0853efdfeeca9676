#include "model/device.h"
#include "model/kernels/cross_entropy/cross_entropy.h"
#include "model/kernels/cross_entropy/cross_entropy_slices.h"
#include "model/kernels/self_check.h"

namespace lockstep {

std::string CrossEntropyCheck(Device& device, CheckFault fault) {
  SelfCheck check(fault);
  const int64_t rows = 67, vocab = 371, padded = 384;
  std::vector<int32_t> labels;
  std::vector<uint8_t> mask;
  for (int64_t row = 0; row < rows; ++row) {
    labels.push_back(static_cast<int32_t>(row * 31 % vocab));
    mask.push_back(row % 7 != 3);
  }
  for (const DType dtype : kCheckTypes) {
    CheckTensor& logits = check.Input(DType::kF32, rows, padded);
    CheckTensor& dlogits = check.Output(dtype, rows, padded);
    CrossEntropyArgs args;
    args.rows = rows;
    args.vocab = vocab;
    args.vocab_padded = padded;
    args.logits = logits.as<float>();
    args.logits_row_stride = logits.row_stride();
    args.labels = labels.data();
    args.mask = mask.data();
    args.loss_scale = 512;
    args.loss = check.OutputFloats(rows);
    args.dlogits_dtype = dtype;
    args.dlogits = dlogits.data();
    args.dlogits_row_stride = dlogits.row_stride();
    CrossEntropy(device, args);

    CrossEntropySlicesArgs part;
    part.rows = rows;
    part.vocab = vocab;
    part.first = padded / 3;
    part.columns = padded - part.first;
    part.slices = 2;
    CheckTensor& exponentials = check.InOut(rows, part.columns);
    CheckTensor& dpart = check.Output(dtype, rows, part.columns);
    part.logits = exponentials.as<float>();
    part.logits_row_stride = exponentials.row_stride();
    part.labels = labels.data();
    part.mask = mask.data();
    part.top = check.OutputFloats(rows);
    part.total = check.OutputFloats(rows);
    part.target = check.OutputFloats(rows);
    part.loss = check.OutputFloats(rows);
    part.dlogits_dtype = dtype;
    part.dlogits = dpart.data();
    part.dlogits_row_stride = dpart.row_stride();
    CrossEntropyTop(device, part);
    CrossEntropySums(device, part);
    CrossEntropyFinish(device, part);

    part.logits = check.InOut(rows, part.columns).as<float>();
    part.dlogits = check.Output(dtype, rows, part.columns).data();
    CrossEntropyGradient(device, part);
  }
  return check.Digest();
}

}  // namespace lockstep
