#include "model/activation_memory.h"

#include <algorithm>
#include <cmath>

#include "model/head_memory.h"
#include "model/stream_memory.h"

namespace lockstep {
namespace {

double Of(int64_t count) { return static_cast<double>(count); }

struct MixerMemory {
  double saved = 0;
  double backward = 0;      // held throughout
  double in_backward = 0;   // the largest of what is there for a moment
  double cut_backward = 0;  // of it, sums over ranks of what is not the stream
};

MixerMemory OfMamba2(const CostShape& s) {
  const ModelConfig& c = s.held;
  const double inner = Of(c.inner()), channels = Of(c.conv_channels());
  const double projected = Of(c.in_proj_rows()), heads = Of(c.mamba_heads);
  const double chunks = std::ceil(s.tokens / Of(c.chunk));
  MixerMemory m;
  m.saved = s.rows() * (projected + channels + 2 * inner) * s.element +
            kFp32Bytes * (s.rows() * (Of(c.groups) + 2 * heads) +
                          s.samples * chunks * inner * Of(c.state));
  m.backward = s.rows() * (2 * inner + channels + projected) * s.element;
  const double norm = s.leaves() * inner;
  const double scan = 3 * heads * (s.leaves() + s.rows());
  const double conv = s.leaves() * channels * Of(c.conv + 1);
  m.in_backward = kFp32Bytes * std::max({norm, scan, conv});
  return m;
}

MixerMemory OfAttention(const CostShape& s) {
  const ModelConfig& c = s.held;
  const double qkv = Of(c.qkv_rows()), q = Of(c.q_rows());
  MixerMemory m;
  m.saved = s.rows() * ((qkv + q) * s.element + kFp32Bytes * Of(c.heads));
  m.backward = s.rows() * (qkv + q) * s.element;
  const double keys_and_values = 2 * s.rows() * Of(c.kv_rows()) * kFp32Bytes;
  m.in_backward = keys_and_values * s.kv_slices;
  if (s.kv_slices > 0 && s.copies > 1) m.cut_backward = keys_and_values;
  return m;
}

MixerMemory OfMlp(const CostShape& s) {
  const double both = 2 * s.rows() * Of(s.held.ffn) * s.element;
  return {.saved = both, .backward = both, .in_backward = 0, .cut_backward = 0};
}

MixerMemory OfMixer(const CostShape& s, LayerKind kind) {
  switch (kind) {
    case LayerKind::kMamba2:
      return OfMamba2(s);
    case LayerKind::kAttention:
      return OfAttention(s);
    case LayerKind::kMlp:
      return OfMlp(s);
  }
  return {};
}

// Layer::NormAndMix beside the layer's input: h, rstd and y stand throughout,
// while the gathered h goes before out_proj's sums come or stays beside them.
MemoryMoment NormAndMix(const CostShape& s, const MixerMemory& mixer) {
  const double gathering = Gathered(s);
  const double summing = GatheredRoom(s) + PartialSums(s, s.samples);
  const double kept = 2 * s.stream() + s.stream_rows() * kFp32Bytes;
  MemoryMoment most = {kept, gathering};
  Raise(most, {kept + mixer.saved, summing});
  return most;
}

// Layer::Backward behind a recomputation, beside what the layer keeps and the
// gradient that came in.
MemoryMoment LayerBackward(const CostShape& s, const MixerMemory& mixer) {
  const double dy_dh = 2 * s.stream();
  const double rooms = 2 * GatheredRoom(s);
  MemoryMoment most = {dy_dh, GatheredRoom(s) + Gathered(s)};
  Raise(most, {dy_dh + mixer.backward + mixer.in_backward,
               rooms + mixer.cut_backward});
  Raise(most, {dy_dh + mixer.backward, rooms + PartialSums(s, s.samples)});
  Raise(most, {dy_dh + s.stream() + NormLeaves(s), 0});
  return most;
}

StageMemory OfLayer(const CostShape& s, LayerKind kind) {
  const MixerMemory mixer = OfMixer(s, kind);
  const double inside = s.stream() + s.stream_rows() * kFp32Bytes + mixer.saved;
  const MemoryMoment mix = NormAndMix(s, mixer);
  const MemoryMoment back = LayerBackward(s, mixer);
  StageMemory layer;
  layer.kept = s.stream() + (s.recompute ? 0 : inside);
  layer.forward = mix.With({s.stream(), 0});
  layer.backward = back.With({s.stream() + inside, 0});
  if (s.recompute) Raise(layer.backward, mix.With({s.stream(), 0}));
  return layer;
}

// Stage::Embed; the words in which rows are selected are whole.
MemoryMoment OfEmbedding(const CostShape& s) {
  if (s.degree == 1) return {s.whole_stream(), 0};
  const double parts = s.sequence ? s.degree : 1;
  const double words = std::ceil(s.whole_stream() / parts / 8);
  return {s.stream(), s.whole_stream() + parts * words * 8};
}

// Stage::EmbedBackward beside the gradient. On the grid a leaf's rows stand in
// a table of those that occur: all of them different, at the most.
MemoryMoment OfEmbeddingBackward(const CostShape& s) {
  const double rows = std::min(s.leaf_rows(), s.vocab_columns);
  MemoryMoment most = {0, Gathered(s)};
  Raise(most, {s.grid ? rows * s.hidden() * kFp32Bytes : 0, GatheredRoom(s)});
  return most;
}

}  // namespace

ActivationMemory::ActivationMemory(const CostShape& shape,
                                   const std::vector<LayerKind>& layers)
    : shape_(shape) {
  for (const LayerKind kind : layers) layers_.push_back(OfLayer(shape, kind));
}

StageMemory ActivationMemory::OfStage(const StageRange& stage) const {
  const bool first = stage.begin == 0;
  const bool last = stage.end == static_cast<int64_t>(layers_.size());
  StageMemory m;
  if (first) m.forward = OfEmbedding(shape_);
  if (first)
    m.backward = OfEmbeddingBackward(shape_).With({shape_.stream(), 0});
  for (int64_t i = stage.begin; i < stage.end; ++i) {
    const StageMemory& layer = layers_[static_cast<size_t>(i)];
    Raise(m.forward, layer.forward.With({m.kept, 0}));
    // Beside the gradient that came in and what earlier layers keep.
    Raise(m.backward, layer.backward.With({m.kept + shape_.stream(), 0}));
    m.kept += layer.kept;
  }
  if (last) {
    Raise(m.forward, HeadMemory(shape_).With({m.kept + shape_.stream(), 0}));
    m.kept += shape_.stream();  // the head's gradient
  }
  return m;
}

}  // namespace lockstep
