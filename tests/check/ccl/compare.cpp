// SPDX-License-Identifier: LGPL-2.1-or-later
#include "compare.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fixture.h"

namespace ccl::test {

namespace {

/// The float next to the value, or one of its two neighbours.
bool is_rounded(float got, const Real& want) {
  constexpr long double kExactFloats = 1 << std::numeric_limits<float>::digits;
  const auto nearest = static_cast<float>(want.value);
  if (want.is_integer && std::fabs(want.value) <= kExactFloats) {
    return got == nearest;
  }
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  return got >= std::nextafter(nearest, -kInfinity) && got <= std::nextafter(nearest, kInfinity);
}

/// Collects the fields in which two records differ.
class Differences {
 public:
  template <typename Integer>
  void integer(const char* field, Integer got, Integer want) {
    if (got != want) {
      text_ +=
          std::string(" ") + field + " " + std::to_string(got) + " instead of " + std::to_string(want) + ";";
    }
  }

  void real(const char* field, float got, const Real& want) {
    if (!is_rounded(got, want)) {
      text_ += std::string(" ") + field + " " + testing::PrintToString(got) + " instead of " +
               testing::PrintToString(static_cast<double>(want.value)) + ";";
    }
  }

  /// Empty if there are none.
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

Differences compare(const CclComponent& got, const ExpectedRecord& want) {
  const CclComponent& integers = want.integers;
  Differences differences;
  differences.integer("label", got.label, integers.label);
  differences.integer("id", got.id, integers.id);
  differences.integer("area", got.area, integers.area);
  differences.integer("x", got.x, integers.x);
  differences.integer("y", got.y, integers.y);
  differences.integer("width", got.width, integers.width);
  differences.integer("height", got.height, integers.height);
  differences.real("cx", got.cx, want.cx);
  differences.real("cy", got.cy, want.cy);
  differences.real("mxx", got.mxx, want.mxx);
  differences.real("mxy", got.mxy, want.mxy);
  differences.real("myy", got.myy, want.myy);
  differences.integer("perimeter", got.perimeter, integers.perimeter);
  differences.integer("euler", got.euler, integers.euler);
  differences.integer("flags", got.flags, integers.flags);
  differences.integer("value", got.value, integers.value);
  differences.integer("age", got.age, integers.age);
  return differences;
}

/// The image's values, for those small enough to be read.
std::string show(const Image& image) {
  constexpr uint32_t kReadable = 20;
  if (image.width > kReadable || image.height > kReadable) {
    return "";
  }
  std::string text;
  for (uint32_t y = 0; y < image.height; ++y) {
    text += "\n  ";
    for (uint32_t x = 0; x < image.width; ++x) {
      text += std::to_string(image.at(x, y)) + " ";
    }
  }
  return text;
}

}  // namespace

testing::AssertionResult same_map(std::span<const uint32_t> got, std::span<const uint32_t> want,
                                  const Image& image, const std::string& what) {
  if (got.size() != want.size()) {
    return testing::AssertionFailure()
           << image.name << ": " << what << " of " << got.size() << " pixels instead of " << want.size();
  }
  const auto [difference, wanted] = std::mismatch(got.begin(), got.end(), want.begin());
  if (difference == got.end()) {
    return testing::AssertionSuccess();
  }
  const auto at = static_cast<size_t>(difference - got.begin());
  return testing::AssertionFailure() << image.name << ": " << what << " is " << *difference << " instead of "
                                     << *wanted << " at x " << at % image.width << ", y " << at / image.width
                                     << show(image);
}

testing::AssertionResult same_records(std::span<const CclComponent> got,
                                      const std::vector<ExpectedRecord>& want) {
  if (got.size() != want.size()) {
    return testing::AssertionFailure() << got.size() << " records instead of " << want.size();
  }
  for (size_t i = 0; i < got.size(); ++i) {
    if (const Differences differences = compare(got[i], want[i]); !differences.text().empty()) {
      return testing::AssertionFailure() << "record " << i << ":" << differences.text();
    }
  }
  return testing::AssertionSuccess();
}

testing::AssertionResult same_counts(const FrameCounts& got, FrameCounts want) {
  want.n_iterations = got.n_iterations;
  return got == want ? testing::AssertionSuccess()
                     : testing::AssertionFailure()
                           << testing::PrintToString(got) << " instead of " << testing::PrintToString(want);
}

testing::AssertionResult same_frame(const Outcome& got, const ExpectedFrame& want, const FrameCounts& counts,
                                    const std::vector<ExpectedRecord>& records, const Image& image) {
  testing::AssertionResult same = same_map(got.root_map, want.root_map, image, "root");
  same = same ? same_map(got.labels, want.labels, image, "label") : same;
  same = same ? same_counts(got.counts, counts) << image.name : same;
  return same ? same_records(got.records, records) << image.name : same;
}

}  // namespace ccl::test
