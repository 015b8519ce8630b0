// SPDX-License-Identifier: LGPL-2.1-or-later
/// The labelling stage alone, which is what the papers time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ccl/config.h"
#include "ccl/status.h"
#include "common.h"
#include "images.h"
#include "measurement.h"

namespace ccl::host {
class ThreadPool;
}  // namespace ccl::host

namespace ccl::bench {

/// A part of the labelling that can be timed on its own.
struct Step {
  std::string kernel;
  float us = 0;  ///< median
};

struct Labelling {
  std::vector<float> us;         ///< of every repetition
  uint32_t n_iterations = 0;     ///< 0: the labeler does not iterate
  uint64_t root_map_digest = 0;  ///< digest_of() the last root map
  uint64_t sizes_digest = 0;  ///< digest_of() the sizes of components at their first pixels; 0: not counted
};

/// A labeler with a frame's memory.
class LabelSubject {
 public:
  virtual ~LabelSubject() = default;

  /// `image` must stay as it is until the next one is loaded.
  virtual Status load(const test::Image& image, const ForegroundRule& rule) = 0;
  virtual Status label(Connectivity connectivity, const Repetitions& repetitions, Labelling* labelling) = 0;
  /// The time of each kernel, in the order they run; none if they cannot be timed separately.
  virtual Status time_steps(Connectivity, const Repetitions&, std::vector<Step>*) { return {}; }
};

/// A labeler of the CPU by its nick; `neighbor-propagation/ep` and `/f` are the other two forms of that
/// one. kUnsupported where there is no such labeler. `pool` must outlive the subject.
Status make_host_label_subject(const std::string& nick, Size size, host::ThreadPool& pool,
                               std::unique_ptr<LabelSubject>* subject);

}  // namespace ccl::bench
