// SPDX-License-Identifier: LGPL-2.1-or-later
/// V. M. A. Oliveira, R. A. Lotufo, "A study on connected components labeling algorithms using GPUs",
/// SIBGRAPI 2010, section VIII: Tables I and II and figure 7, measured there on a GeForce GTX 285 and a
/// Core i5. The label equivalence of this paper is label-equivalence-2, its serial algorithm stefano-
/// bulgarelli.
///
/// The paper's hundred images are of the Berkeley Segmentation Dataset, binarized, simplified and
/// resized to 16 megapixels. Ours are crops of pictures that Debian ships, of the same 481 × 321 pixels
/// (see natural-images), enlarged by interpolation, which simplifies, and binarized by Otsu's
/// threshold.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "laboratory.h"
#include "paper_images.h"

namespace ccl::bench {

namespace {

constexpr double kPixels = 16e6;
const Contestant kSerial{.backend = Backend::kCpu, .nick = "stefano-bulgarelli"};
const Contestant kUnionFind{.backend = Backend::kCuda, .nick = "union-find"};
const Contestant kLabelEquivalence{.backend = Backend::kCuda, .nick = "label-equivalence-2"};
const Contestant kPropagation{.backend = Backend::kCuda, .nick = "neighbor-propagation"};

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double deviation(const std::vector<double>& values) {
  const double middle = mean(values);
  double sum = 0;
  for (const double value : values) {
    sum += (value - middle) * (value - middle);
  }
  return std::sqrt(sum / static_cast<double>(values.size()));
}

class Oliveira {
 public:
  explicit Oliveira(Laboratory* laboratory) : laboratory_(*laboratory) {
    laboratory->settings = {.connectivity = Connectivity::k4, .rule = {}};
  }

  Status run() {
    CCL_RETURN_IF_ERROR(run_natural_images());
    CCL_RETURN_IF_ERROR(run_spiral());
    return run_plain_images();
  }

 private:
  /// Milliseconds per image.
  using Times = std::vector<double>;

  uint32_t length() const { return laboratory_.length(4096); }

  Status run_natural_images();
  void report_table_1(const std::string& nick, const Times& times, const Times& serial, Size size,
                      double paper_ms, double paper_speedup);
  void claim_of_natural_images(const Times& serial);
  Status run_spiral();
  Status run_plain_images();

  Laboratory& laboratory_;
  Times union_find_;         ///< of natural images
  Times label_equivalence_;  ///< of natural images
};

/// Table I and figure 7.
Status Oliveira::run_natural_images() {
  if (laboratory_.options().natural.empty()) {
    laboratory_.report().leave_out("Table I and figure 7", "no --natural FOLDER, which natural-images makes");
    return {};
  }
  std::vector<test::Image> greys;
  CCL_RETURN_IF_ERROR(read_folder(laboratory_.options().natural, &greys));
  std::vector<Draw> draws;
  const double shrink = laboratory_.options().small ? 16 : 1;
  for (const test::Image& grey : greys) {
    const double width = std::ceil(std::sqrt(kPixels / shrink * grey.width / grey.height));
    const Size size{static_cast<uint32_t>(width), static_cast<uint32_t>(std::ceil(kPixels / shrink / width))};
    draws.emplace_back([&grey, size] { return enlarge_and_binarize(grey, size); });
  }
  std::vector<PaperImage> images;
  CCL_RETURN_IF_ERROR(laboratory_.prepare(draws, &images));
  Times serial;
  for (const PaperImage& image : images) {
    for (const auto& [contestant, times] : {std::pair{kSerial, &serial},
                                            {kUnionFind, &union_find_},
                                            {kLabelEquivalence, &label_equivalence_}}) {
      std::optional<Measured> measured;
      CCL_RETURN_IF_ERROR(laboratory_.measure(contestant, image, &measured));
      if (!measured) {
        continue;
      }
      times->push_back(measured->us / 1000);
      const bool is_serial = times == &serial;
      laboratory_.report().add({.table = "Figure 7",
                                .image = image.image.name,
                                .size = image.size(),
                                .backend = backend_name(contestant.backend),
                                .algorithm = contestant.nick,
                                .quantity = is_serial ? "time" : "speed-up",
                                .unit = is_serial ? "ms" : "×",
                                .ours = is_serial ? times->back() : serial.back() / times->back(),
                                .better = Better::kNeither});
    }
  }
  const Size size = images.front().size();
  report_table_1(kSerial.nick, serial, serial, size, 955, kNoFigure);
  report_table_1(kUnionFind.nick, union_find_, serial, size, 185, 5.15);
  report_table_1(kLabelEquivalence.nick, label_equivalence_, serial, size, 173, 5.78);
  claim_of_natural_images(serial);
  return {};
}

void Oliveira::report_table_1(const std::string& nick, const Times& times, const Times& serial, Size size,
                              double paper_ms, double paper_speedup) {
  if (times.empty()) {
    return;
  }
  const Figure figure{.table = "Table I",
                      .image = "natural images",
                      .size = size,
                      .backend = &times == &serial ? "cpu" : "cuda",
                      .algorithm = nick};
  const auto add = [&](const char* quantity, const char* unit, double paper, double ours, Better better) {
    Figure row = figure;
    row.quantity = quantity;
    row.unit = unit;
    row.paper = paper;
    row.ours = ours;
    row.better = better;
    laboratory_.report().add(row);
  };
  add("time", "ms", paper_ms, mean(times), Better::kLower);
  const double paper_deviation = nick == kSerial.nick ? 205 : nick == kUnionFind.nick ? 3 : 53;
  add("deviation", "ms", paper_deviation, deviation(times), Better::kNeither);
  if (&times == &serial) {
    return;
  }
  Times speedups;
  for (size_t i = 0; i < times.size(); ++i) {
    speedups.push_back(serial[i] / times[i]);
  }
  const bool is_union_find = nick == kUnionFind.nick;
  add("speed-up", "×", paper_speedup, mean(speedups), Better::kHigher);
  add("least speed-up", "×", is_union_find ? 3.43 : 1.18, *std::min_element(speedups.begin(), speedups.end()),
      Better::kHigher);
  add("most speed-up", "×", is_union_find ? 7.79 : 10.39, *std::max_element(speedups.begin(), speedups.end()),
      Better::kHigher);
}

void Oliveira::claim_of_natural_images(const Times& serial) {
  Report& report = laboratory_.report();
  if (union_find_.empty()) {
    report.claim("Union-find is 5 to 10 times as fast as the serial algorithm", std::nullopt, "not measured");
    return;
  }
  const double speedup = mean(serial) / mean(union_find_);
  report.claim("Union-find is at least 5 times as fast as the serial algorithm", speedup >= 5,
               text_of(speedup) + " times");
  if (label_equivalence_.empty()) {
    return;
  }
  const double similarity = mean(label_equivalence_) / mean(union_find_);
  report.claim("Union-find and label equivalence perform similarly (within a half)",
               similarity < 1.5 && similarity > 1 / 1.5,
               "label equivalence takes " + text_of(similarity) + " times as long");
  const double spread = deviation(union_find_) / mean(union_find_);
  const double other = deviation(label_equivalence_) / mean(label_equivalence_);
  report.claim("Label equivalence's spread over images exceeds union-find's", other > spread,
               text_of(other * 100) + " % and " + text_of(spread * 100) + " % of the mean");
}

/// Table II. Both of the paper's components are labelled: its spiral and what winds between it are
/// segments.
Status Oliveira::run_spiral() {
  laboratory_.settings.rule.foreground = Foreground::kValues;
  PaperImage image;
  CCL_RETURN_IF_ERROR(laboratory_.prepare(
      [this] {
        test::Image spiral = test::two_segments(test::spiral(length(), length()));
        spiral.name = "spiral";
        return spiral;
      },
      &image));
  std::map<std::string, double> us;
  for (const auto& [contestant, paper_ms] :
       {std::pair{kSerial, 233.0}, {kUnionFind, 48.0}, {kLabelEquivalence, 129.0}}) {
    std::optional<Measured> measured;
    CCL_RETURN_IF_ERROR(laboratory_.measure(contestant, image, &measured));
    if (measured) {
      us[contestant.nick] = measured->us;
      laboratory_.report().add({.table = "Table II",
                                .image = image.image.name,
                                .size = image.size(),
                                .backend = backend_name(contestant.backend),
                                .algorithm = contestant.nick,
                                .paper = paper_ms,
                                .ours = measured->us / 1000});
    }
  }
  laboratory_.settings.rule.foreground = Foreground::kBinary;
  const bool is_tested = us.contains(kUnionFind.nick) && us.contains(kLabelEquivalence.nick);
  const double ratio = is_tested ? us[kLabelEquivalence.nick] / us[kUnionFind.nick] : kNoFigure;
  laboratory_.report().claim(
      "A spiral is worse for label equivalence than for union-find",
      is_tested ? std::optional(ratio > 1) : std::nullopt,
      is_tested ? text_of(ratio) + " times as long; 2.7 in the paper" : "not measured");
  return {};
}

/// What section VIII says of a "blank" and a "line" image, and section V of neighbor propagation.
Status Oliveira::run_plain_images() {
  struct Shape {
    const char* name;
    bool (*is_foreground)(uint32_t x, uint32_t y);
  };
  constexpr Shape kShapes[] = {{"blank", [](uint32_t, uint32_t) { return true; }},
                               {"lines", [](uint32_t, uint32_t y) { return y % 2 == 0; }}};
  std::map<std::string, double> ms;
  for (const Shape& shape : kShapes) {
    PaperImage image;
    CCL_RETURN_IF_ERROR(laboratory_.prepare(
        [&] {
          test::Image drawn = test::drawn("", length(), length(), shape.is_foreground);
          drawn.name = shape.name;
          return drawn;
        },
        &image));
    for (const Contestant& contestant : {kUnionFind, kLabelEquivalence, kPropagation}) {
      std::optional<Measured> measured;
      CCL_RETURN_IF_ERROR(laboratory_.measure(contestant, image, &measured));
      if (measured) {
        ms[contestant.nick + " " + shape.name] = measured->us / 1000;
        laboratory_.report().add({.table = "Section VIII",
                                  .image = shape.name,
                                  .size = image.size(),
                                  .backend = "cuda",
                                  .algorithm = contestant.nick,
                                  .ours = measured->us / 1000});
      }
    }
  }
  const auto claim = [&](const std::string& text, const std::string& key, double other, double factor) {
    const bool is_tested = ms.contains(key) && !std::isnan(other);
    laboratory_.report().claim(
        text, is_tested ? std::optional(ms[key] > factor * other) : std::nullopt,
        is_tested ? text_of(ms[key]) + " ms, against " + text_of(other) + " ms" : "not measured");
  };
  const double union_find = union_find_.empty() ? kNoFigure : mean(union_find_);
  const double label_equivalence = label_equivalence_.empty() ? kNoFigure : mean(label_equivalence_);
  claim("A blank image is worse for union-find than natural ones are", kUnionFind.nick + " blank", union_find,
        1);
  claim("A blank image is worse for label equivalence than natural ones are",
        kLabelEquivalence.nick + " blank", label_equivalence, 1);
  claim("Horizontal lines are worse for label equivalence than natural images are",
        kLabelEquivalence.nick + " lines", label_equivalence, 1);
  const std::string blank = kUnionFind.nick + " blank";
  claim("Neighbor propagation takes much longer than union-find (a blank image, 10 times)",
        kPropagation.nick + " blank", ms.contains(blank) ? ms[blank] : kNoFigure, 10);
  return {};
}

}  // namespace

Status run_oliveira(Laboratory* laboratory) {
  return Oliveira(laboratory).run();
}

}  // namespace ccl::bench
