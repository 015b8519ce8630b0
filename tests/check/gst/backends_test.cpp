// SPDX-License-Identifier: LGPL-2.1-or-later
/// Both backends produce the same bytes. With backend=cpu two of the CPU's labelers are compared.
#include <gtest/gtest.h>

#include "harness.h"

namespace cudaccl::test {

namespace {

struct Frame {
  std::vector<uint8_t> pixels;
  std::vector<uint8_t> records;
};

/// One frame's output and its records as bytes.
Frame run(const std::string& properties, const Image& image, const std::string& format) {
  Harness h(properties);
  EXPECT_TRUE(h.send_caps(format, image.width, image.height));
  const Ref<GstBuffer> out = h.process(image, format);
  const GstCudaCclInfo info = components_of(out.get());
  const auto* bytes = reinterpret_cast<const uint8_t*>(info.records);
  return {h.pixels(out), {bytes, bytes + info.n_records * sizeof(CclComponent)}};
}

class Backends : public testing::TestWithParam<const char*> {};

}  // namespace

TEST_P(Backends, SameBytes) {
  const std::string other = backend() == "cuda" ? "backend=cpu " : "algorithm=dlp ";
  for (const auto& [width, height] :
       {std::pair{1u, 1u}, std::pair{37u, 21u}, std::pair{641u, 3u}, std::pair{333u, 257u}}) {
    for (const char* properties :
         {"", "connectivity=4-way", "foreground=values", "invert=true threshold=128",
          "min-area=3 max-area=40", "max-components=7", "palette=viridis-by-area", "draw-boxes=true"}) {
      const std::string wanted = std::string("output=") + GetParam() + " " + properties;
      const Image image = noise(width, height, width);
      const Frame ours = run(wanted, image, "NV12");
      const Frame theirs = run(other + wanted, image, "NV12");
      EXPECT_EQ(ours.pixels, theirs.pixels) << wanted << " " << width << "x" << height;
      EXPECT_EQ(ours.records, theirs.records) << wanted << " " << width << "x" << height;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Outputs, Backends,
                         testing::Values("colorized", "overlay", "labels", "mask", "passthrough"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace cudaccl::test
