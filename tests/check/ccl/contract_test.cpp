// SPDX-License-Identifier: LGPL-2.1-or-later
/// What callers rely on: the order of frames, slots, refusals and the state after them, other configurations,
/// settings that belong to their frame, threads, several engines, and what never changes from one release to
/// the next.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
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
  static std::unique_ptr<Engine> new_engine() {
    std::unique_ptr<Engine> engine;
    const Status status = make_engine(&engine);
    EXPECT_TRUE(status.ok()) << status.message();
    return engine;
  }

  static Config sized(uint32_t width, uint32_t height, uint32_t slots = 1) {
    Config config;
    config.width = width;
    config.height = height;
    config.slots = slots;
    return config;
  }

  /// A frame with `n` components, to know it by.
  static Image dots(uint32_t n, uint32_t width = 70, uint32_t height = 50) {
    Image image = plain(std::to_string(n) + " dots", width, height);
    for (uint32_t i = 0; i < n; ++i) {
      image.at(i % (width / 2) * 2, i / (width / 2) * 2) = 255;
    }
    return image;
  }

  static FrameJob job_for(const Image& image, const Settings& settings = {}) {
    FrameJob job;
    job.input = {image.pixels(), image.stride};
    job.settings = settings;
    return job;
  }

  Status push(const Image& image) { return engine_->push(job_for(image)); }

  /// Whether the oldest frame in flight is this image with these settings.
  static testing::AssertionResult pops(Engine& engine, const Image& image, const Settings& settings = {}) {
    FrameResult result;
    if (const Status status = engine.pop(&result); !status.ok()) {
      return testing::AssertionFailure() << status.message();
    }
    if (result.overflow) {
      return testing::AssertionFailure() << "the table of " << image.name << " is too short";
    }
    const ExpectedFrame frame = expect_labels(image, settings);
    return same_records(result.components, expect_records(frame, settings, 1u << 20)) << image.name;
  }
  testing::AssertionResult pops(const Image& image) { return pops(*engine_, image); }

  bool is_empty() {
    FrameResult result;
    const Status status = engine_->pop(&result);
    return status.code() == StatusCode::kNeedMoreData && !status.message().empty();
  }

  std::unique_ptr<Engine> engine_ = new_engine();
  Config config_ = sized(70, 50, 3);
  const Image image_ = noise(70, 50, 1, 40, 1);
  const Image other_ = noise(70, 50, 2, 40, 2);
};

TEST_F(ContractTest, SaysWhatItIs) {
  EXPECT_EQ(engine_->backend(), backend());
  EXPECT_FALSE(engine_->description().empty());
  EXPECT_EQ(make_host_engine()->backend(), Backend::kCpu);
}

/* Frames in flight */

TEST_F(ContractTest, FramesLeaveInTheOrderTheyCame) {
  ASSERT_TRUE(engine_->configure(config_).ok());
  std::vector<Image> images;
  for (uint32_t i = 0; i < 40; ++i) {
    images.push_back(dots(i));
  }
  for (uint32_t i = 0; i < 43; ++i) {
    if (i >= 3) {
      ASSERT_TRUE(pops(images[i - 3]));
    }
    if (i < 40) {
      ASSERT_TRUE(push(images[i]).ok());
    }
  }
  EXPECT_TRUE(is_empty());
}

/// Every slot has a table of its own: pushing all frames before popping any mixes none of them up.
TEST_F(ContractTest, SlotsKeepTheirRecords) {
  ASSERT_TRUE(engine_->configure(config_).ok());
  const std::array images = {dots(5), dots(7), dots(9)};
  for (const Image& image : images) {
    ASSERT_TRUE(push(image).ok());
  }
  std::array<FrameResult, 3> results;
  for (FrameResult& result : results) {
    ASSERT_TRUE(engine_->pop(&result).ok());
  }
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(
        same_records(results[i].components, expect_records(expect_labels(images[i], {}), {}, 1u << 20)));
  }
}

TEST_F(ContractTest, TooManyPushes) {
  ASSERT_TRUE(engine_->configure(config_).ok());
  for (uint32_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(push(image_).ok());
  }
  EXPECT_EQ(push(other_).code(), StatusCode::kInvalidArgument);
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(pops(image_));
  }
  EXPECT_TRUE(is_empty());
  EXPECT_TRUE(push(other_).ok());
}

TEST_F(ContractTest, FlushDiscardsFramesInFlight) {
  ASSERT_TRUE(engine_->configure(config_).ok());
  for (uint32_t n = 0; n <= 3; ++n) {
    for (uint32_t i = 0; i < n; ++i) {
      ASSERT_TRUE(push(image_).ok());
    }
    engine_->flush();
    EXPECT_TRUE(is_empty());
    ASSERT_TRUE(push(other_).ok());
    EXPECT_TRUE(pops(other_));
  }
}

TEST_F(ContractTest, ConfigureDiscardsFramesInFlight) {
  ASSERT_TRUE(engine_->configure(config_).ok());
  ASSERT_TRUE(push(image_).ok());
  ASSERT_TRUE(engine_->configure(sized(20, 10)).ok());
  EXPECT_TRUE(is_empty());
  const Image image = dots(6, 20, 10);
  ASSERT_TRUE(push(image).ok());
  EXPECT_EQ(push(image).code(), StatusCode::kInvalidArgument) << "there is one slot now";
  EXPECT_TRUE(pops(image));
}

/// The ring of slots starts from the first: an engine that continued at the fourth would leave its memory.
TEST_F(ContractTest, FewerSlotsThanBefore) {
  ASSERT_TRUE(engine_->configure(sized(70, 50, 4)).ok());
  for (uint32_t n = 1; n <= 3; ++n) {
    ASSERT_TRUE(push(image_).ok());
    ASSERT_TRUE(pops(image_));
  }
  ASSERT_TRUE(engine_->configure(sized(70, 50, 1)).ok());
  ASSERT_TRUE(push(other_).ok());
  EXPECT_TRUE(pops(other_));
}

TEST_F(ContractTest, ManyConfigurations) {
  const std::vector<AlgorithmInfo> all = labelers();
  for (uint32_t i = 0; i < 100; ++i) {
    const uint32_t width = 2 + i * 37 % 301;
    const uint32_t height = 2 + i * 53 % 199;
    Config config = sized(width, height, 1 + i % 4);
    config.algorithm = all[i % all.size()].algorithm;
    config.max_components = 1 + i;
    ASSERT_TRUE(engine_->configure(config).ok());
    const Image image = noise(width, height, 1, 50, i);
    ASSERT_TRUE(push(image).ok());
    FrameResult result;
    ASSERT_TRUE(engine_->pop(&result).ok());
    ASSERT_EQ(result.counts.n_labels, expect_labels(image, {}).n_labels) << i;
  }
}

/* Refusals */

TEST_F(ContractTest, NeedsToBeConfigured) {
  const Status status = push(image_);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_FALSE(status.message().empty());
  EXPECT_TRUE(is_empty());
  engine_->flush();
  EXPECT_TRUE(engine_->configure(config_).ok());
  EXPECT_TRUE(push(image_).ok());
  EXPECT_TRUE(pops(image_));
}

TEST_F(ContractTest, RefusesConfigurations) {
  const std::string too_long = std::to_string(kMaxDimension + 1);
  std::pair<Config, std::string> wrong[] = {{sized(0, 5), "0"},
                                            {sized(5, 0), "0"},
                                            {sized(kMaxDimension + 1, 5), too_long},
                                            {sized(5, kMaxDimension + 1), too_long},
                                            {sized(5, 5, 0), "slots"},
                                            {sized(5, 5), "max_components"}};
  wrong[5].first.max_components = 0;
  for (const auto& [config, name] : wrong) {
    const Status status = engine_->configure(config);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_NE(status.message().find(name), std::string::npos) << status.message();
  }
  const Status good = engine_->configure(config_);
  EXPECT_TRUE(good.ok());
  EXPECT_TRUE(good.message().empty());
}

TEST_F(ContractTest, NamesTheLabelersItHas) {
  std::vector<Algorithm> missing = {static_cast<Algorithm>(4711)};
  for (const AlgorithmInfo& info : algorithms()) {
    if (!info.runs_on(backend())) {
      missing.push_back(info.algorithm);
    }
  }
  for (const Algorithm algorithm : missing) {
    config_.algorithm = algorithm;
    const Status status = engine_->configure(config_);
    EXPECT_EQ(status.code(), StatusCode::kUnsupported);
    for (const AlgorithmInfo& other : labelers()) {
      EXPECT_NE(status.message().find(other.nick), std::string::npos) << status.message();
    }
  }
}

/// A caller that misses the failure must not get frames of the previous configuration.
TEST_F(ContractTest, FailedConfigureLeavesNothingBehind) {
  Config too_wide = config_;
  too_wide.width = kMaxDimension + 1;
  Config wrong_labeler = config_;
  wrong_labeler.algorithm = static_cast<Algorithm>(4711);
  for (const Config& wrong : {too_wide, wrong_labeler}) {
    ASSERT_TRUE(engine_->configure(config_).ok());
    ASSERT_TRUE(push(image_).ok());
    EXPECT_FALSE(engine_->configure(wrong).ok());
    EXPECT_TRUE(is_empty());
    EXPECT_EQ(push(image_).code(), StatusCode::kInvalidArgument);
    ASSERT_TRUE(engine_->configure(config_).ok());
    ASSERT_TRUE(push(other_).ok());
    EXPECT_TRUE(pops(other_));
  }
}

/// They leave others in flight.
TEST_F(ContractTest, RefusesFrames) {
  std::vector<uint8_t> pixels(70 * 50 * 4);
  for (const Output output :
       {Output::kColorized, Output::kOverlay, Output::kLabels, Output::kMask, Output::kDistance}) {
    config_.output = output;
    ASSERT_TRUE(engine_->configure(config_).ok());
    const size_t row = 70 * bytes_per_pixel(output);
    FrameJob good = job_for(image_);
    good.output = {pixels.data(), row};
    FrameJob next = job_for(other_);
    next.output = good.output;
    constexpr size_t kNegative = ~size_t{63};  // what a caller means who casts -64
    FrameJob jobs[] = {good, good, good, good, good, good, good, good, good, good};
    jobs[0].input.pixels = nullptr;
    jobs[1].input.stride = 69;
    jobs[2].output.pixels = nullptr;
    jobs[3].output.stride = row - 1;
    jobs[4].input.source = {.pixels = image_.pixels(), .stride = 70, .step = 5};
    jobs[5].input.source = {.pixels = image_.pixels(), .stride = 69, .step = 1};
    jobs[6].input.stride = kNegative;
    jobs[7].output.stride = kNegative;
    jobs[8].input.source = {.pixels = image_.pixels(), .stride = kNegative, .step = 1};
    jobs[9].input.chroma = {.u = image_.pixels(), .v = image_.pixels(), .stride = kNegative};
    EXPECT_NE(engine_->push(jobs[1]).message().find("69"), std::string::npos);
    EXPECT_TRUE(engine_->push(good).ok());
    for (const FrameJob& job : jobs) {
      EXPECT_EQ(engine_->push(job).code(), StatusCode::kInvalidArgument);
    }
    EXPECT_TRUE(engine_->push(next).ok());
    EXPECT_TRUE(pops(image_));
    EXPECT_TRUE(pops(other_));
    EXPECT_TRUE(is_empty()) << "a refused frame is in flight";
  }
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

/* What else belongs to a frame */

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
  ASSERT_TRUE(pops(image_));
  EXPECT_EQ(root_map, want.root_map);
  job = job_for(image_);
  job.labels = labels.data();
  ASSERT_TRUE(engine_->push(job).ok());
  ASSERT_TRUE(pops(image_));
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

TEST_F(ContractTest, TableMayBeAsLongAsTheFrameNeedsOrLonger) {
  for (const uint32_t length : {expect_labels(image_, {}).n_labels, 0xffffffffu}) {
    config_.max_components = length;
    ASSERT_TRUE(engine_->configure(config_).ok());
    ASSERT_TRUE(push(image_).ok());
    EXPECT_TRUE(pops(image_));
  }
}

TEST_F(ContractTest, StagesTakeTime) {
  ASSERT_TRUE(engine_->configure(config_).ok());
  ASSERT_TRUE(push(image_).ok());
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

/* Engines and threads */

TEST_F(ContractTest, EnginesDoNotTouchEachOther) {
  const std::unique_ptr<Engine> second = new_engine();
  Config larger = config_;
  larger.width = 131;
  larger.height = 97;
  const Image large = noise(131, 97, 1, 45, 5);
  ASSERT_TRUE(engine_->configure(config_).ok());
  ASSERT_TRUE(second->configure(larger).ok());
  for (uint32_t i = 0; i < 10; ++i) {
    ASSERT_TRUE(push(image_).ok());
    ASSERT_TRUE(second->push(job_for(large)).ok());
    ASSERT_TRUE(push(other_).ok());
    ASSERT_TRUE(pops(*second, large));
    ASSERT_TRUE(pops(image_));
    ASSERT_TRUE(pops(other_));
  }
}

/// One thread at a time, but not always the same: pipelines do so.
TEST_F(ContractTest, ThreadsTakeTurns) {
  const auto in_a_thread = [](auto act) { std::thread(act).join(); };
  in_a_thread([&] { EXPECT_TRUE(engine_->configure(config_).ok()); });
  for (uint32_t i = 0; i < 5; ++i) {
    in_a_thread([&] { EXPECT_TRUE(push(image_).ok()); });
    in_a_thread([&] { EXPECT_TRUE(pops(image_)); });
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
