// SPDX-License-Identifier: LGPL-2.1-or-later
/// Frames that lie in the GPU's memory, or go there, give what frames in host memory give.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <regex>
#include <thread>
#include <vector>

#include "device_bytes.h"
#include "fixture.h"
#include "images.h"

namespace ccl::test {

namespace {

Image specks(uint32_t width, uint32_t height, uint32_t seed) {
  return drawn("specks", width, height, [seed](uint32_t x, uint32_t y) {
    uint32_t hash = x * 0x9e3779b9u ^ y * 0x85ebca6bu ^ seed * 0xc2b2ae35u;
    hash = (hash ^ hash >> 15) * 0x2c1b3c6du;
    return (hash ^ hash >> 12) % 100 < 45;
  });
}

/// What a frame came to: the output's rows with whatever lies between them, and the records.
struct Frame {
  std::vector<uint8_t> rows;
  std::vector<CclComponent> records;

  bool operator==(const Frame& other) const {
    return rows == other.rows && records.size() == other.records.size() &&
           std::memcmp(records.data(), other.records.data(), records.size() * sizeof(CclComponent)) == 0;
  }
};

Config config_of(uint32_t width, uint32_t height, Output output, uint32_t slots = 1) {
  Config config;
  config.width = width;
  config.height = height;
  config.output = output;
  config.slots = slots;
  return config;
}

class DeviceMemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    if (backend() != Backend::kCuda) {
      GTEST_SKIP() << "the CPU engine reads host memory only (see ContractTest)";
    }
    ASSERT_TRUE(make_engine(&engine_).ok());
  }

  /// The records of the oldest frame.
  static std::vector<CclComponent> pop(Engine& engine) {
    FrameResult result;
    EXPECT_TRUE(engine.pop(&result).ok());
    return {result.components.begin(), result.components.end()};
  }

  /// The records of the job.
  static std::vector<CclComponent> run(Engine& engine, const FrameJob& job) {
    const Status pushed = engine.push(job);
    EXPECT_TRUE(pushed.ok()) << pushed.message();
    return pop(engine);
  }

  /// Runs a frame on the host engine, as the reference.
  static Frame expect(const Image& image, const Config& config, size_t stride,
                      const Settings& settings = {}) {
    const std::unique_ptr<Engine> engine = make_host_engine();
    Config on_host = config;
    on_host.algorithm = Algorithm::kAuto;
    EXPECT_TRUE(engine->configure(on_host).ok());
    Frame frame;
    frame.rows.assign(stride * config.height, kFiller);
    FrameJob job;
    job.input = {image.pixels(), image.stride};
    job.output = {frame.rows.data(), stride};
    job.settings = settings;
    frame.records = run(*engine, job);
    return frame;
  }

  std::unique_ptr<Engine> engine_;
};

}  // namespace

TEST_F(DeviceMemoryTest, EveryLabelerReadsAndWritesWhereTheFrameLies) {
  constexpr uint32_t kWidth = 173;
  constexpr uint32_t kHeight = 91;
  for (const AlgorithmInfo& labeler : labelers()) {
    for (const Output output :
         {Output::kColorized, Output::kOverlay, Output::kLabels, Output::kMask, Output::kDistance}) {
      // Dense rows can be written in place, padded ones are copied; odd inputs are read byte by byte.
      for (const size_t padding : {0u, 35u}) {
        const Image image = spread(specks(kWidth, kHeight, padding), padding % 16, padding);
        Config config = config_of(kWidth, kHeight, output);
        config.algorithm = labeler.algorithm;
        config.input_memory = Memory::kDevice;
        config.output_memory = Memory::kDevice;
        const size_t stride = size_t{kWidth} * bytes_per_pixel(output) + padding;
        const Frame want = expect(image, config, stride);

        DeviceBytes input(image.memory);
        DeviceBytes pixels(stride * kHeight);
        ASSERT_TRUE(engine_->configure(config).ok());
        FrameJob job;
        job.input = {input.get() + image.offset, image.stride, Memory::kDevice};
        job.output = {pixels.get(), stride, Memory::kDevice};
        for (int i = 0; i < 2; ++i) {
          const std::vector<CclComponent> records = run(*engine_, job);
          EXPECT_EQ((Frame{pixels.read(), records}), want)
              << labeler.nick << " output " << name_of(output) << " padding " << padding;
        }
      }
    }
  }
}

/// Packed YUV and words of 16 bits, in outputs that show the source.
TEST_F(DeviceMemoryTest, SourcesThatAreNotLuma) {
  constexpr uint32_t kWidth = 130;
  constexpr uint32_t kHeight = 47;
  constexpr size_t kInputStride = 2 * kWidth + 6;
  constexpr size_t kStride = kWidth * 4;
  const std::vector<uint8_t> bytes = grey_noise(kInputStride, kHeight, 4).memory;
  ASSERT_EQ(bytes.size(), kInputStride * kHeight);
  DeviceBytes input(bytes);
  for (const bool is_wide : {false, true}) {
    for (const Output output : {Output::kOverlay, Output::kForeground, Output::kBackground}) {
      const auto job_of = [&](const uint8_t* first, Memory memory, uint8_t* pixels) {
        FrameJob job;
        job.input.memory = memory;
        job.input.source = {.pixels = first, .stride = kInputStride, .step = 2};
        if (is_wide) {
          job.input.source.bits = 10;
          job.input.source.shift = 6;
          job.segmentation.wide_threshold = 700;
        } else {
          job.input.chroma = {
              .u = first + 1, .v = first + 3, .stride = kInputStride, .step = 4, .shift_x = 1};
        }
        job.output = {pixels, kStride, memory};
        job.settings.rule.threshold = 170;
        job.settings.draw_boxes = true;
        return job;
      };
      Config config = config_of(kWidth, kHeight, output);
      const std::unique_ptr<Engine> host = make_host_engine();
      ASSERT_TRUE(host->configure(config).ok());
      Frame want{std::vector<uint8_t>(kStride * kHeight, kFiller), {}};
      want.records = run(*host, job_of(bytes.data(), Memory::kHost, want.rows.data()));
      config.input_memory = Memory::kDevice;
      config.output_memory = Memory::kDevice;
      ASSERT_TRUE(engine_->configure(config).ok());
      DeviceBytes pixels(kStride * kHeight);
      const std::vector<CclComponent> records =
          run(*engine_, job_of(input.get(), Memory::kDevice, pixels.get()));
      EXPECT_EQ((Frame{pixels.read(), records}), want)
          << name_of(output) << (is_wide ? " of 10 bits" : " of YUY2");
    }
  }
}

/// A mask for encoders: luma in padded rows, and chroma that the engine fills.
TEST_F(DeviceMemoryTest, MaskWithChroma) {
  constexpr uint32_t kWidth = 66;
  constexpr uint32_t kHeight = 20;
  constexpr size_t kStride = 72;
  constexpr uint32_t kChromaRows = kHeight / 2;
  const Image image = specks(kWidth, kHeight, 3);
  Config config = config_of(kWidth, kHeight, Output::kMask);
  config.output_memory = Memory::kDevice;
  ASSERT_TRUE(engine_->configure(config).ok());
  DeviceBytes pixels(kStride * (kHeight + kChromaRows));
  FrameJob job;
  job.input = {image.pixels(), image.stride};
  job.output = {.pixels = pixels.get(),
                .stride = kStride,
                .memory = Memory::kDevice,
                .chroma = {pixels.get() + kStride * kHeight, nullptr},
                .chroma_stride = kStride,
                .chroma_row = kWidth,
                .chroma_rows = kChromaRows};
  job.settings.mask_on = 235;
  job.settings.mask_off = 16;
  run(*engine_, job);
  std::vector<uint8_t> want(kStride * (kHeight + kChromaRows), kFiller);
  for (uint32_t y = 0; y < kHeight + kChromaRows; ++y) {
    for (uint32_t x = 0; x < kWidth; ++x) {
      want[y * kStride + x] = y >= kHeight ? 128 : image.at(x, y) != 0 ? 235 : 16;
    }
  }
  EXPECT_EQ(pixels.read(), want);
}

/// Frames may lie elsewhere than the configuration says, in any order.
TEST_F(DeviceMemoryTest, FramesMayLieElsewhereThanConfigured) {
  constexpr uint32_t kWidth = 130;
  constexpr uint32_t kHeight = 70;
  constexpr size_t kStride = kWidth * 4;
  for (const Memory configured : {Memory::kHost, Memory::kDevice}) {
    Config config = config_of(kWidth, kHeight, Output::kColorized, 2);
    config.input_memory = configured;
    config.output_memory = configured;
    ASSERT_TRUE(engine_->configure(config).ok());
    for (uint32_t seed = 0; seed < 8; ++seed) {
      const Image image = specks(kWidth, kHeight, seed);
      const Frame want = expect(image, config, kStride);
      DeviceBytes input(image.memory);
      DeviceBytes pixels(kStride * kHeight);
      std::vector<uint8_t> rows(kStride * kHeight, kFiller);
      const bool from_device = (seed & 1) != 0;
      const bool to_device = (seed & 2) != 0;
      FrameJob job;
      job.input = from_device ? InputImage{input.get(), image.stride, Memory::kDevice}
                              : InputImage{image.pixels(), image.stride};
      job.output =
          to_device ? OutputImage{pixels.get(), kStride, Memory::kDevice} : OutputImage{rows.data(), kStride};
      const std::vector<CclComponent> records = run(*engine_, job);
      EXPECT_EQ((Frame{to_device ? pixels.read() : rows, records}), want) << seed;
    }
  }
}

/// Frames at more addresses than graphs are kept for, with settings that change now and then.
TEST_F(DeviceMemoryTest, ManyAddressesAndSettings) {
  constexpr uint32_t kWidth = 96;
  constexpr uint32_t kHeight = 40;
  constexpr uint32_t kInputs = 11;
  constexpr uint32_t kOutputs = 7;
  constexpr size_t kStride = kWidth * 4;
  Config config = config_of(kWidth, kHeight, Output::kColorized);
  config.input_memory = Memory::kDevice;
  config.output_memory = Memory::kDevice;
  std::vector<DeviceBytes> inputs;
  std::vector<DeviceBytes> outputs;
  for (uint32_t i = 0; i < kInputs; ++i) {
    inputs.emplace_back(specks(kWidth, kHeight, i).memory);
  }
  for (uint32_t i = 0; i < kOutputs; ++i) {
    outputs.emplace_back(kStride * kHeight);
  }
  ASSERT_TRUE(engine_->configure(config).ok());
  for (uint32_t i = 0; i < 250; ++i) {
    Settings settings;
    // A change of the foreground takes all graphs away. From frame 60 on there is none.
    settings.rule.foreground = i < 60 && i % 20 > 15 ? Foreground::kValues : Foreground::kBinary;
    settings.filter.min_area = i % 9 == 0 ? 4 : 1;
    settings.draw_boxes = i % 13 == 0;
    FrameJob job;
    job.input = {inputs[i % kInputs].get(), kWidth, Memory::kDevice};
    job.output = {outputs[i % kOutputs].get(), kStride, Memory::kDevice};
    job.settings = settings;
    const std::vector<CclComponent> records = run(*engine_, job);
    EXPECT_EQ((Frame{outputs[i % kOutputs].read(), records}),
              expect(specks(kWidth, kHeight, i % kInputs), config, kStride, settings))
        << i;
  }
}

/// Frames at the same addresses, whose rules need memory of another kind in turn.
TEST_F(DeviceMemoryTest, RulesThatTakeTurns) {
  constexpr uint32_t kWidth = 1920;
  constexpr uint32_t kHeight = 1080;
  constexpr size_t kStride = kWidth * 4;
  Config config = config_of(kWidth, kHeight, Output::kColorized);
  config.max_components = kWidth * kHeight;
  config.input_memory = config.output_memory = Memory::kDevice;
  const Image image = specks(kWidth, kHeight, 1);
  const DeviceBytes input(image.memory);
  const DeviceBytes output(kStride * kHeight);
  ASSERT_TRUE(engine_->configure(config).ok());
  for (uint32_t i = 0; i < 6; ++i) {
    FrameJob job;
    job.input = {input.get(), kWidth, Memory::kDevice};
    job.output = {output.get(), kStride, Memory::kDevice};
    job.settings.rule.foreground = i % 2 == 1 ? Foreground::kValues : Foreground::kBinary;
    const std::vector<CclComponent> records = run(*engine_, job);
    EXPECT_EQ((Frame{output.read(), records}), expect(image, config, kStride, job.settings)) << i;
  }
}

/// The largest numbers of basins differ, so each kind has memory of its own, which is taken once.
TEST_F(DeviceMemoryTest, SeparationsThatTakeTurns) {
  constexpr uint32_t kWidth = 1920;
  constexpr uint32_t kHeight = 1080;
  constexpr uint32_t kKinds = 3;
  Config config = config_of(kWidth, kHeight, Output::kMask);
  config.max_components = kWidth * kHeight;
  config.input_memory = config.output_memory = Memory::kDevice;
  config.algorithm = Algorithm::kBlockEquivalence;  // `runs` has a separator of its own for the first kind
  const Image image = specks(kWidth, kHeight, 1);
  const DeviceBytes input(image.memory);
  const DeviceBytes output(size_t{kWidth} * kHeight);
  ASSERT_TRUE(engine_->configure(config).ok());
  size_t free_after_first = 0;
  for (uint32_t i = 0; i < 4 * kKinds; ++i) {
    FrameJob job;
    job.input = {input.get(), kWidth, Memory::kDevice};
    job.output = {output.get(), kWidth, Memory::kDevice};
    job.settings.separation = {.neck = 993, .aspect = 1};
    job.settings.rule.foreground = i % kKinds == 2 ? Foreground::kValues : Foreground::kBinary;
    job.settings.connectivity = i % kKinds == 0 ? Connectivity::k8 : Connectivity::k4;
    const std::vector<CclComponent> records = run(*engine_, job);
    EXPECT_EQ((Frame{output.read(), records}), expect(image, config, kWidth, job.settings)) << i;
    size_t free_now = 0;
    size_t total = 0;
    ASSERT_EQ(cudaMemGetInfo(&free_now, &total), cudaSuccess);
    free_after_first = i == kKinds - 1 ? free_now : free_after_first;
    EXPECT_GE(free_now + (size_t{16} << 20), free_after_first) << i;
  }
}

/// A frame that another stream is still writing is read when it is written.
TEST_F(DeviceMemoryTest, WaitsForTheStreamThatWritesTheFrame) {
  constexpr uint32_t kWidth = 300;
  constexpr uint32_t kHeight = 200;
  const Config config = config_of(kWidth, kHeight, Output::kMask);
  const Image image = specks(kWidth, kHeight, 1);
  const Frame want = expect(image, config, kWidth);
  ASSERT_TRUE(engine_->configure(config).ok());
  DeviceBytes input(image.memory.size());
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  const auto sleep = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(50)); };
  ASSERT_EQ(cudaLaunchHostFunc(stream, sleep, nullptr), cudaSuccess);
  ASSERT_EQ(
      cudaMemcpyAsync(input.get(), image.memory.data(), image.memory.size(), cudaMemcpyHostToDevice, stream),
      cudaSuccess);
  std::vector<uint8_t> rows(size_t{kWidth} * kHeight, kFiller);
  FrameJob job;
  job.input = {input.get(), image.stride, Memory::kDevice, stream};
  job.output = {rows.data(), kWidth};
  const std::vector<CclComponent> records = run(*engine_, job);
  EXPECT_EQ((Frame{rows, records}), want);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

/// Page-locked memory gives the same bytes, and may be let go of after the engine.
TEST_F(DeviceMemoryTest, PageLockedMemoryOutlivesTheEngine) {
  constexpr uint32_t kWidth = 257;
  constexpr uint32_t kHeight = 65;
  constexpr size_t kStride = kWidth * 4 + 12;
  const Config config = config_of(kWidth, kHeight, Output::kColorized, 3);
  std::shared_ptr<uint8_t> input;
  std::vector<std::shared_ptr<uint8_t>> rows(3);
  const Image image = specks(kWidth, kHeight, 2);
  ASSERT_TRUE(engine_->device()->allocate_host(image.memory.size(), &input).ok());
  std::memcpy(input.get(), image.memory.data(), image.memory.size());
  ASSERT_TRUE(engine_->configure(config).ok());
  for (std::shared_ptr<uint8_t>& memory : rows) {
    ASSERT_TRUE(engine_->device()->allocate_host(kStride * kHeight, &memory).ok());
    std::memset(memory.get(), kFiller, kStride * kHeight);
    FrameJob job;
    job.input = {input.get(), image.stride};
    job.output = {memory.get(), kStride};
    ASSERT_TRUE(engine_->push(job).ok());
  }
  const Frame want = expect(image, config, kStride);
  for (const std::shared_ptr<uint8_t>& memory : rows) {
    const std::vector<CclComponent> records = pop(*engine_);
    EXPECT_EQ((Frame{{memory.get(), memory.get() + kStride * kHeight}, records}), want);
  }
  engine_.reset();
  EXPECT_EQ(rows[0].get()[kStride * kHeight - 1], kFiller);
}

/// More memory than a GPU has: the message says how much was requested, how much is free, and what needs
/// less.
TEST_F(DeviceMemoryTest, OutOfMemorySaysWhatNeedsLess) {
  const Config config = config_of(kMaxDimension, kMaxDimension, Output::kColorized, 1000);
  const Status status = engine_->configure(config);
  ASSERT_EQ(status.code(), StatusCode::kOutOfMemory) << status.message();
  const std::regex expected(
      "not enough GPU memory for [0-9]+ MiB; the GPU has [0-9]+ MiB of [0-9]+ MiB free; .*pipeline-depth.*"
      "out of memory.*");
  EXPECT_TRUE(std::regex_match(status.message(), expected)) << status.message();
  EXPECT_TRUE(engine_->configure(config_of(64, 64, Output::kColorized)).ok()) << "the memory is free again";
}

}  // namespace ccl::test
