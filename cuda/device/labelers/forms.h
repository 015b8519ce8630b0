// SPDX-License-Identifier: LGPL-2.1-or-later
/// Forms of labelers that experiments compare; the element uses the default ones.
#pragma once

#include <cstdint>
#include <memory>

#include "device/labelers/labeler.h"

namespace ccl::device {

enum class DlpForm {
  kWhole,           ///< the default
  kWithoutScatter,  ///< without SR and the first R, which are optional; slower, for comparison
};

/// Distanceless label propagation (dlp.cu).
std::unique_ptr<Labeler> make_dlp(DlpForm form);

struct LabelEquivalenceForm {
  static constexpr uint32_t kMostThreads = 512;

  uint32_t threads = 256;   ///< of a block, at most kMostThreads
  bool with_sizes = false;  ///< counts the pixels of each component besides
};

/// Label equivalence, iterated on the device (label_equivalence.cu).
std::unique_ptr<Labeler> make_label_equivalence(const LabelEquivalenceForm& form);

/// Where label equivalence with sizes leaves them in its workspace: (height + 2) rows of width + 2
/// values, the frame's pixels inside; a component's size at its first pixel, 0 elsewhere.
const uint32_t* label_equivalence_sizes(const void* workspace, uint32_t width, uint32_t height);

}  // namespace ccl::device
