// SPDX-License-Identifier: LGPL-2.1-or-later
/// Forms of labelers that experiments compare. The element uses the default forms.
#pragma once

#include <cstdint>
#include <memory>

#include "device/labelers/labeler.h"

namespace ccl::device {

enum class DlpForm {
  kWhole,           ///< the default
  kWithoutScatter,  ///< without the optional steps DLP-SR and the first DLP-R; slower
};

/// Distanceless label propagation (dlp.cu).
std::unique_ptr<Labeler> make_dlp(DlpForm form);

struct LabelEquivalenceForm {
  static constexpr uint32_t kMostThreads = 512;

  uint32_t threads = 256;   ///< per block, at most kMostThreads
  bool with_sizes = false;  ///< also counts the pixels of each component
};

/// Label equivalence (label_equivalence.cu).
std::unique_ptr<Labeler> make_label_equivalence(const LabelEquivalenceForm& form);

/// The component sizes in the workspace of label equivalence with sizes: (height + 2) rows of width + 2
/// values, which include a border of one pixel around the frame. A component's size is at its first pixel;
/// all other values are 0.
const uint32_t* label_equivalence_sizes(const void* workspace, uint32_t width, uint32_t height);

}  // namespace ccl::device
