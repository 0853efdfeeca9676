// The shape of a model: the recipe's `model` section and what follows from it.
//
// What it is: sizes, the layer pattern, and every count derived from them, in
// the terms that the kernels use. What it is not: parallel degrees, precision
// or training choices, which live in sections of their own.
// Why so: block lengths that decide an order of summation (chunk, key_block)
// are part of the model and of its manifest, never of a tuner (N7).
#ifndef LOCKSTEP_MODEL_CONFIG_H_
#define LOCKSTEP_MODEL_CONFIG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "recipes/section.h"

namespace lockstep {

enum class LayerKind : char { kMamba2 = 'M', kAttention = '*', kMlp = '-' };

struct ModelConfig {
  std::string pattern;  // M Mamba-2, * attention, - MLP; | cuts stages
  int64_t hidden = 64;
  int64_t vocab = 0;  // 0: the tokenizer's
  int64_t ffn = 128;
  int64_t heads = 4;
  int64_t kv_heads = 4;
  int64_t head_dim = 16;
  int64_t mamba_heads = 8;
  int64_t mamba_head_dim = 16;
  int64_t groups = 4;
  int64_t state = 32;
  int64_t conv = 4;
  int64_t chunk = 32;
  int64_t key_block = 64;
  double hidden_dropout = 0.0;
  double norm_eps = 1e-5;
  double init_std = 0.02;
  bool tie = false;

  // One entry a layer, cuts removed.
  std::vector<LayerKind> Layers() const;
  // Index of the first layer of each pipeline stage; {0} without cuts.
  std::vector<int64_t> StageStarts() const;
  bool Has(LayerKind kind) const;

  int64_t inner() const { return mamba_heads * mamba_head_dim; }
  int64_t conv_channels() const { return inner() + 2 * groups * state; }
  // Rows of in_proj, its five parts in order z, x, B, C, dt.
  int64_t in_proj_rows() const {
    return inner() + conv_channels() + mamba_heads;
  }
  int64_t q_rows() const { return heads * head_dim; }
  int64_t kv_rows() const { return kv_heads * head_dim; }
  int64_t qkv_rows() const { return q_rows() + 2 * kv_rows(); }
};

void DescribeSection(Section& section, ModelConfig& config);

// Rows of the embedding and the head in memory: a multiple of 128 * grid (N4),
// zero beyond `vocab`; padding is never saved, hashed or counted.
int64_t PaddedVocab(int64_t vocab, int64_t tensor_grid);

// Model FLOPs of one training step over `samples` samples of `tokens` tokens:
// 2 a multiply-add of every projection (head included, embedding not), causal
// attention at half the square, the scan's chunked products; times 3 for
// forward and backward. Recomputation and the optimizer are not counted.
double ModelFlopsPerStep(const ModelConfig& config, int64_t samples,
                         int64_t tokens);

// Multiply-adds of one sample's forward pass by layer, the head counted with
// the last one: what balances the stages of a pipeline.
std::vector<int64_t> LayerCosts(const ModelConfig& config, int64_t tokens);

// Number of parameters, the embedding and the head both included.
int64_t ParameterCount(const ModelConfig& config);

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_CONFIG_H_
