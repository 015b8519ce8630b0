// SPDX-License-Identifier: LGPL-2.1-or-later
/// What callers rely on apart from the order of frames: the state after a failure, settings that belong to
/// their frame, threads, several engines, and what never changes from one release to the next.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "compare.h"
#include "fixture.h"
#include "images.h"
#include "oracle.h"

namespace ccl::test {

namespace {

class ContractTest : public testing::Test {
 protected:
  ContractTest() : engine_(new_engine()) {
    config_.width = 70;
    config_.height = 50;
    config_.slots = 3;
  }

  static std::unique_ptr<Engine> new_engine() {
    std::unique_ptr<Engine> engine;
    const Status status = make_engine(&engine);
    EXPECT_TRUE(status.ok()) << status.message();
    return engine;
  }

  static FrameJob job_for(const Image& image, const Settings& settings = {}) {
    FrameJob job;
    job.input = {image.pixels(), image.stride};
    job.settings = settings;
    return job;
  }

  /// Whether the oldest frame in flight is this image with these settings.
  static testing::AssertionResult pops(Engine& engine, const Image& image, const Settings& settings = {}) {
    FrameResult result;
    if (const Status status = engine.pop(&result); !status.ok()) {
      return testing::AssertionFailure() << status.message();
    }
    const ExpectedFrame frame = expect_labels(image, settings);
    return same_records(result.components, expect_records(frame, settings, 1u << 20)) << image.name;
  }

  static StatusCode pop_code(Engine& engine) {
    FrameResult result;
    return engine.pop(&result).code();
  }

  std::unique_ptr<Engine> engine_;
  Config config_;
  const Image image_ = noise(70, 50, 1, 40, 1);
  const Image other_ = noise(70, 50, 2, 40, 2);
};

/// A caller that misses the failure must not get frames of the previous configuration.
TEST_F(ContractTest, FailedConfigureLeavesNothingBehind) {
  Config too_wide = config_;
  too_wide.width = kMaxDimension + 1;
  Config wrong_labeler = config_;
  wrong_labeler.algorithm = static_cast<Algorithm>(4711);
  for (const Config& wrong : {too_wide, wrong_labeler}) {
    ASSERT_TRUE(engine_->configure(config_).ok());
    ASSERT_TRUE(engine_->push(job_for(image_)).ok());
    EXPECT_FALSE(engine_->configure(wrong).ok());
    EXPECT_EQ(pop_code(*engine_), StatusCode::kNeedMoreData);
    EXPECT_EQ(engine_->push(job_for(image_)).code(), StatusCode::kInvalidArgument);
    ASSERT_TRUE(engine_->configure(config_).ok());
    ASSERT_TRUE(engine_->push(job_for(other_)).ok());
    EXPECT_TRUE(pops(*engine_, other_));
  }
}

TEST_F(ContractTest, RefusedFramesLeaveOthersInFlight) {
  ASSERT_TRUE(engine_->configure(config_).ok());
  ASSERT_TRUE(engine_->push(job_for(image_)).ok());
  FrameJob without_pixels = job_for(image_);
  without_pixels.input.pixels = nullptr;
  EXPECT_EQ(engine_->push(without_pixels).code(), StatusCode::kInvalidArgument);
  ASSERT_TRUE(engine_->push(job_for(other_)).ok());
  EXPECT_TRUE(pops(*engine_, image_));
  EXPECT_TRUE(pops(*engine_, other_));
  EXPECT_EQ(pop_code(*engine_), StatusCode::kNeedMoreData);
}

/// Only a device engine reaches the GPU's memory; the host engine returns an error instead of reading there.
TEST_F(ContractTest, DeviceMemoryIsForDeviceEngines) {
  const std::unique_ptr<Engine> host = make_host_engine();
  EXPECT_EQ(host->device(), nullptr);
  config_.output = Output::kMask;
  ASSERT_TRUE(host->configure(config_).ok());
  std::vector<uint8_t> pixels(size_t{config_.width} * config_.height);
  FrameJob from_device = job_for(image_);
  from_device.output = {pixels.data(), config_.width};
  FrameJob to_device = from_device;
  from_device.input.memory = Memory::kDevice;
  to_device.output.memory = Memory::kDevice;
  for (const FrameJob& job : {from_device, to_device}) {
    const Status status = host->push(job);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_NE(status.message().find("GPU"), std::string::npos) << status.message();
  }
  to_device.output.memory = Memory::kHost;
  EXPECT_TRUE(host->push(to_device).ok());
}

TEST_F(ContractTest, FailuresReportWhatIsWrong) {
  EXPECT_FALSE(engine_->push(job_for(image_)).message().empty()) << "not configured";
  FrameResult result;
  EXPECT_FALSE(engine_->pop(&result).message().empty()) << "no frame";
  Config config = config_;
  config.width = 40000;
  EXPECT_NE(engine_->configure(config).message().find("40000"), std::string::npos);
  config = config_;
  config.max_components = 0;
  EXPECT_NE(engine_->configure(config).message().find("max_components"), std::string::npos);
  config = config_;
  config.slots = 0;
  EXPECT_NE(engine_->configure(config).message().find("slots"), std::string::npos);
  config = config_;
  config.algorithm = static_cast<Algorithm>(4711);
  const Status unknown = engine_->configure(config);
  EXPECT_EQ(unknown.code(), StatusCode::kUnsupported);
  for (const AlgorithmInfo& labeler : labelers()) {
    EXPECT_NE(unknown.message().find(labeler.nick), std::string::npos) << unknown.message();
  }
  const Status good = engine_->configure(config_);
  EXPECT_TRUE(good.ok());
  EXPECT_TRUE(good.message().empty());
  FrameJob narrow = job_for(image_);
  narrow.input.stride = 69;
  EXPECT_NE(engine_->push(narrow).message().find("69"), std::string::npos);
}

/// Settings are read when a frame is pushed, not when it is popped.
TEST_F(ContractTest, SettingsBelongToTheirFrame) {
  ASSERT_TRUE(engine_->configure(config_).ok());
  const Image grey = grey_noise(70, 50, 3);
  std::array<Settings, 3> settings;
  settings[0].connectivity = Connectivity::k4;
  settings[0].rule.threshold = 100;
  settings[1].rule.foreground = Foreground::kValues;
  settings[1].features = kFeatureEuler;
  settings[2].rule.threshold = 150;
  settings[2].rule.invert = true;
  settings[2].filter.min_area = 3;
  for (uint32_t i = 0; i < 4; ++i) {
    for (const Settings& its : settings) {
      ASSERT_TRUE(engine_->push(job_for(grey, its)).ok());
    }
    for (const Settings& its : settings) {
      ASSERT_TRUE(pops(*engine_, grey, its));
    }
  }
}

TEST_F(ContractTest, EitherMapAlone) {
  ASSERT_TRUE(engine_->configure(config_).ok());
  const ExpectedFrame want = expect_labels(image_, {});
  std::vector<uint32_t> root_map(70 * 50, 77);
  std::vector<uint32_t> labels(70 * 50, 77);
  FrameJob job = job_for(image_);
  job.root_map = root_map.data();
  ASSERT_TRUE(engine_->push(job).ok());
  ASSERT_TRUE(pops(*engine_, image_));
  EXPECT_EQ(root_map, want.root_map);
  job = job_for(image_);
  job.labels = labels.data();
  ASSERT_TRUE(engine_->push(job).ok());
  ASSERT_TRUE(pops(*engine_, image_));
  EXPECT_EQ(labels, want.labels);
}

TEST_F(ContractTest, InputStaysAsItIs) {
  Image image = grey_noise(70, 50, 4);
  const std::vector<uint8_t> before = image.memory;
  FrameRunner runner;
  for (const Output output : {Output::kNone, Output::kColorized, Output::kOverlay}) {
    runner.config.output = output;
    runner.run(image, {.connectivity = Connectivity::k4, .rule = {.threshold = 99}});
    EXPECT_EQ(image.memory, before);
  }
}

TEST_F(ContractTest, TableMayBeLongerThanAnyFrameNeeds) {
  config_.max_components = 0xffffffff;
  ASSERT_TRUE(engine_->configure(config_).ok());
  ASSERT_TRUE(engine_->push(job_for(image_)).ok());
  EXPECT_TRUE(pops(*engine_, image_));
}

TEST_F(ContractTest, StagesTakeTime) {
  ASSERT_TRUE(engine_->configure(config_).ok());
  ASSERT_TRUE(engine_->push(job_for(image_)).ok());
  FrameResult result;
  ASSERT_TRUE(engine_->pop(&result).ok());
  const StageTimes& times = result.times;
  float sum = 0;
  for (const float time :
       {times.upload, times.label, times.number, times.measure, times.paint, times.download}) {
    EXPECT_TRUE(std::isfinite(time));
    EXPECT_GE(time, 0);
    sum += time;
  }
  EXPECT_GT(sum, 0);
}

TEST_F(ContractTest, EnginesDoNotTouchEachOther) {
  const std::unique_ptr<Engine> second = new_engine();
  Config larger = config_;
  larger.width = 131;
  larger.height = 97;
  const Image large = noise(131, 97, 1, 45, 5);
  ASSERT_TRUE(engine_->configure(config_).ok());
  ASSERT_TRUE(second->configure(larger).ok());
  for (uint32_t i = 0; i < 10; ++i) {
    ASSERT_TRUE(engine_->push(job_for(image_)).ok());
    ASSERT_TRUE(second->push(job_for(large)).ok());
    ASSERT_TRUE(engine_->push(job_for(other_)).ok());
    ASSERT_TRUE(pops(*second, large));
    ASSERT_TRUE(pops(*engine_, image_));
    ASSERT_TRUE(pops(*engine_, other_));
  }
}

/// One thread at a time, but not always the same: pipelines do so.
TEST_F(ContractTest, ThreadsTakeTurns) {
  const auto in_a_thread = [](auto act) { std::thread(act).join(); };
  in_a_thread([&] { EXPECT_TRUE(engine_->configure(config_).ok()); });
  for (uint32_t i = 0; i < 5; ++i) {
    in_a_thread([&] { EXPECT_TRUE(engine_->push(job_for(image_)).ok()); });
    in_a_thread([&] { EXPECT_TRUE(pops(*engine_, image_)); });
  }
  in_a_thread([&] { engine_->flush(); });
  in_a_thread([&] { engine_.reset(); });
}

TEST_F(ContractTest, EnginesRunBesideEachOther) {
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < 3; ++i) {
    threads.emplace_back([this, i] {
      const std::unique_ptr<Engine> engine = new_engine();
      const Image image = noise(70, 50, 1, 30 + 10 * i, i);
      EXPECT_TRUE(engine->configure(config_).ok());
      for (uint32_t frame = 0; frame < 50; ++frame) {
        EXPECT_TRUE(engine->push(job_for(image)).ok());
        EXPECT_TRUE(pops(*engine, image)) << "thread " << i << ", frame " << frame;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

TEST(DeviceTest, MissingDevicesAreAStatus) {
  std::unique_ptr<Engine> engine;
  DeviceOptions options;
  options.device_id = 9999;
  const Status status = make_device_engine(options, &engine);
  EXPECT_EQ(status.code(), has_device_engine() ? StatusCode::kNoDevice : StatusCode::kUnsupported);
  EXPECT_FALSE(status.message().empty());
  EXPECT_EQ(engine, nullptr);
}

/// Their names and values are compared with docs/algorithms.md by tests/validate/test_labelers.py.
TEST(AlgorithmsTest, RowsAreComplete) {
  for (const AlgorithmInfo& info : algorithms()) {
    EXPECT_FALSE(std::string(info.source).empty()) << info.nick;
    EXPECT_TRUE(info.runs_on(Backend::kCpu) || info.runs_on(Backend::kCuda) || !has_device_engine())
        << info.nick;
  }
  EXPECT_EQ(algorithms().front().algorithm, Algorithm::kAuto);
}

/// At most one factory a backend: with two, one of them would never be called.
TEST(AlgorithmsTest, FactoriesAreUnique) {
  for (const AlgorithmInfo& info : algorithms()) {
    EXPECT_FALSE(info.host.make_labeler != nullptr && info.host.make_pipeline != nullptr) << info.nick;
    EXPECT_FALSE(info.device.make_labeler != nullptr && info.device.make_pipeline != nullptr) << info.nick;
    for (const AlgorithmInfo& other : algorithms()) {
      if (&other == &info || other.algorithm == Algorithm::kAuto || info.algorithm == Algorithm::kAuto) {
        continue;
      }
      EXPECT_TRUE(info.host.make_labeler == nullptr || info.host.make_labeler != other.host.make_labeler)
          << info.nick << " and " << other.nick << " are made by one function";
      EXPECT_TRUE(info.device.make_labeler == nullptr ||
                  info.device.make_labeler != other.device.make_labeler)
          << info.nick << " and " << other.nick << " are made by one function";
    }
  }
}

TEST(AlgorithmsTest, AutoExistsOnEveryBackend) {
  for (const Backend backend : {Backend::kCpu, Backend::kCuda}) {
    if (backend == Backend::kCuda && !has_device_engine()) {
      continue;
    }
    const AlgorithmInfo* resolved = nullptr;
    ASSERT_TRUE(resolve_algorithm(Algorithm::kAuto, backend, &resolved).ok());
    EXPECT_EQ(resolved->algorithm, Algorithm::kRuns);
    const AlgorithmInfo* again = nullptr;
    EXPECT_TRUE(resolve_algorithm(resolved->algorithm, backend, &again).ok()) << backend_name(backend);
    EXPECT_EQ(again, resolved);
  }
}

}  // namespace

}  // namespace ccl::test
