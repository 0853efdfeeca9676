// oneDNN 2.6 as Debian has it, threads by OpenMP.
#include <dnnl.hpp>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tools/bench/peer_product.h"

// Of libgomp, which oneDNN brings; its header is not needed for one function.
extern "C" void omp_set_num_threads(int threads);

namespace lockstep {
namespace {

using dnnl::memory;

memory::data_type TypeOf(DType dtype) {
  return dtype == DType::kBF16  ? memory::data_type::bf16
         : dtype == DType::kF16 ? memory::data_type::f16
                                : memory::data_type::f32;
}

memory::desc Describe(int64_t rows, int64_t columns, const MatrixRef& at) {
  return memory::desc({rows, columns}, TypeOf(at.dtype),
                      {at.row_stride, at.col_stride});
}

memory::desc Any(int64_t rows, int64_t columns, DType dtype) {
  return memory::desc({rows, columns}, TypeOf(dtype), memory::format_tag::any);
}

class OnednnProduct : public PeerProduct {
 public:
  OnednnProduct(const MatmulArgs& args, int threads, bool packed)
      : threads_(threads),
        engine_(dnnl::engine::kind::cpu, 0),
        stream_(engine_) {
    omp_set_num_threads(threads);
    const memory::desc a = Describe(args.m, args.k, args.a);
    const memory::desc b = Describe(args.k, args.n, args.b);
    const memory::desc c = memory::desc({args.m, args.n}, TypeOf(args.c_dtype),
                                        {args.c_row_stride, 1});
    dnnl::primitive_attr attr;
    if (args.accumulate) {
      dnnl::post_ops sum;
      sum.append_sum(1.0f);
      attr.set_post_ops(sum);
    }
    const dnnl::matmul::desc desc(
        a, packed ? Any(args.k, args.n, args.b.dtype) : b, c);
    const dnnl::matmul::primitive_desc plan(desc, attr, engine_);
    product_ = dnnl::matmul(plan);
    memory weights(b, engine_, const_cast<void*>(args.b.data));
    if (packed) {
      memory own(plan.weights_desc(), engine_);
      dnnl::reorder(weights, own).execute(stream_, weights, own);
      stream_.wait();
      weights = own;
    }
    memory_ = {
        {DNNL_ARG_SRC, memory(a, engine_, const_cast<void*>(args.a.data))},
        {DNNL_ARG_WEIGHTS, weights},
        {DNNL_ARG_DST, memory(c, engine_, args.c)}};
  }

  void Multiply() override {
    omp_set_num_threads(threads_);
    product_.execute(stream_, memory_);
    stream_.wait();
  }

 private:
  const int threads_;
  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::matmul product_;
  std::unordered_map<int, memory> memory_;
};

}  // namespace

absl::Status CheckProductPeer(const std::string& peer) {
  if (peer.empty() || peer == "onednn") return absl::OkStatus();
  return InputError("there is no such peer", "--peer " + peer,
                    "onednn is the one there is");
}

absl::StatusOr<std::unique_ptr<PeerProduct>> PeerProduct::Make(
    const MatmulArgs& args, int threads, bool packed) {
  try {  // the library reports by exception
    return std::make_unique<OnednnProduct>(args, threads, packed);
  } catch (const dnnl::error& error) {
    return InputError(
        absl::StrCat("oneDNN refuses the product: ", error.what()),
        absl::StrCat(args.m, " x ", args.n, " x ", args.k),
        "leave --peer out, or choose cases with --only");
  }
}

}  // namespace lockstep
