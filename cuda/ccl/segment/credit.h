// SPDX-License-Identifier: LGPL-2.1-or-later
/// How long a value was seen, in 7 bits, and when a new value has been seen for long enough.
///
/// The background is what has been seen for longest. So a value that differs from it becomes the background
/// when it has stayed for as long as the background had been seen: at least for half a second, and at most
/// for the learning time.
///
/// Times are counted in ticks of 1/16 s, and a code of 7 bits stands for a time: codes 0 to 7 are 0 to 7
/// ticks, and each further eight codes take twice as many ticks a code. A code rises in a frame in which as
/// many ticks end, so it needs no fraction; the ticks are those of the stream, the same for all pixels. The
/// largest code stands for more than four hours.
#pragma once

#include <bit>
#include <cstdint>

#include "ccl/segment/byte_lanes.h"

namespace ccl::credit {

inline constexpr uint32_t kTickUs = 62'500;
inline constexpr uint32_t kOctaveBits = 3;  ///< 2³ codes take the same number of ticks
inline constexpr uint32_t kMaxCode = 127;
inline constexpr uint32_t kOctaves = (kMaxCode + 1) >> kOctaveBits;
inline constexpr uint32_t kLeastCode = 8;                    ///< half a second
inline constexpr uint32_t kMostTicks = 1'000'000 / kTickUs;  ///< of a frame, see FrameTime::seen_ns()

/// What a frame adds to codes, and when a value has been seen for long enough.
struct Rates {
  uint8_t below[kMostTicks] = {};  ///< by how much a code rises: by the number of these that are above it
  uint8_t most = kMaxCode;         ///< code of the learning time

  bool operator==(const Rates&) const = default;
};

/// The largest code that stands for no more than `ticks`.
constexpr uint32_t code(uint64_t ticks) {
  const uint64_t shifted = ticks + (1u << kOctaveBits);
  const auto octave = static_cast<uint32_t>(std::bit_width(shifted)) - 1 - kOctaveBits;
  const uint64_t code = (uint64_t{octave} << kOctaveBits) + (shifted >> octave) - (1u << kOctaveBits);
  return code < kMaxCode ? static_cast<uint32_t>(code) : kMaxCode;
}
static_assert(code(0) == 0 && code(7) == 7 && code(8) == kLeastCode && code(9) == 8 && code(10) == 9);
static_assert(code(23) == 15 && code(24) == 16 && code(27) == 16 && code(28) == 17 && code(~0u) == kMaxCode);

/// A code after the frame.
template <typename Lanes>
constexpr typename Lanes::Value rise(const Rates& rates, typename Lanes::Value code) {
  auto risen = code;
  // In most frames only the first one is not 0.
  for (uint32_t i = 0; i < kMostTicks && rates.below[i] > 0; ++i) {
    const auto is_below = above<Lanes>(Lanes::splat(rates.below[i]), code);
    risen = Lanes::add(risen, Lanes::both(is_below, Lanes::splat(1)));
  }
  return risen;
}

/// The code that a value must reach to become background. `seen`: of the background.
template <typename Lanes>
constexpr typename Lanes::Value needed(const Rates& rates, typename Lanes::Value seen) {
  return Lanes::min(Lanes::max(seen, Lanes::splat(kLeastCode)), Lanes::splat(rates.most));
}

}  // namespace ccl::credit
