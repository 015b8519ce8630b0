// SPDX-License-Identifier: LGPL-2.1-or-later
#include "expectations.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace ccl::test {

namespace {

/// The running test's name without that of its parameter.
std::string test_name() {
  const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
  const std::string name = test.name();
  return std::string(test.test_suite_name()) + "." + name.substr(0, name.find('/'));
}

std::vector<uint8_t> pixels_of(const Image& image) {
  std::vector<uint8_t> pixels;
  pixels.reserve(size_t{image.width} * image.height);
  for (uint32_t y = 0; y < image.height; ++y) {
    const uint8_t* row = image.pixels() + y * image.stride;
    pixels.insert(pixels.end(), row, row + image.width);
  }
  return pixels;
}

}  // namespace

Expectations::Expected& Expectations::expected(const Image& image) {
  if (std::string test = test_name(); test != test_) {
    test_ = std::move(test);
    expected_.clear();
  }
  return expected_[{image.width, image.height, pixels_of(image)}];
}

const ExpectedFrame& Expectations::labels(const Image& image, const Settings& settings) {
  std::list<Labels>& all = expected(image).labels;
  const auto found = std::find_if(all.begin(), all.end(), [&](const Labels& known) {
    return known.connectivity == settings.connectivity && known.rule == settings.rule &&
           known.separation == settings.separation &&
           (!settings.separation.is_active() || known.min_area == settings.filter.min_area);
  });
  return found != all.end()
             ? found->frame
             : all.emplace_back(Labels{settings.connectivity, settings.rule, settings.separation,
                                       settings.filter.min_area, expect_labels(image, settings)})
                   .frame;
}

const std::vector<ExpectedRecord>& Expectations::records(const Image& image, const Settings& settings,
                                                         uint32_t max_components) {
  std::list<Records>& all = expected(image).records;
  const auto found = std::find_if(all.begin(), all.end(), [&](const Records& known) {
    return known.settings == settings && known.max_components == max_components;
  });
  return found != all.end()
             ? found->records
             : all.emplace_back(Records{settings, max_components,
                                        expect_records(labels(image, settings), settings, max_components)})
                   .records;
}

}  // namespace ccl::test
