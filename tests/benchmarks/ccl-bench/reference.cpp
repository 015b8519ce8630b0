// SPDX-License-Identifier: LGPL-2.1-or-later
#include "reference.h"

#include <algorithm>
#include <memory>

#include "ccl/engine.h"
#include "subject.h"

namespace ccl::bench {

Status References::compute(const Options& options, const std::vector<test::Image>& images) {
  digests_.assign(images.size(), {});
  most_components_ = 0;
  for (const Output output : options.outputs) {
    CCL_RETURN_IF_ERROR(compute(options, images, output));
  }
  return {};
}

Status References::compute(const Options& options, const std::vector<test::Image>& images, Output output) {
  const uint32_t width = images.front().width;
  const uint32_t height = images.front().height;
  std::unique_ptr<Subject> subject;
  CCL_RETURN_IF_ERROR(make_engine_subject(
      make_host_engine(),
      {.width = width, .height = height, .output = output, .layout = {}, .max_components = width * height},
      &subject));
  for (size_t i = 0; i < images.size(); ++i) {
    CCL_RETURN_IF_ERROR(subject->load(images[i]));
    for (const uint32_t features : options.features) {
      const Settings settings{.connectivity = options.connectivity,
                              .rule = {},
                              .separation = options.separation,
                              .features = features};
      Digests& digests = digests_[i][{output, features}];
      CCL_RETURN_IF_ERROR(subject->digests(settings, true, &digests));
      most_components_ = std::max(most_components_, digests.counts.n_components);
    }
  }
  return {};
}

Status References::compare(size_t image, Output output, uint32_t features, const Digests& got) const {
  const Digests& want = digests_[image].at({output, features});
  std::string different;
  const auto compare = [&different](bool is_same, const char* what) {
    different += is_same ? "" : std::string(different.empty() ? "" : ", ") + what;
  };
  FrameCounts want_counts = want.counts;
  want_counts.n_iterations = got.counts.n_iterations;  // each labeler has its own
  compare(got.counts == want_counts, "counts");
  compare(got.records == want.records, "records");
  compare(got.pixels == want.pixels, "output");
  compare(got.root_map == 0 || got.root_map == want.root_map, "root map");
  compare(got.labels == 0 || got.labels == want.labels, "labels");
  if (different.empty()) {
    return {};
  }
  return {StatusCode::kDeviceError, "not what the host engine gives: " + different + "; " +
                                        std::to_string(got.counts.n_components) + " components instead of " +
                                        std::to_string(want.counts.n_components)};
}

}  // namespace ccl::bench
