// SPDX-License-Identifier: LGPL-2.1-or-later
/// All engines of a process share one set of worker threads, and use no more processors than the process may.
#include <gtest/gtest.h>

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <latch>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fixture.h"
#include "host/processors.h"
#include "host/thread_pool.h"
#include "images.h"

namespace ccl::test {

namespace {

namespace fs = std::filesystem;
using host::ThreadPool;

/// The names of this process's worker threads.
std::multiset<std::string> worker_names() {
  std::multiset<std::string> names;
  std::error_code error;  // a thread may end while the folder is read
  for (const fs::directory_entry& task : fs::directory_iterator("/proc/self/task", error)) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm") >> std::ws, name);
    if (name.starts_with("cudaccl-")) {
      names.insert(name);
    }
  }
  return names;
}

/// The kernel lists a thread for a moment after it was joined.
testing::AssertionResult workers_end() {
  constexpr std::chrono::seconds kLongest{20};
  const auto start = std::chrono::steady_clock::now();
  while (!worker_names().empty()) {
    if (std::chrono::steady_clock::now() - start > kLongest) {
      return testing::AssertionFailure() << worker_names().size() << " workers are left";
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return testing::AssertionSuccess();
}

size_t count_threads() {
  size_t n = 0;
  for (const fs::directory_entry& task : fs::directory_iterator("/proc/self/task")) {
    n += task.is_directory() ? 1 : 0;
  }
  return n;
}

std::unique_ptr<Engine> configured_engine(uint32_t width, uint32_t height, uint32_t threads) {
  std::unique_ptr<Engine> engine = make_host_engine();
  Config config;
  config.width = width;
  config.height = height;
  config.max_components = 1;
  config.threads = threads;
  const Status status = engine->configure(config);
  EXPECT_TRUE(status.ok()) << status.message();
  return engine;
}

class ThreadPoolTest : public testing::Test {
 protected:
  // A sanitizer starts a thread of its own with the first one.
  static void SetUpTestSuite() {
    std::thread([] {}).join();
  }
  void SetUp() override { ASSERT_TRUE(workers_end()); }
  void TearDown() override { EXPECT_TRUE(workers_end()) << "the last engine ends the workers"; }
};

}  // namespace

TEST_F(ThreadPoolTest, ManyEnginesShareTheWorkers) {
  constexpr uint32_t kEngines = 64;
  const size_t n_before = count_threads();
  std::vector<std::unique_ptr<Engine>> engines;
  for (uint32_t i = 0; i < kEngines; ++i) {
    engines.push_back(configured_engine(1024, 768, 0));
  }
  const uint32_t n_spare = host::count_processors() - 1;
  EXPECT_LE(count_threads(), n_before + n_spare);
  EXPECT_EQ(worker_names().size(), std::min(n_spare, kEngines * (host::choose_thread_count(1024, 768) - 1)));
}

TEST_F(ThreadPoolTest, MoreThreadsThanProcessorsGrowTheWorkers) {
  const uint32_t n_threads = host::count_processors() + 3;
  const std::unique_ptr<Engine> small = configured_engine(200, 100, 2);
  const std::unique_ptr<Engine> large = configured_engine(200, 100, n_threads);
  std::multiset<std::string> names;
  for (uint32_t i = 0; i + 1 < n_threads; ++i) {
    names.insert("cudaccl-" + std::to_string(i));
  }
  EXPECT_EQ(worker_names(), names);
  EXPECT_EQ(large->description(), "CPU, " + std::to_string(n_threads) + " threads");
  EXPECT_EQ(small->description(), "CPU, 2 threads");
}

TEST_F(ThreadPoolTest, SmallFramesUseOneThread) {
  const size_t n_before = count_threads();
  const std::unique_ptr<Engine> engine = configured_engine(640, 480, 0);
  EXPECT_LE(count_threads(), n_before);
  EXPECT_EQ(engine->description(), "CPU, 1 thread");
}

TEST_F(ThreadPoolTest, TheNumberOfThreadsGrowsWithTheFrame) {
  const uint32_t n_processors = host::count_processors();
  EXPECT_EQ(host::choose_thread_count(1, 1), 1u);
  EXPECT_EQ(host::choose_thread_count(800, 600), 1u);
  EXPECT_EQ(host::choose_thread_count(1024, 768), std::min(n_processors, 2u));
  EXPECT_EQ(host::choose_thread_count(3840, 2160), std::min(n_processors, 21u));
  EXPECT_EQ(host::choose_thread_count(32000, 2000), std::min(n_processors, 162u));
  EXPECT_EQ(host::choose_thread_count(kMaxDimension, kMaxDimension), std::min(n_processors, kMaxThreads));
}

/// A frame with work for one thread more.
TEST_F(ThreadPoolTest, LargeFramesUseAllProcessors) {
  const uint32_t n_processors = host::count_processors();
  const std::unique_ptr<Engine> engine = configured_engine(4096, 96 * (n_processors + 1), 0);
  EXPECT_EQ(worker_names().size(), n_processors - 1);
}

/// Engines on threads of their own, which share the workers, give what one thread gives.
TEST_F(ThreadPoolTest, EnginesOnManyThreadsGiveExactResults) {
  constexpr uint32_t kEngines = 64;
  constexpr uint32_t kThreadsPerEngine = 4;
  const Image image = noise(417, 260, 2, 50, 1);
  FrameRunner reference(make_host_engine());
  reference.config.output = Output::kColorized;
  reference.config.threads = 1;
  const Outcome want = reference.run(image, {});
  const std::unique_ptr<Engine> first = configured_engine(417, 260, kThreadsPerEngine);  // workers stay
  const size_t n_most = std::max(kThreadsPerEngine, host::count_processors()) - 1;

  std::latch begin(kEngines + 1);
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < kEngines; ++i) {
    threads.emplace_back([&, i] {
      begin.arrive_and_wait();
      FrameRunner runner(make_host_engine());
      runner.config.output = Output::kColorized;
      runner.config.threads = i % kThreadsPerEngine + 1;
      for (int frame = 0; frame < 6; ++frame) {
        EXPECT_TRUE(same_bytes(runner.run(image, {}), want));
      }
    });
  }
  begin.arrive_and_wait();
  EXPECT_LE(worker_names().size(), n_most);
  for (std::thread& thread : threads) {
    thread.join();
    EXPECT_LE(worker_names().size(), n_most);
  }
}

TEST_F(ThreadPoolTest, EveryIndexIsVisitedOnce) {
  constexpr uint32_t kPools = 16;
  constexpr uint32_t kCount = 37;
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < kPools; ++i) {
    threads.emplace_back([i] {
      ThreadPool pool(i % 5 + 1);
      std::vector<uint32_t> visits(kCount);
      for (uint32_t round = 1; round <= 500; ++round) {
        pool.parallel_for(kCount, [&](uint32_t index) { ++visits[index]; });
        ASSERT_EQ(visits, std::vector<uint32_t>(kCount, round));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

/// A loop advances while every worker is busy in another one.
TEST_F(ThreadPoolTest, LoopsNeverWaitForAWorker) {
  const uint32_t n_threads = std::max(2u, host::count_processors());
  ThreadPool busy_pool(n_threads);
  std::latch is_busy(n_threads + 1);
  std::latch done(1);
  std::thread busy_thread([&] {
    busy_pool.parallel_for(n_threads, [&](uint32_t) {
      is_busy.count_down();
      done.wait();
    });
  });
  is_busy.arrive_and_wait();
  ThreadPool pool(n_threads);
  uint32_t n_visits = 0;
  pool.parallel_for(100, [&](uint32_t) { ++n_visits; });  // no data race: no worker is free
  EXPECT_EQ(n_visits, 100u);
  done.count_down();
  busy_thread.join();
}

namespace {

bool runs_a_frame(Engine* engine, uint32_t width, uint32_t height) {
  const Image image = plain("lit", width, height, 255);
  FrameJob job;
  job.input = {image.pixels(), image.stride};
  FrameResult result;
  return engine->push(job).ok() && engine->pop(&result).ok() && result.counts.n_labels == 1;
}

}  // namespace

/// A child has none of the threads of its parent.
TEST_F(ThreadPoolTest, AChildOfForkUsesAndFreesEnginesOfItsParent) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer ends a child of fork() that begins threads";
#endif
  std::unique_ptr<Engine> engine = configured_engine(200, 100, 3);
  std::unique_ptr<Engine> other = configured_engine(200, 100, 2);
  ASSERT_TRUE(runs_a_frame(engine.get(), 200, 100));
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);  // ends a child that hangs
    bool is_good = runs_a_frame(engine.get(), 200, 100) && worker_names().empty();
    other.reset();
    const Config config{.width = 300, .height = 100, .max_components = 1, .threads = 3};
    is_good = is_good && engine->configure(config).ok() && worker_names().size() >= 2;
    is_good = is_good && runs_a_frame(engine.get(), 300, 100);
    engine.reset();
    is_good = is_good && workers_end();
    const std::unique_ptr<Engine> own = configured_engine(200, 100, 2);
    is_good = is_good && !worker_names().empty() && runs_a_frame(own.get(), 200, 100);
    _exit(is_good ? EXIT_SUCCESS : EXIT_FAILURE);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS) << "status " << status;
  EXPECT_TRUE(runs_a_frame(engine.get(), 200, 100));
}

TEST_F(ThreadPoolTest, AnAffinityMaskOfOneProcessorGivesOneThread) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    CPU_SET(static_cast<size_t>(sched_getcpu()), &mask);
    const bool is_set = sched_setaffinity(0, sizeof(mask), &mask) == 0;
    const std::unique_ptr<Engine> engine = configured_engine(3840, 2160, 0);
    const bool is_good = is_set && engine->description() == "CPU, 1 thread" && worker_names().empty();
    _exit(is_good ? EXIT_SUCCESS : EXIT_FAILURE);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS);
}

namespace {

/// A folder with the files that the kernel shows to a process about its cgroups.
class CgroupTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "cudaccl-cgroup-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    const fs::path file = root_ + path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text << '\n';
  }
  void write_v2(const std::string& cgroup, const std::string& mount_root = "/") const {
    write("/proc/self/cgroup", "0::" + cgroup);
    write("/proc/self/mountinfo", "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n29 22 0:26 " + mount_root +
                                      " /sys/fs/cgroup rw,nosuid shared:9 master:3 - cgroup2 cgroup2 rw");
  }
  uint32_t n_processors() const { return host::cgroup_processors(root_); }

  std::string root_;
};

}  // namespace

TEST_F(CgroupTest, NoCgroupIsNoLimit) {
  EXPECT_EQ(n_processors(), host::kUnlimitedProcessors);
  write_v2("/");
  EXPECT_EQ(n_processors(), host::kUnlimitedProcessors);
  write("/sys/fs/cgroup/cpu.max", "max 100000");
  EXPECT_EQ(n_processors(), host::kUnlimitedProcessors);
}

TEST_F(CgroupTest, PartsOfAProcessorAreRoundedUp) {
  write_v2("/");
  for (const auto& [text, n] : {std::pair{"200000 100000", 2u},
                                {"200001 100000", 3u},
                                {"1000 100000", 1u},
                                {"150000 50000", 3u},
                                {"", host::kUnlimitedProcessors},
                                {"0 0", host::kUnlimitedProcessors}}) {
    write("/sys/fs/cgroup/cpu.max", text);
    EXPECT_EQ(n_processors(), n) << text;
  }
}

TEST_F(CgroupTest, TheLeastLimitOfAllAncestorsApplies) {
  write_v2("/user.slice/camera.service");
  write("/sys/fs/cgroup/user.slice/camera.service/cpu.max", "800000 100000");
  EXPECT_EQ(n_processors(), 8u);
  write("/sys/fs/cgroup/user.slice/cpu.max", "300000 100000");
  EXPECT_EQ(n_processors(), 3u);
  write("/sys/fs/cgroup/user.slice/camera.service/cpu.max", "200000 100000");
  EXPECT_EQ(n_processors(), 2u);
  write("/sys/fs/cgroup/other.slice/cpu.max", "100000 100000");
  EXPECT_EQ(n_processors(), 2u);
}

TEST_F(CgroupTest, AContainerSeesItsPartOfTheHierarchy) {
  write_v2("/docker/1f/worker", "/docker/1f");
  write("/sys/fs/cgroup/cpu.max", "400000 100000");
  EXPECT_EQ(n_processors(), 4u);
  write("/sys/fs/cgroup/worker/cpu.max", "200000 100000");
  EXPECT_EQ(n_processors(), 2u);
  write_v2("/../other", "/");  // moved out of the container's cgroup namespace
  EXPECT_EQ(n_processors(), 4u);
}

TEST_F(CgroupTest, Version1) {
  write("/proc/self/cgroup", "5:cpuset:/elsewhere\n4:cpu,cpuacct:/docker/1f\n0::/");
  write("/proc/self/mountinfo",
        "31 22 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
        "32 31 0:29 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
        "33 31 0:30 / /sys/fs/cgroup/cpu\\040time rw - cgroup cgroup rw,cpu,cpuacct");
  const std::string folder = "/sys/fs/cgroup/cpu time";
  write(folder + "/docker/1f/cpu.cfs_quota_us", "-1");
  write(folder + "/docker/1f/cpu.cfs_period_us", "100000");
  EXPECT_EQ(n_processors(), host::kUnlimitedProcessors);
  write(folder + "/docker/1f/cpu.cfs_quota_us", "250000");
  EXPECT_EQ(n_processors(), 3u);
  write(folder + "/docker/cpu.cfs_quota_us", "100000");
  write(folder + "/docker/cpu.cfs_period_us", "100000");
  EXPECT_EQ(n_processors(), 1u);
}

}  // namespace ccl::test
