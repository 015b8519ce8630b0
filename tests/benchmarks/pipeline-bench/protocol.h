// SPDX-License-Identifier: LGPL-2.1-or-later
/// What the benchmarks beside OpenCV share: their images and their clock.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ccl/status.h"
#include "common.h"
#include "images.h"

namespace ccl::bench {

/// MT19937 noise of granularity 1..16 and density 10..90 % (Cabaret, Lacassagne, Etiemble's protocol), then
/// shapes that are hard on labelers. Names are fit for CSV: "g4_d50", "comb-teeth-up".
std::vector<test::Image> protocol_images(uint32_t width, uint32_t height);

/// "1920x1080"; ends the program where the text is something else.
Size require_size(const std::string& text);

/// Says why on standard error and ends the program.
[[noreturn]] void fail(const std::string& message);
/// Likewise, unless the library did what it was asked for.
void require(const Status& status);

/// The time of work() in microseconds: until it was done, and of all processors together. The latter
/// is more useful if the machine has other work.
struct Time {
  double wall_us;
  double cpu_us;
};
Time time(const std::function<void()>& work);

/// What a set of times amounts to.
struct Summary {
  double min;
  double median;
};
Summary summarize(std::vector<double> times);

}  // namespace ccl::bench
