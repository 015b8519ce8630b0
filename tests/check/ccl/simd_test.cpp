// SPDX-License-Identifier: LGPL-2.1-or-later
/// Compares the row kernels of every instruction set with plain loops, and with the portable ones, byte for
/// byte.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <vector>

#include "forced_level.h"
#include "host/runs/simd/kernels.h"

namespace ccl::test {

namespace {

using host::SimdLevel;

constexpr std::array<uint32_t, 15> kWidths = {1, 2, 7, 8, 31, 33, 63, 64, 65, 127, 128, 130, 192, 321, 1000};

/// A row as bits and as lists of runs, with the padding that kernels need.
struct Row {
  explicit Row(uint32_t width)
      : foreground(host::count_words(width)),
        starts(host::count_words(width)),
        begin(width + 2 * host::kListPadding),
        end(width + 2 * host::kListPadding) {}

  std::vector<uint64_t> foreground, starts;
  std::vector<uint16_t> begin, end;
  uint32_t n_runs = 0;
};

Row find_runs(const host::Kernels& k, const std::vector<uint8_t>& pixels, const ForegroundRule& rule) {
  const auto width = static_cast<uint32_t>(pixels.size());
  Row row(width);
  k.pack_row({.pixels = pixels.data(),
              .width = width,
              .rule = rule,
              .bits = {row.foreground.data(), row.starts.data()}});
  row.n_runs = k.list_runs({.bits = {row.foreground.data(), row.starts.data()},
                            .width = width,
                            .begin = row.begin.data(),
                            .end = row.end.data()});
  row.begin.resize(row.n_runs);
  row.end.resize(row.n_runs);
  return row;
}

/// A row of few values, with runs of random lengths.
std::vector<uint8_t> random_row(std::mt19937* random, uint32_t width) {
  constexpr std::array<uint8_t, 6> kLevels = {0, 0, 1, 127, 128, 255};
  const uint32_t granularity = 1u << (*random)() % 8;
  std::vector<uint8_t> pixels(width);
  uint8_t value = 0;
  for (uint8_t& pixel : pixels) {
    value = (*random)() % granularity == 0 ? kLevels[(*random)() % kLevels.size()] : value;
    pixel = value;
  }
  return pixels;
}

constexpr std::array<ForegroundRule, 6> kRules = {ForegroundRule{},
                                                  {.threshold = 0},
                                                  {.threshold = 128},
                                                  {.threshold = 255, .invert = true},
                                                  {.threshold = 127, .invert = true},
                                                  {.foreground = Foreground::kValues}};

class SimdTest : public testing::TestWithParam<SimdLevel> {
 protected:
  void SetUp() override {
    if (!host::is_supported(GetParam())) {
      GTEST_SKIP() << "this processor or build does not support " << host::simd_name(GetParam());
    }
  }

  const host::Kernels& tested() const { return host::kernels(GetParam()); }
  std::mt19937 random_{20240607};
};

/// Compares bits and runs with a plain loop over the row.
TEST_P(SimdTest, PacksAndListsWhatPixelsAre) {
  for (const uint32_t width : kWidths) {
    for (uint32_t i = 0; i < 60; ++i) {
      const std::vector<uint8_t> pixels = random_row(&random_, width);
      for (const ForegroundRule& rule : kRules) {
        const Row row = find_runs(tested(), pixels, rule);
        Row want(width);
        std::vector<uint16_t> begin, end;
        uint8_t before = 0;
        for (uint32_t x = 0; x <= width; ++x) {
          const uint8_t segment = x < width ? rule.segment(pixels[x]) : uint8_t{0};
          if (segment != before && before != 0) {
            end.push_back(static_cast<uint16_t>(x));
          }
          if (segment != 0) {
            want.foreground[x / 64] |= uint64_t{1} << x % 64;
          }
          if (segment != before && segment != 0) {
            want.starts[x / 64] |= uint64_t{1} << x % 64;
            begin.push_back(static_cast<uint16_t>(x));
          }
          before = segment;
        }
        ASSERT_EQ(row.foreground, want.foreground) << width;
        ASSERT_EQ(row.starts, want.starts) << width;
        ASSERT_EQ(row.begin, begin) << width;
        ASSERT_EQ(row.end, end) << width;
      }
    }
  }
}

/// What linking two rows finds: parents of the runs of both, and their shapes.
using Links = std::pair<std::vector<uint32_t>, std::vector<uint32_t>>;

Links link(const host::Kernels& k, const Row& above, const Row& row, Connectivity connectivity,
           bool with_shapes) {
  std::vector<uint16_t> begin = above.begin, end = above.end;
  begin.insert(begin.end(), row.begin.begin(), row.begin.end());
  end.insert(end.end(), row.end.begin(), row.end.end());
  Links links = {std::vector<uint32_t>(begin.size()), std::vector<uint32_t>(begin.size())};
  std::iota(links.first.begin(), links.first.end(), 0u);
  k.link_rows({.above = {above.foreground.data(), above.starts.data()},
               .row = {row.foreground.data(), row.starts.data()},
               .n_words = static_cast<uint32_t>(row.foreground.size()),
               .first_above = 0,
               .first_run = above.n_runs,
               .begin = begin.data(),
               .end = end.data(),
               .parent = links.first.data(),
               .shape = links.second.data()},
              connectivity, with_shapes);
  return links;
}

TEST_P(SimdTest, LinksLikePortable) {
  for (const uint32_t width : kWidths) {
    for (uint32_t i = 0; i < 60; ++i) {
      const Row above = find_runs(tested(), random_row(&random_, width), {});
      const Row row = find_runs(tested(), random_row(&random_, width), {});
      for (const Connectivity connectivity : {Connectivity::k4, Connectivity::k8}) {
        for (const bool with_shapes : {false, true}) {
          ASSERT_EQ(link(tested(), above, row, connectivity, with_shapes),
                    link(host::kPortableKernels, above, row, connectivity, with_shapes));
        }
      }
    }
  }
}

/// Two rows as a pair, and the results of all kernels for pairs.
struct Pair {
  std::vector<uint64_t> starts;
  std::vector<uint32_t> n_pixels, n_upper, column_sums, labels, shapes;
  uint32_t n_runs = 0;

  bool operator==(const Pair&) const = default;
};

Pair find_pair(const host::Kernels& k, const Row& upper, const Row& lower) {
  const auto n_words = static_cast<uint32_t>(upper.foreground.size());
  Pair pair;
  pair.starts.resize(n_words);
  pair.n_runs = k.join_rows({upper.foreground.data(), lower.foreground.data(), n_words, pair.starts.data()});
  pair.n_pixels.resize(pair.n_runs);
  pair.n_upper.resize(pair.n_runs);
  k.count_pixels({upper.foreground.data(), lower.foreground.data(), pair.starts.data(), n_words,
                  pair.n_pixels.data(), pair.n_upper.data()});
  std::vector<uint32_t> n_pixels(pair.n_runs), n_upper(pair.n_runs);
  pair.column_sums.resize(pair.n_runs);
  k.sum_runs({upper.foreground.data(), lower.foreground.data(), pair.starts.data(), n_words, n_pixels.data(),
              n_upper.data(), pair.column_sums.data()});
  EXPECT_EQ(n_pixels, pair.n_pixels);
  EXPECT_EQ(n_upper, pair.n_upper);
  std::vector<uint32_t> numbers(pair.n_runs);
  std::iota(numbers.begin(), numbers.end(), 100u);
  pair.labels.resize(lower.n_runs);
  k.list_labels({{lower.foreground.data(), pair.starts.data()}, n_words, numbers.data(), pair.labels.data()});
  pair.shapes.resize(lower.n_runs);
  k.shape_runs({upper.foreground.data(), lower.foreground.data(), n_words, pair.shapes.data()});
  return pair;
}

/// Parents of the runs of two pairs: `above`, whose lower row is `lower`, and one whose upper row is `row`.
std::vector<uint32_t> link_pairs(const host::Kernels& k, const Pair& above, const Row& lower, const Row& row,
                                 const std::vector<uint64_t>& starts, uint32_t n_runs) {
  std::vector<uint32_t> parent(above.n_runs + n_runs);
  std::iota(parent.begin(), parent.end(), 0u);
  k.link_pairs({.above = {lower.foreground.data(), above.starts.data()},
                .row = {row.foreground.data(), starts.data()},
                .n_words = static_cast<uint32_t>(row.foreground.size()),
                .first_above = 0,
                .first_run = above.n_runs,
                .begin = nullptr,
                .end = nullptr,
                .parent = parent.data(),
                .shape = nullptr});
  return parent;
}

TEST_P(SimdTest, PairsLikePortable) {
  for (const uint32_t width : kWidths) {
    for (uint32_t i = 0; i < 60; ++i) {
      const Row upper = find_runs(tested(), random_row(&random_, width), {});
      const Row lower = find_runs(tested(), random_row(&random_, width), {});
      const Pair pair = find_pair(tested(), upper, lower);
      ASSERT_EQ(pair, find_pair(host::kPortableKernels, upper, lower)) << width;
      const Row row = find_runs(tested(), random_row(&random_, width), {});
      ASSERT_EQ(link_pairs(tested(), pair, lower, row, row.starts, row.n_runs),
                link_pairs(host::kPortableKernels, pair, lower, row, row.starts, row.n_runs))
          << width;
    }
  }
}

/// Compares pairs with a plain loop over both rows.
TEST_P(SimdTest, PairsMatchPixels) {
  for (const uint32_t width : kWidths) {
    for (uint32_t i = 0; i < 60; ++i) {
      const std::vector<uint8_t> upper = random_row(&random_, width);
      const std::vector<uint8_t> lower = random_row(&random_, width);
      Pair want;
      for (uint32_t x = 0; x < width; ++x) {
        if (upper[x] == 0 && lower[x] == 0) {
          continue;
        }
        if (x == 0 || (upper[x - 1] == 0 && lower[x - 1] == 0)) {
          want.n_pixels.push_back(0);
          want.n_upper.push_back(0);
          want.column_sums.push_back(0);
        }
        const uint32_t n_upper = upper[x] != 0 ? 1 : 0;
        const uint32_t n = n_upper + (lower[x] != 0 ? 1 : 0);
        want.n_pixels.back() += n;
        want.n_upper.back() += n_upper;
        want.column_sums.back() += n * x;
      }
      const Pair got = find_pair(tested(), find_runs(tested(), upper, {}), find_runs(tested(), lower, {}));
      ASSERT_EQ(got.n_pixels, want.n_pixels) << width;
      ASSERT_EQ(got.n_upper, want.n_upper) << width;
      ASSERT_EQ(got.column_sums, want.column_sums) << width;
    }
  }
}

/// Runs of two pairs are linked if and only if they have touching pixels.
TEST_P(SimdTest, LinksOfPairsMatchPixels) {
  for (const uint32_t width : kWidths) {
    for (uint32_t i = 0; i < 60; ++i) {
      std::array<std::vector<uint8_t>, 4> pixels;
      std::array<Row, 4> rows{Row(width), Row(width), Row(width), Row(width)};
      for (uint32_t y = 0; y < pixels.size(); ++y) {
        pixels[y] = random_row(&random_, width);
        rows[y] = find_runs(tested(), pixels[y], {});
      }
      const Pair above = find_pair(tested(), rows[0], rows[1]);
      const Pair below = find_pair(tested(), rows[2], rows[3]);
      std::vector<uint32_t> got = link_pairs(tested(), above, rows[1], rows[2], below.starts, below.n_runs);
      std::vector<uint32_t> want(got.size());
      std::iota(want.begin(), want.end(), 0u);
      // The run of each column, counted from 1, for either pair.
      std::vector<uint32_t> run_above(width + 1), run_below(width + 1);
      const auto find_columns = [&](const std::vector<uint8_t>& a, const std::vector<uint8_t>& b,
                                    std::vector<uint32_t>* runs) {
        uint32_t n_runs = 0;
        bool was_in = false;
        for (uint32_t x = 0; x < width; ++x) {
          const bool is_in = a[x] != 0 || b[x] != 0;
          n_runs += is_in && !was_in ? 1 : 0;
          (*runs)[x] = n_runs;
          was_in = is_in;
        }
      };
      find_columns(pixels[0], pixels[1], &run_above);
      find_columns(pixels[2], pixels[3], &run_below);
      const auto root_of = [](std::vector<uint32_t>& parents, uint32_t node) {
        while (parents[node] != node) {
          node = parents[node];
        }
        return node;
      };
      for (uint32_t x = 0; x < width; ++x) {
        for (uint32_t other = x == 0 ? 0 : x - 1; other <= x + 1 && other < width; ++other) {
          if (pixels[1][x] != 0 && pixels[2][other] != 0) {
            const uint32_t a = root_of(want, run_above[x] - 1);
            const uint32_t b = root_of(want, above.n_runs + run_below[other] - 1);
            want[std::max(a, b)] = std::min(a, b);
          }
        }
      }
      for (uint32_t node = 0; node < got.size(); ++node) {
        ASSERT_EQ(root_of(got, node), root_of(want, node)) << width;
      }
    }
  }
}

/// Shapes that are found while linking equal those that are found from bits.
TEST_P(SimdTest, ShapesFromBitsMatchLinks) {
  for (const uint32_t width : kWidths) {
    for (uint32_t i = 0; i < 60; ++i) {
      const Row above = find_runs(tested(), random_row(&random_, width), {});
      const Row row = find_runs(tested(), random_row(&random_, width), {});
      std::vector<uint32_t> shape = link(tested(), above, row, Connectivity::k8, true).second;
      shape.erase(shape.begin(), shape.begin() + above.n_runs);
      ASSERT_EQ(find_pair(tested(), above, row).shapes, shape) << width;
    }
  }
}

/// Writes a row at every alignment that streaming allows, and checks that nothing else is written.
template <typename Pixel, typename Expand>
void expect_expanded(const Row& row, uint32_t width, const std::vector<uint32_t>& values, Expand expand) {
  constexpr auto kUntouched = static_cast<Pixel>(0xa5a5a5a5);
  constexpr uint32_t kGuard = 64;
  std::vector<Pixel> want(width, static_cast<Pixel>(7));
  for (uint32_t run = 0; run < row.n_runs; ++run) {
    std::fill(want.begin() + row.begin[run], want.begin() + row.end[run],
              static_cast<Pixel>(values[host::kListPadding + run]));
  }
  for (uint32_t offset = 0; offset < 64 / sizeof(Pixel); offset += host::kStreamAlignment / sizeof(Pixel)) {
    std::vector<Pixel> memory(kGuard + offset + width + kGuard, kUntouched);
    // Vectors have the default alignment of 16 bytes, which is all that streaming needs.
    Pixel* out = memory.data() + kGuard + offset;
    expand({.bits = {row.foreground.data(), row.starts.data()},
            .width = width,
            .values = values.data() + host::kListPadding,
            .background = 7},
           out);
    ASSERT_EQ(std::vector<Pixel>(out, out + width), want);
    std::fill_n(out, width, kUntouched);
    ASSERT_EQ(memory, std::vector<Pixel>(memory.size(), kUntouched)) << "written outside the row";
  }
}

TEST_P(SimdTest, ExpandsRunsToPixels) {
  for (const uint32_t width : kWidths) {
    for (uint32_t i = 0; i < 20; ++i) {
      const std::vector<uint8_t> pixels = random_row(&random_, width);
      for (const ForegroundRule& rule : kRules) {
        const Row row = find_runs(host::kPortableKernels, pixels, rule);
        std::vector<uint32_t> values(width + 2 * host::kListPadding);
        for (uint32_t& value : values) {
          value = random_();
        }
        expect_expanded<uint32_t>(row, width, values, tested().expand_32);
        expect_expanded<uint32_t>(row, width, values, tested().stream_32);
        for (uint32_t& value : values) {
          value &= 0xffff;
        }
        expect_expanded<uint16_t>(row, width, values, tested().expand_16);
        for (uint32_t& value : values) {
          value &= 0xff;
        }
        expect_expanded<uint8_t>(row, width, values, tested().expand_8);
      }
    }
  }
}

std::string level_name(const testing::TestParamInfo<SimdLevel>& info) {
  return host::simd_name(info.param);
}

INSTANTIATE_TEST_SUITE_P(Levels, SimdTest, testing::ValuesIn(host::kSimdLevels), level_name);

TEST(SimdChoice, IsLimited) {
  for (const SimdLevel level : host::kSimdLevels) {
    const ForcedLevel forced(level);
    EXPECT_EQ(host::choose_simd_level() == level, host::is_supported(level)) << host::simd_name(level);
    EXPECT_LE(host::choose_simd_level(), level);
  }
}

TEST(SimdChoice, IsTheBestOneWithoutALimit) {
  const SimdLevel best = host::choose_simd_level();
  EXPECT_TRUE(host::is_supported(best));
  for (const SimdLevel level : host::kSimdLevels) {
    EXPECT_TRUE(level <= best || !host::is_supported(level)) << host::simd_name(level);
  }
  { const ForcedLevel forced(SimdLevel::kPortable); }
  EXPECT_EQ(host::choose_simd_level(), best);
}

}  // namespace

}  // namespace ccl::test
