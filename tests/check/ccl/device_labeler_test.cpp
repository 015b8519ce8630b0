// SPDX-License-Identifier: LGPL-2.1-or-later
/// Forms of the GPU's labelers that no engine makes: they are for experiments, and as exact as all
/// others.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <vector>

#include "compare.h"
#include "device/labelers/forms.h"
#include "device/memory.h"
#include "device_bits.h"
#include "images.h"
#include "oracle.h"

namespace ccl::test {

namespace {

using device::check;
using device::DeviceArray;
using device::DlpForm;
using device::LabelEquivalenceForm;
using device::Labeler;

class DeviceLabelerTest : public DeviceTest {
 protected:
  /// Leaves the root map and the labeler's workspace in host memory.
  Status run(Labeler* labeler, const Image& image, const Settings& settings) {
    const size_t n_pixels = size_t{image.width} * image.height;
    const size_t n_bytes = labeler->workspace_bytes(image.width, image.height);
    DeviceArray<uint8_t> pixels;
    DeviceArray<uint32_t> root_map;
    DeviceArray<uint32_t> n_iterations;
    CCL_RETURN_IF_ERROR(pixels.allocate(n_pixels));
    CCL_RETURN_IF_ERROR(root_map.allocate(n_pixels));
    CCL_RETURN_IF_ERROR(n_iterations.allocate(1));
    workspace_ = {};
    CCL_RETURN_IF_ERROR(workspace_.allocate(n_bytes));
    CCL_RETURN_IF_ERROR(
        check(cudaMemcpy2DAsync(pixels.data(), image.width, image.pixels(), image.stride, image.width,
                                image.height, cudaMemcpyHostToDevice, stream_.get()),
              "cudaMemcpy2DAsync of an image"));
    CCL_RETURN_IF_ERROR(labeler->label({.pixels = pixels.data(),
                                        .pitch = image.width,
                                        .width = image.width,
                                        .height = image.height,
                                        .rule = settings.rule},
                                       settings.connectivity, root_map.data(), workspace_.data(),
                                       n_iterations.data(), stream_.get()));
    CCL_RETURN_IF_ERROR(stream_.synchronize());
    root_map_.resize(n_pixels);
    return check(
        cudaMemcpy(root_map_.data(), root_map.data(), n_pixels * sizeof(uint32_t), cudaMemcpyDeviceToHost),
        "cudaMemcpy of a root map");
  }

  /// Each component's size at its first pixel, of label equivalence with sizes.
  std::vector<uint32_t> sizes(const Image& image) const {
    const size_t row = image.width * sizeof(uint32_t);
    std::vector<uint32_t> sizes(size_t{image.width} * image.height);
    const uint32_t* padded = device::label_equivalence_sizes(workspace_.data(), image.width, image.height);
    EXPECT_EQ(cudaMemcpy2D(sizes.data(), row, padded + image.width + 3, row + 2 * sizeof(uint32_t), row,
                           image.height, cudaMemcpyDeviceToHost),
              cudaSuccess);
    return sizes;
  }

  /// Calls visit(image, settings) for a few images with either connectivity and either foreground.
  template <typename Visit>
  void for_each_case(Visit visit) {
    for (const Image& image :
         {noise(131, 67, 1, 45, 1), noise(97, 120, 1, 65, 2), split_foreground(noise(140, 90, 2, 60, 3)),
          spiral(77, 64), plain("full", 130, 33, kForeground), plain("empty", 40, 20),
          plain("dot", 1, 1, 1)}) {
      for (const Connectivity connectivity : {Connectivity::k4, Connectivity::k8}) {
        for (const Foreground foreground : {Foreground::kBinary, Foreground::kValues}) {
          visit(image, Settings{.connectivity = connectivity, .rule = {.foreground = foreground}});
        }
      }
    }
  }

  DeviceArray<uint8_t> workspace_;
  std::vector<uint32_t> root_map_;
};

TEST_F(DeviceLabelerTest, DlpNeedsNoScatter) {
  const std::unique_ptr<Labeler> labeler = device::make_dlp(DlpForm::kWithoutScatter);
  for_each_case([&](const Image& image, const Settings& settings) {
    ASSERT_TRUE(run(labeler.get(), image, settings).ok());
    ASSERT_TRUE(same_map(root_map_, expect_labels(image, settings).root_map, image, "root"));
  });
}

TEST_F(DeviceLabelerTest, LabelEquivalenceWorksInBlocksOfAnySize) {
  for (const uint32_t threads : {1u, 4u, 16u, 64u, 512u}) {
    SCOPED_TRACE(threads);
    const std::unique_ptr<Labeler> labeler = device::make_label_equivalence({.threads = threads});
    for_each_case([&](const Image& image, const Settings& settings) {
      ASSERT_TRUE(run(labeler.get(), image, settings).ok());
      ASSERT_TRUE(same_map(root_map_, expect_labels(image, settings).root_map, image, "root"));
    });
  }
}

TEST_F(DeviceLabelerTest, LabelEquivalenceCountsSizes) {
  for (const uint32_t threads : {16u, 256u}) {
    SCOPED_TRACE(threads);
    const std::unique_ptr<Labeler> labeler =
        device::make_label_equivalence({.threads = threads, .with_sizes = true});
    for_each_case([&](const Image& image, const Settings& settings) {
      const ExpectedFrame want = expect_labels(image, settings);
      ASSERT_TRUE(run(labeler.get(), image, settings).ok());
      ASSERT_TRUE(same_map(root_map_, want.root_map, image, "root"));
      std::vector<uint32_t> areas(root_map_.size());
      for (uint32_t label = 1; label <= want.n_labels; ++label) {
        areas[want.first_pixel[label]] = want.areas[label];
      }
      ASSERT_TRUE(same_map(sizes(image), areas, image, "size"));
    });
  }
}

}  // namespace

}  // namespace ccl::test
