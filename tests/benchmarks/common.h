// SPDX-License-Identifier: LGPL-2.1-or-later
/// What all benchmarks name in the same way: sizes, images of noise, and the processor that they ran on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "images.h"

namespace ccl::bench {

struct Size {
  uint32_t width;
  uint32_t height;

  bool operator==(const Size&) const = default;
};

/// "1920x1080"; nothing where the text is something else.
std::optional<Size> parse_size(const std::string& text);

/// "g4_d50": noise as in Cabaret, Lacassagne, Etiemble 2017, blocks of 4 × 4 pixels, each foreground with a
/// chance of 50 percent, from MT19937. All of the protocol's granularities 1..16 at these densities.
std::vector<std::string> noise_names(const std::vector<uint32_t>& densities);

/// Draws noise by its name; nothing where the name is something else.
std::optional<test::Image> draw_noise(const std::string& name, Size size, uint32_t seed);

/// The processor by its own name, and how many of its threads this process may use.
std::string processor_name();

}  // namespace ccl::bench
