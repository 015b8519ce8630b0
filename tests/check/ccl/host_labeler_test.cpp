// SPDX-License-Identifier: LGPL-2.1-or-later
/// Tests CPU labelers in ways that the engine does not offer: the variants of neighbor propagation, numbers
/// of iterations, and row chunks for several numbers of threads.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

#include "compare.h"
#include "host/labelers/forms.h"
#include "host/thread_pool.h"
#include "images.h"
#include "oracle.h"

namespace ccl::test {

namespace {

using host::Propagation;
using host::ThreadPool;

using MakeLabeler = std::function<std::unique_ptr<host::Labeler>(uint32_t width, uint32_t height)>;

class HostLabelerTest : public testing::Test {
 protected:
  MakeLabeler propagation(Propagation propagation) {
    return [this, propagation](uint32_t width, uint32_t height) {
      return host::make_neighbor_propagation(width, height, propagation, pool_);
    };
  }

  ThreadPool pool_{2};
};

/// The root map of a frame, and the number of iterations.
struct LabeledFrame {
  std::vector<uint32_t> root_map;
  uint32_t iterations;
};

LabeledFrame run(const MakeLabeler& make, const Image& image, const Settings& settings) {
  const size_t stride = size_t{image.width} + 2;
  std::vector<uint8_t> padded(stride * (image.height + 2));
  for (uint32_t y = 0; y < image.height; ++y) {
    for (uint32_t x = 0; x < image.width; ++x) {
      padded[(y + 1) * stride + x + 1] = settings.rule.segment(image.at(x, y));
    }
  }
  LabeledFrame frame{std::vector<uint32_t>(size_t{image.width} * image.height), 0};
  const std::unique_ptr<host::Labeler> labeler = make(image.width, image.height);
  labeler->label({padded.data() + stride + 1, stride, image.width, image.height}, settings.connectivity,
                 frame.root_map.data());
  frame.iterations = labeler->iterations();
  return frame;
}

std::vector<Image> images() {
  std::vector<Image> images = adversarial_set(41, 27);
  for (Image& image : value_set(23, 18)) {
    images.push_back(std::move(image));
  }
  for (const auto& [width, height] : {std::pair{1u, 1u}, {1u, 9u}, {9u, 1u}, {2u, 2u}, {67u, 35u}}) {
    images.push_back(noise(width, height, 1, 55, width));
  }
  return images;
}

void expect_exact(const MakeLabeler& make) {
  for (const Image& image : images()) {
    for (const Connectivity connectivity : {Connectivity::k4, Connectivity::k8}) {
      for (const Foreground foreground : {Foreground::kBinary, Foreground::kValues}) {
        const Settings settings{.connectivity = connectivity, .rule = {.foreground = foreground}};
        ASSERT_TRUE(same_map(run(make, image, settings).root_map, expect_labels(image, settings).root_map,
                             image, "root"));
      }
    }
  }
}

TEST_F(HostLabelerTest, EveryPropagationIsExact) {
  for (const Propagation form :
       {Propagation::kElementary, Propagation::kForward, Propagation::kForwardBackward}) {
    SCOPED_TRACE(static_cast<int>(form));
    ASSERT_NO_FATAL_FAILURE(expect_exact(propagation(form)));
  }
}

TEST_F(HostLabelerTest, EveryNumberOfChunksIsExact) {
  for (const uint32_t n_threads : {1u, 2u, 3u, 7u, 64u}) {
    SCOPED_TRACE(n_threads);
    ThreadPool pool(n_threads);
    for (const Algorithm algorithm : {Algorithm::kHcs2Aremsp, Algorithm::kDlp}) {
      const AlgorithmInfo* info = nullptr;
      ASSERT_TRUE(resolve_algorithm(algorithm, Backend::kCpu, &info).ok());
      ASSERT_NO_FATAL_FAILURE(expect_exact(
          [&](uint32_t width, uint32_t height) { return info->host.make_labeler(width, height, pool); }));
    }
  }
}

/// The shapes of Cabaret et al. 2017, figures 4 and 5, 8-connected: the number of iterations is the longest
/// way of a label plus one.
TEST_F(HostLabelerTest, ElementaryPropagationMovesLabelsByOnePixel) {
  const auto iterations = [&](const Image& image) {
    return run(propagation(Propagation::kElementary), image, {}).iterations;
  };
  EXPECT_EQ(iterations(plain("full", 5, 5, kForeground)), 5u);
  EXPECT_EQ(iterations(picture({"#####", "#...#", "#...#", "#...#", "#####"})), 8u);
  EXPECT_EQ(iterations(picture({"#####", "....#", "#####", "#....", "#####"})), 13u);
  EXPECT_EQ(iterations(spiral(5, 5)), 13u);
  EXPECT_EQ(iterations(plain("empty", 5, 5)), 1u);
}

/// A label moves right in a forward scan and left in a backward scan. So a U takes FB one iteration and
/// another one that changes nothing, and a line takes F two iterations, but EP one for each pixel.
TEST_F(HostLabelerTest, ScansMoveLabelsFar) {
  const Image u = picture({"#........#", "#........#", "##########"});
  const Settings settings{.connectivity = Connectivity::k4, .rule = {}};
  EXPECT_EQ(run(propagation(Propagation::kForwardBackward), u, settings).iterations, 2u);
  const Image line = plain("line", 30, 1, kForeground);
  EXPECT_EQ(run(propagation(Propagation::kForward), line, settings).iterations, 2u);
  EXPECT_EQ(run(propagation(Propagation::kElementary), line, settings).iterations, 30u);
}

TEST_F(HostLabelerTest, DirectLabelersDoNotIterate) {
  for (const AlgorithmInfo& info : algorithms()) {
    if (info.host.make_labeler == nullptr) {
      continue;
    }
    const MakeLabeler make = [&](uint32_t width, uint32_t height) {
      return info.host.make_labeler(width, height, pool_);
    };
    EXPECT_EQ(run(make, spiral(9, 9), {}).iterations > 0, info.algorithm == Algorithm::kNeighborPropagation)
        << info.nick;
  }
}

}  // namespace

}  // namespace ccl::test
