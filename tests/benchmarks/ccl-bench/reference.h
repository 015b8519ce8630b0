// SPDX-License-Identifier: LGPL-2.1-or-later
/// What every image must come to, from the host engine.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ccl/status.h"
#include "digest.h"
#include "images.h"
#include "options.h"

namespace ccl::bench {

class References {
 public:
  /// Runs the host engine on images of one size, with every output and every set of features asked for.
  Status compute(const Options& options, const std::vector<test::Image>& images);

  /// Ok if `got` is what images[image] must come to, else which part of it is not. Maps of 0 were not asked
  /// for and are not compared.
  Status compare(size_t image, Output output, uint32_t features, const Digests& got) const;

  /// What all outputs and features of images[image] have in common: labels and their number.
  const Digests& labelling(size_t image) const { return digests_[image].begin()->second; }

  /// The most components that one of the images has.
  uint32_t most_components() const { return most_components_; }

 private:
  Status compute(const Options& options, const std::vector<test::Image>& images, Output output);

  std::vector<std::map<std::pair<Output, uint32_t>, Digests>> digests_;  ///< per image
  uint32_t most_components_ = 0;
};

}  // namespace ccl::bench
