// SPDX-License-Identifier: LGPL-2.1-or-later
#include "strip.h"

#include "writer.h"

namespace ccl::bench {

void Strip::add(const Follower& follower) {
  const Size size = follower.size();
  width_ = size.width;
  ++n_frames_;
  for (uint32_t x = 0; x < size.width; ++x) {
    size_t pixel = size_t{size.height} * size.width + x;
    bool is_found = false;
    while (!is_found && pixel >= size.width) {
      pixel -= size.width;
      is_found = follower.record_map()[pixel] != Follower::kNone;
    }
    const uint8_t black[4] = {0, 0, 0, 255};
    const uint8_t* color = is_found ? &follower.pixels()[4 * pixel] : black;
    rgba_.insert(rgba_.end(), color, color + 4);
  }
}

void Strip::write(const std::string& file) const {
  write_still(file, width_, n_frames_, rgba_);
}

}  // namespace ccl::bench
