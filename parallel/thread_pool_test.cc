#include "parallel/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include "determinism/float_env.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

TEST(ThreadPoolTest, CoversEveryItemOnce) {
  for (int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (int64_t n : {0, 1, 2, 7, 8, 1000}) {
      std::vector<int> visits(n, 0);
      pool.ParallelFor(n, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) ++visits[i];
      });
      EXPECT_EQ(std::count(visits.begin(), visits.end(), 1), n);
    }
  }
}

TEST(ThreadPoolTest, RangesAreContiguousAndBalanced) {
  ThreadPool pool(3);
  std::vector<int64_t> size_at_begin(10, 0);
  pool.ParallelFor(10, [&](int64_t begin, int64_t end) {
    size_at_begin[begin] = end - begin;
  });
  EXPECT_EQ(size_at_begin,
            (std::vector<int64_t>{4, 0, 0, 0, 3, 0, 0, 3, 0, 0}));
}

TEST(ThreadPoolTest, UsesEveryThread) {
  ThreadPool pool(3);
  std::vector<std::thread::id> ids(3);
  pool.ParallelFor(3, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) ids[i] = std::this_thread::get_id();
  });
  EXPECT_EQ(std::set<std::thread::id>(ids.begin(), ids.end()).size(), 3u);
  EXPECT_EQ(ids[0], std::this_thread::get_id());
}

TEST(ThreadPoolTest, GrainBoundsTheNumberOfRanges) {
  ThreadPool pool(4);
  std::atomic<int> ranges{0};
  pool.ParallelFor(
      10, [&](int64_t, int64_t) { ranges.fetch_add(1); }, /*grain=*/5);
  EXPECT_EQ(ranges.load(), 2);
  ranges = 0;
  pool.ParallelFor(
      4, [&](int64_t, int64_t) { ranges.fetch_add(1); }, /*grain=*/5);
  EXPECT_EQ(ranges.load(), 1);
}

TEST(ThreadPoolTest, NestedLoopsRunInline) {
  ThreadPool pool(3);
  std::vector<std::vector<int>> visits(6, std::vector<int>(50, 0));
  std::atomic<int> strangers{0};
  pool.ParallelFor(6, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const std::thread::id outer = std::this_thread::get_id();
      pool.ParallelFor(50, [&](int64_t inner_begin, int64_t inner_end) {
        if (std::this_thread::get_id() != outer) strangers.fetch_add(1);
        for (int64_t j = inner_begin; j < inner_end; ++j) ++visits[i][j];
      });
    }
  });
  EXPECT_EQ(strangers.load(), 0);
  for (const std::vector<int>& row : visits) {
    EXPECT_EQ(std::accumulate(row.begin(), row.end(), 0), 50);
  }
}

// N2: flush to zero holds in every range, and only there.
TEST(ThreadPoolTest, RangesRunInTheStrictFloatEnvironment) {
  for (int threads : {1, 3}) {
    ThreadPool pool(threads);
    ASSERT_FALSE(FloatEnvIsStrict());
    std::vector<int> strict(threads, 0);
    pool.ParallelFor(threads, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) strict[i] = FloatEnvIsStrict();
    });
    EXPECT_EQ(strict, std::vector<int>(threads, 1));
    EXPECT_FALSE(FloatEnvIsStrict());
  }
}

TEST(ThreadPoolTest, ManyShortLoopsAndSleepsBetween) {
  ThreadPool pool(3);
  std::vector<int64_t> sums(3, 0);
  for (int loop = 0; loop < 2000; ++loop) {
    pool.ParallelFor(3, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) sums[i] += i + 1;
    });
    if (loop % 500 == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  EXPECT_EQ(sums, (std::vector<int64_t>{2000, 4000, 6000}));
}

TEST(ThreadPoolTest, CallersFromSeveralThreadsTakeTurns) {
  ThreadPool pool(2);
  std::atomic<int64_t> total{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 3; ++caller) {
    callers.emplace_back([&] {
      for (int loop = 0; loop < 100; ++loop) {
        pool.ParallelFor(10, [&](int64_t begin, int64_t end) {
          total.fetch_add(end - begin);
        });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(total.load(), 3000);
}

}  // namespace
}  // namespace lockstep
