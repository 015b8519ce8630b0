// SPDX-License-Identifier: LGPL-2.1-or-later
/// Base of tests that compare every labeler, in each of its cases, with the oracle.
#pragma once

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "compare.h"
#include "expectations.h"
#include "fixture.h"
#include "images.h"
#include "oracle.h"

namespace ccl::test {

class ExactTest : public testing::TestWithParam<LabelerCase> {
 protected:
  explicit ExactTest(uint32_t max_components) {
    runner_.config.algorithm = GetParam().labeler.algorithm;
    runner_.config.max_components = max_components;
  }

  bool is_binary() const { return GetParam().foreground == Foreground::kBinary; }

  /// Whether the frame's count, root map and labels are the expected ones.
  testing::AssertionResult has_labels(const ExpectedFrame& want, const Image& image,
                                      const Settings& settings) {
    return has_labels(runner_.run(image, settings), want, image);
  }
  static testing::AssertionResult has_labels(const Outcome& got, const ExpectedFrame& want,
                                             const Image& image) {
    if (got.counts.n_labels != want.n_labels) {
      return testing::AssertionFailure()
             << image.name << ": " << got.counts.n_labels << " components instead of " << want.n_labels;
    }
    const testing::AssertionResult roots = same_map(got.root_map, want.root_map, image, "root");
    return roots ? same_map(got.labels, want.labels, image, "label") : roots;
  }

  testing::AssertionResult has_labels(const Image& image, const Settings& settings) {
    return has_labels(expectations().labels(image, settings), image, settings);
  }

  /// Whether the frame's counts and records are the expected ones.
  testing::AssertionResult has_records(const ExpectedFrame& want,
                                       const std::vector<ExpectedRecord>& want_records, const Image& image,
                                       const Settings& settings) {
    return has_records(runner_.run(image, settings), want, want_records, image, settings);
  }
  testing::AssertionResult has_records(const Outcome& got, const ExpectedFrame& want,
                                       const std::vector<ExpectedRecord>& want_records, const Image& image,
                                       const Settings& settings) const {
    const FrameCounts want_counts = expect_counts(want, settings);
    if (got.overflow != (want_counts.n_components > runner_.config.max_components)) {
      return testing::AssertionFailure() << image.name << ": overflow " << got.overflow;
    }
    const testing::AssertionResult same = same_counts(got.counts, want_counts) << image.name;
    return same ? same_records(got.records, want_records) << image.name : same;
  }
  testing::AssertionResult has_records(const Image& image, const Settings& settings) {
    return has_records(expectations().labels(image, settings),
                       expectations().records(image, settings, runner_.config.max_components), image,
                       settings);
  }

  /// Of all labelers' tests of this program.
  static Expectations& expectations() {
    static Expectations expectations;
    return expectations;
  }

  FrameRunner runner_;
};

}  // namespace ccl::test
