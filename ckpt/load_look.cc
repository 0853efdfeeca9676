#include "ckpt/load_look.h"

#include <utility>

#include "ckpt/snapshot.h"
#include "parallel/thread_pool.h"

namespace lockstep {
namespace {

constexpr int kThreads = 2;

}  // namespace

LoadLook::LoadLook(const StateRegistry& registry,
                   const std::optional<MomentBound>& bound, Arrivals& arrivals)
    : arrivals_(arrivals) {
  thread_ = std::thread([this, &registry, bound] {
    ThreadPool pool(kThreads);
    result_.shared = ArrivingFingerprints(registry, pool, bound, arrivals_,
                                          result_.insanities);
  });
}

LoadLook::~LoadLook() {
  arrivals_.GiveUp();
  if (thread_.joinable()) thread_.join();
}

LookedAt LoadLook::Finish() {
  thread_.join();
  return std::move(result_);
}

}  // namespace lockstep
