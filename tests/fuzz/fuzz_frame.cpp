// SPDX-License-Identifier: LGPL-2.1-or-later
/// Frames under every rule, labeler and filter, against the oracle.
#include "frame_case.h"

namespace fuzz {

static ccl::Segmentation take_segmentation(Bytes* bytes, const ccl::ForegroundRule& rule) {
  ccl::Segmentation segmentation;
  if (rule.foreground == ccl::Foreground::kLocal) {
    segmentation.local = {.radius = static_cast<uint8_t>(bytes->from_to(1, ccl::kMaxLocalRadius)),
                          .offset = static_cast<int16_t>(static_cast<int32_t>(bytes->below(511)) - 255),
                          .deviation = static_cast<uint16_t>(bytes->below(ccl::kOne + 1))};
  }
  if (rule.foreground == ccl::Foreground::kBinary && bytes->flag()) {
    segmentation.threshold_low = bytes->byte();
  }
  if (rule.foreground != ccl::Foreground::kValues && bytes->flag()) {
    segmentation.morphology = {.open_radius = static_cast<uint8_t>(bytes->below(4)),
                               .close_radius = static_cast<uint8_t>(bytes->below(4)),
                               .element = bytes->flag() ? ccl::Element::kCross : ccl::Element::kSquare,
                               .fill_holes = bytes->below(50)};
  }
  return segmentation;
}

void try_input(Bytes* bytes) {
  FrameCase taken;
  taken.labeler = take_labeler(bytes);
  taken.threads = bytes->from_to(1, 3);
  taken.max_components = bytes->flag() ? bytes->from_to(1, 8) : 3000;
  taken.settings.connectivity = bytes->flag() ? ccl::Connectivity::k4 : ccl::Connectivity::k8;
  taken.settings.rule = {.foreground = static_cast<ccl::Foreground>(bytes->below(4)),  // not motion
                         .threshold = bytes->byte(),
                         .invert = bytes->flag()};
  taken.settings.features = bytes->below(ccl::kAllFeatures + 1) & ccl::kAllFeatures;
  taken.settings.filter = take_filter(bytes);
  taken.segmentation = take_segmentation(bytes, taken.settings.rule);
  taken.image = take_frame(bytes);
  check_frame(taken);
}

}  // namespace fuzz
