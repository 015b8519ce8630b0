// SPDX-License-Identifier: LGPL-2.1-or-later
/// Objects that are cut where they are narrow, against the oracle.
#include "frame_case.h"

namespace fuzz {

void try_input(Bytes* bytes) {
  FrameCase taken;
  taken.labeler = take_labeler(bytes);
  taken.threads = bytes->from_to(1, 3);
  taken.max_components = 3000;
  taken.settings.connectivity = bytes->flag() ? ccl::Connectivity::k4 : ccl::Connectivity::k8;
  taken.settings.rule.foreground = bytes->flag() ? ccl::Foreground::kValues : ccl::Foreground::kBinary;
  taken.settings.separation = {.neck = static_cast<uint16_t>(bytes->from_to(1, 1024)),
                               .aspect = static_cast<uint8_t>(bytes->from_to(1, 4))};
  taken.settings.filter.min_area = bytes->below(30);
  taken.settings.filter.top_n = bytes->below(4);
  taken.image = take_frame(bytes);
  check_frame(taken);
}

}  // namespace fuzz
