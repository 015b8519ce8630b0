// SPDX-License-Identifier: LGPL-2.1-or-later
/// What is timed: an algorithm made ready for frames of one size and one output.
#pragma once

#include <memory>

#include "ccl/config.h"
#include "ccl/engine.h"
#include "ccl/status.h"
#include "digest.h"
#include "images.h"
#include "measurement.h"
#include "options.h"

namespace ccl::bench {

class Subject {
 public:
  virtual ~Subject() = default;

  /// Puts an image where frames are read from, and poisons all results.
  virtual Status load(const test::Image& image) = 0;

  /// Runs frames of the loaded image and returns the time of each.
  virtual Status time(const Settings& settings, const Repetitions& repetitions, Times* times) = 0;

  /// The results of the last frame; root map and labels only `with_maps`.
  virtual Status digests(const Settings& settings, bool with_maps, Digests* digests) = 0;
};

/// Frames through the public engine, from and to host memory: Mode::kEngine only.
Status make_engine_subject(std::unique_ptr<Engine> engine, const Config& config,
                           std::unique_ptr<Subject>* subject);

}  // namespace ccl::bench
