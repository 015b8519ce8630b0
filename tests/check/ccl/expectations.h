// SPDX-License-Identifier: LGPL-2.1-or-later
/// What the oracle expects of frames that several labelers are tested with one after the other, found once
/// for all.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "images.h"
#include "oracle.h"

namespace ccl::test {

class Expectations {
 public:
  /// What expect_labels() returns. Valid until another test begins: the same test of another labeler is no
  /// other.
  const ExpectedFrame& labels(const Image& image, const Settings& settings);

  /// What expect_records() returns for labels(); valid as long.
  const std::vector<ExpectedRecord>& records(const Image& image, const Settings& settings,
                                             uint32_t max_components);

 private:
  /// Size and pixels, without what lies between the rows.
  using Pixels = std::tuple<uint32_t, uint32_t, std::vector<uint8_t>>;

  struct Labels {
    Connectivity connectivity;
    ForegroundRule rule;
    Separation separation;
    uint32_t min_area;  ///< matters with separation
    ExpectedFrame frame;
  };

  struct Records {
    Settings settings;
    uint32_t max_components;
    std::vector<ExpectedRecord> records;
  };

  struct Expected {
    std::list<Labels> labels;
    std::list<Records> records;
  };

  Expected& expected(const Image& image);

  std::string test_;  ///< that all is for
  std::map<Pixels, Expected> expected_;
};

}  // namespace ccl::test
