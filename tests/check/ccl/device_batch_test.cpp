// SPDX-License-Identifier: LGPL-2.1-or-later
/// Batches in the GPU's memory, which share a launch, give what the CPU gives for each frame alone. Several
/// batches may be in flight, and more frames than the GPU holds at a time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "device_bytes.h"
#include "fixture.h"
#include "fuzz.h"
#include "images.h"

namespace ccl::test {

namespace {

struct Frame {
  std::vector<uint8_t> pixels;  ///< of the output, or of the plane of labels
  std::vector<CclComponent> records;
  uint32_t n_labels = 0;
  uint32_t n_components = 0;
  bool overflow = false;
};

bool same(const Frame& a, const Frame& b) {
  return a.pixels == b.pixels && a.n_labels == b.n_labels && a.n_components == b.n_components &&
         a.overflow == b.overflow && a.records.size() == b.records.size() &&
         std::memcmp(a.records.data(), b.records.data(), a.records.size() * sizeof(CclComponent)) == 0;
}

size_t bytes_of(const Config& config) {
  const size_t of_pixel = config.planes != 0 ? sizeof(uint32_t) : bytes_per_pixel(config.output);
  return std::max<size_t>(of_pixel * config.width * config.height, 1);
}

FrameJob job_of(const Config& config, const Settings& settings, const uint8_t* input, size_t stride,
                uint8_t* output, Memory memory) {
  FrameJob job;
  job.settings = settings;
  job.input = {input, stride, memory};
  if (config.planes != 0) {
    job.label_plane = {reinterpret_cast<uint32_t*>(output), config.width * sizeof(uint32_t), memory};
  } else if (config.output != Output::kNone) {
    job.output = {output, size_t{config.width} * bytes_per_pixel(config.output), memory};
  }
  return job;
}

Frame pop(Engine* engine) {
  FrameResult result;
  const Status popped = engine->pop(&result);
  EXPECT_TRUE(popped.ok()) << popped.message();
  return {{},
          {result.components.begin(), result.components.end()},
          result.counts.n_labels,
          result.counts.n_components,
          result.overflow};
}

class DeviceBatchTest : public testing::Test {
 protected:
  void SetUp() override {
    if (backend() != Backend::kCuda) {
      GTEST_SKIP() << "frames in the GPU's memory are those of CUDA";
    }
  }

  /// Runs the images in batches, `slots` at a time, and compares each frame with what the CPU gives for it.
  static void expect_same(Config config, const Settings& settings, const std::vector<Image>& images) {
    const std::unique_ptr<Engine> host = make_host_engine();
    Config alone = config;
    alone.slots = alone.batch = 1;
    alone.algorithm = Algorithm::kAuto;
    ASSERT_TRUE(host->configure(alone).ok());
    std::unique_ptr<Engine> engine;
    ASSERT_TRUE(make_engine(&engine).ok());
    config.input_memory = config.output_memory = Memory::kDevice;
    const Status configured = engine->configure(config);
    ASSERT_TRUE(configured.ok()) << configured.message();

    std::vector<DeviceBytes> inputs;
    std::vector<DeviceBytes> outputs;
    std::vector<FrameJob> jobs;
    for (const Image& image : images) {
      inputs.emplace_back(image.memory);
      outputs.emplace_back(bytes_of(config));
      jobs.push_back(job_of(config, settings, inputs.back().get() + image.offset, image.stride,
                            outputs.back().get(), Memory::kDevice));
    }
    std::vector<Frame> got;
    const std::span<const FrameJob> all(jobs);
    for (size_t i = 0; i < all.size();) {
      for (uint32_t slot = 0; slot < config.slots && i < all.size(); ++slot) {
        const size_t n = std::min<size_t>(config.batch, all.size() - i);
        const Status pushed = engine->push(all.subspan(i, n));
        ASSERT_TRUE(pushed.ok()) << pushed.message();
        i += n;
      }
      while (got.size() < i) {
        got.push_back(pop(engine.get()));
      }
    }
    for (size_t i = 0; i < images.size(); ++i) {
      Frame want;
      std::vector<uint8_t> pixels(bytes_of(config), kFiller);
      const Status pushed = host->push(
          job_of(config, settings, images[i].pixels(), images[i].stride, pixels.data(), Memory::kHost));
      ASSERT_TRUE(pushed.ok()) << pushed.message();
      want = pop(host.get());
      want.pixels = std::move(pixels);
      got[i].pixels = outputs[i].read();
      ASSERT_TRUE(same(got[i], want))
          << images[i].name << ", frame " << i << " of " << images.size() << ", " << config.width << "x"
          << config.height << ", batch " << config.batch << ", output " << name_of(config.output);
    }
  }
};

Image random_image(uint32_t width, uint32_t height, std::mt19937* random) {
  const uint32_t grain = 1 + (*random)() % 6;
  return noise(width, height, grain, 5 + (*random)() % 90, (*random)());
}

}  // namespace

/// Every way to label and to paint in one launch, sizes from a few pixels to more tiles than the GPU holds.
TEST_F(DeviceBatchTest, RandomBatches) {
  fuzz(40, 24, [](uint32_t seed) {
    std::mt19937 random(seed);
    const auto choose = [&](auto... values) {
      const std::common_type_t<decltype(values)...> list[] = {values...};
      return list[random() % sizeof...(values)];
    };
    Config config;
    const uint32_t largest = choose(40u, 300u, 700u);
    config.width = 1 + random() % largest;
    config.height = 1 + random() % largest;
    if (random() % 3 == 0) {
      config.width = (config.width + 15) / 16 * 16;  // frames of whole chunks
    }
    config.algorithm = Algorithm::kRuns;
    config.output = choose(Output::kNone, Output::kColorized, Output::kLabels, Output::kMask);
    config.planes = config.output == Output::kNone && random() % 2 == 0 ? uint32_t{kLabelPlane} : 0;
    config.max_components = choose(30u, 1000u, 100000u);
    config.slots = 1 + random() % 3;
    config.batch = choose(2u, 5u, 8u, 24u, kMaxBatch);
    Settings settings;
    settings.connectivity = choose(Connectivity::k4, Connectivity::k8);
    settings.rule.foreground = choose(Foreground::kBinary, Foreground::kBinary, Foreground::kValues);
    settings.features = choose(0u, kAllFeatures);
    settings.palette = choose(Palette::kGolden, Palette::kViridisByArea);
    settings.filter.min_area = choose(1u, 1u, 1u, 5u);  // a filter does not share a launch
    const bool is_spread = random() % 3 == 0;
    std::vector<Image> images;
    for (uint32_t i = 0; i < 24; ++i) {
      images.push_back(random_image(config.width, config.height, &random));
      if (is_spread) {  // frames of other strides, and beside chunks, do not share a launch
        images.back() = spread(images.back(), choose(0u, 0u, 0u, 1u), choose(0u, 0u, 0u, 16u));
      }
    }
    expect_same(config, settings, images);
    return 24u;
  });
}

/// Every kernel of `runs` (runs/form.h) that this GPU needs: tiles of both widths, a block for each tile or
/// not, frames alone and in batches, with and without a filter of shapes.
TEST_F(DeviceBatchTest, EveryKernel) {
  for (const auto& [width, height] : {std::pair{1280u, 720u}, {3840u, 2160u}, {4096u, 2304u}}) {
    Config config;
    config.width = width;
    config.height = height;
    config.algorithm = Algorithm::kRuns;
    config.output = Output::kColorized;
    const std::vector<Image> images = {blobs(width, height, 1), noise(width, height, 4, 50, 2),
                                       noise(width, height, 16, 60, 3)};
    for (const Foreground foreground : {Foreground::kBinary, Foreground::kValues}) {
      for (const Connectivity connectivity : {Connectivity::k4, Connectivity::k8}) {
        for (const uint32_t features : {0u, uint32_t{kAllFeatures}}) {
          Settings settings;
          settings.rule.foreground = foreground;
          settings.connectivity = connectivity;
          settings.features = features;
          config.batch = 3;
          expect_same(config, settings, images);
          settings.palette = Palette::kViridisByArea;
          expect_same(config, settings, images);
          config.batch = 1;
          settings.filter.min_width = 20;
          expect_same(config, settings, {images[1]});
          ASSERT_FALSE(HasFatalFailure());
        }
      }
    }
  }
}

/// Frames of which the GPU holds a few, one, and none at a time.
TEST_F(DeviceBatchTest, LargeFrames) {
  for (const auto& [width, height] :
       {std::pair{1280u, 720u}, {1920u, 1080u}, {3840u, 2160u}, {6000u, 4100u}}) {
    Config config;
    config.width = width;
    config.height = height;
    config.algorithm = Algorithm::kRuns;
    config.output = Output::kColorized;
    config.batch = 5;
    std::vector<Image> images;
    for (uint32_t seed = 0; seed < 5; ++seed) {
      images.push_back(seed % 2 == 0 ? noise(width, height, 1 + 3 * seed, 50, seed)
                                     : blobs(width, height, seed));
    }
    Settings settings;
    expect_same(config, settings, images);
    settings.rule.foreground = Foreground::kValues;  // whose tiles are smaller
    expect_same(config, settings, images);
  }
}

}  // namespace ccl::test
