// SPDX-License-Identifier: LGPL-2.1-or-later
/// What every benchmark of this folder shares: its images, its clock, and what it says about the machine.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "images.h"

namespace ccl::bench {

/// MT19937 noise of granularity 1..16 and density 10..90 % (Cabaret, Lacassagne, Etiemble's protocol), then
/// shapes that are hard on labelers. Names are fit for CSV: "g4_d50", "comb-teeth-up".
std::vector<test::Image> protocol_images(uint32_t width, uint32_t height);

/// "1920x1080" as width and height; ends the program where the text is something else.
std::pair<uint32_t, uint32_t> parse_size(const char* text);

/// Says why on standard error and ends the program.
[[noreturn]] void fail(const std::string& message);

/// The processor by its own name, and how many of its cores this process may use.
std::string processor_name();

/// What work() took, in microseconds: until it was done, and of all processors together. The latter tells
/// more where others use the machine too.
struct Time {
  double wall_us;
  double cpu_us;
};
Time time(const std::function<void()>& work);

/// Of a set of times.
struct Summary {
  double min;
  double median;
};
Summary summarize(std::vector<double> times);

}  // namespace ccl::bench
