// SPDX-License-Identifier: LGPL-2.1-or-later
/// The images that labelers are timed on.
///
/// `g<granularity>_d<density>` is noise as in Cabaret, Lacassagne, Etiemble 2017: blocks of g × g pixels,
/// each foreground with a chance of d percent, from one MT19937. The others are named by their shape.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "ccl/status.h"
#include "images.h"
#include "options.h"

namespace ccl::bench {

/// The names that `set` stands for: "short" and "all" are many, any other name is its own.
std::vector<std::string> image_names(const std::string& set);

/// Draws the images of one size that `options` ask for. The names have no size in them.
Status make_images(const Options& options, Size size, std::vector<test::Image>* images);

/// Calls draw_one(i) for each i below `n_images`, on all processors: the device waits meanwhile. The first
/// error.
Status draw_all(size_t n_images, const std::function<Status(size_t)>& draw_one);

/// Writes each image to `folder`, as WIDTHxHEIGHT-NAME.pgm.
Status dump_images(const std::string& folder, const std::vector<test::Image>& images);

}  // namespace ccl::bench
