// SPDX-License-Identifier: LGPL-2.1-or-later
/// O. Šťava, B. Beneš, "Connected component labeling in CUDA", GPU Computing Gems Emerald Edition,
/// 2011, section 35.4: figures 35.11 and 35.12, measured there on a GeForce GTX 480 and a Core 2 Duo.
/// Segments of 8-bit values, 8-connected. The chapter's own algorithm is tile-merge, Wu et al.'s is
/// sauf and Hawick et al.'s label-equivalence-2. Its images are not published; ours are of its
/// description, and those of its example (a) are synthesised.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "laboratory.h"
#include "paper_images.h"

namespace ccl::bench {

namespace {

constexpr uint32_t kSeed = 1;
constexpr uint32_t kSlices = 100;
const Contestant kWu{.backend = Backend::kCpu, .nick = "sauf"};
const Contestant kHawick{.backend = Backend::kCuda, .nick = "label-equivalence-2"};
const Contestant kTileMerge{.backend = Backend::kCuda, .nick = "tile-merge"};
const Contestant kDlp{.backend = Backend::kCuda, .nick = "dlp"};
constexpr size_t kKernels = 4;

/// Figures 35.11 and 35.12 of one example at one size.
struct Row {
  const char* example;
  uint32_t length;
  std::array<double, 3> megapixels;          ///< a second: Wu, Hawick, theirs
  std::array<double, kKernels> percentages;  ///< of kernels 1 to 4
};

constexpr Row kRows[] = {
    {"a", 512, {76, 328, 1542}, {kNoFigure, kNoFigure, kNoFigure, kNoFigure}},
    {"b", 1024, {111, 403, 1049}, {34, 52, 7, 7}},
    {"b", 2048, {112, 482, 1294}, {40, 43, 8, 9}},
    {"b", 4096, {111, 508, 1553}, {46, 33, 9, 12}},
    {"c", 1024, {73, 233, 647}, {41, 48, 6, 5}},
    {"c", 2048, {73, 272, 735}, {45, 43, 6, 6}},
    {"c", 4096, {74, 279, 834}, {50, 37, 5, 8}},
    {"d", 1024, {121, 233, 1398}, {44, 38, 8, 10}},
    {"d", 2048, {124, 272, 1740}, {48, 34, 7, 11}},
    {"d", 4096, {123, 279, 1939}, {53, 28, 7, 12}},
};

class Stava {
 public:
  explicit Stava(Laboratory* laboratory) : laboratory_(*laboratory) {
    laboratory->settings = {.connectivity = Connectivity::k8, .rule = {.foreground = Foreground::kValues}};
  }

  Status run() {
    for (const Row& row : kRows) {
      std::vector<PaperImage> images;
      CCL_RETURN_IF_ERROR(laboratory_.prepare(draws(row), &images));
      CCL_RETURN_IF_ERROR(run(row, images));
      CCL_RETURN_IF_ERROR(run_kernels(row, images));
    }
    claim_of_speed();
    claim_of_kernels();
    return {};
  }

 private:
  std::vector<Draw> draws(const Row& row) const;
  Status run(const Row& row, const std::vector<PaperImage>& images);
  Status run_kernels(const Row& row, const std::vector<PaperImage>& images);
  void claim_of_speed();
  void claim_of_kernels();
  /// As `key` in the maps below.
  static std::string key(const Row& row) { return row.example + std::to_string(row.length); }
  double speed(const Contestant& contestant, const std::string& key) const {
    const auto found = speeds_.find(contestant.nick + key);
    return found != speeds_.end() ? found->second : kNoFigure;
  }

  Laboratory& laboratory_;
  std::map<std::string, double> speeds_;                        ///< Mpx/s by nick and key
  std::map<std::string, std::array<double, kKernels>> shares_;  ///< per cent by key
};

std::vector<Draw> Stava::draws(const Row& row) const {
  const uint32_t length = laboratory_.length(row.length);
  switch (*row.example) {
    case 'a': {
      std::vector<Draw> slices;
      for (uint32_t i = 0; i < (laboratory_.options().small ? 4 : kSlices); ++i) {
        slices.emplace_back([=] { return log_slice(length, kSeed + i); });
      }
      return slices;
    }
    case 'b':
      return {[=] { return large_objects(length, kSeed); }};
    case 'c':
      return {[=] { return spheres(length, 2500, kSeed); }};
    default:
      return {[=] { return spheres(length, 250, kSeed); }};
  }
}

/// Figure 35.11.
Status Stava::run(const Row& row, const std::vector<PaperImage>& images) {
  const std::array<std::pair<Contestant, double>, 4> contestants = {
      std::pair{kWu, row.megapixels[0]}, std::pair{kHawick, row.megapixels[1]},
      std::pair{kTileMerge, row.megapixels[2]}, std::pair{kDlp, kNoFigure}};
  for (const auto& [contestant, paper] : contestants) {
    double us = 0;
    bool is_there = true;
    for (const PaperImage& image : images) {
      std::optional<Measured> measured;
      CCL_RETURN_IF_ERROR(laboratory_.measure(contestant, image, &measured));
      is_there = is_there && measured;
      us += measured ? measured->us : 0;
    }
    if (!is_there) {
      continue;
    }
    const Size size = images.front().size();
    const double pixels = 1.0 * size.width * size.height * static_cast<double>(images.size());
    speeds_[contestant.nick + key(row)] = pixels / us;
    laboratory_.report().add({.table = "Figure 35.11",
                              .image = std::string("(") + row.example + ") " + images.front().image.name,
                              .size = size,
                              .backend = backend_name(contestant.backend),
                              .algorithm = contestant.nick,
                              .quantity = "throughput",
                              .unit = "Mpx/s",
                              .paper = paper,
                              .ours = pixels / us,
                              .better = Better::kHigher});
  }
  return {};
}

/// Our kernels for the chapter's kernels 1 to 4.
constexpr std::array<const char*, kKernels> kKernelNames = {"label_tiles", "merge_tiles", "flatten_borders",
                                                            "compress_all"};

/// Adds up the times of a labelling's steps by kernel; false where a step is none of them.
bool add_up(const std::vector<Step>& steps, std::array<double, kKernels>* us) {
  return std::all_of(steps.begin(), steps.end(), [us](const Step& step) {
    const auto is_it = [&step](const char* name) { return step.kernel.find(name) != std::string::npos; };
    const auto kernel = std::find_if(kKernelNames.begin(), kKernelNames.end(), is_it);
    if (kernel == kKernelNames.end()) {
      return false;
    }
    (*us)[static_cast<size_t>(kernel - kKernelNames.begin())] += step.us;
    return true;
  });
}

/// Figure 35.12.
Status Stava::run_kernels(const Row& row, const std::vector<PaperImage>& images) {
  std::vector<Step> steps;
  if (*row.example == 'a') {
    return {};
  }
  CCL_RETURN_IF_ERROR(laboratory_.measure_steps(kTileMerge, images.front(), &steps));
  std::array<double, kKernels> shares{};
  if (steps.empty()) {
    return {};
  }
  if (!add_up(steps, &shares)) {
    laboratory_.report().leave_out("Figure 35.12", "the kernels of tile-merge are not known by their names");
    return {};
  }
  const double all = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (size_t i = 0; i < kKernels; ++i) {
    shares[i] *= 100 / all;
    laboratory_.report().add({.table = "Figure 35.12",
                              .image = std::string("(") + row.example + ") " + images.front().image.name,
                              .size = images.front().size(),
                              .backend = "cuda",
                              .algorithm = kTileMerge.nick,
                              .quantity = "kernel " + std::to_string(i + 1),
                              .unit = "%",
                              .paper = row.percentages[i],
                              .ours = shares[i],
                              .better = Better::kNeither});
  }
  shares_[key(row)] = shares;
  return {};
}

void Stava::claim_of_speed() {
  double least_to_wu = kNoFigure;
  double least_to_hawick = kNoFigure;
  double least_to_dlp = kNoFigure;
  for (const Row& row : kRows) {
    const double ours = speed(kTileMerge, key(row));
    least_to_wu = std::fmin(least_to_wu, ours / speed(kWu, key(row)));
    least_to_hawick = std::fmin(least_to_hawick, ours / speed(kHawick, key(row)));
    least_to_dlp = std::fmin(least_to_dlp, speed(kDlp, key(row)) / ours);
  }
  Report& report = laboratory_.report();
  const auto claim = [&report](const std::string& text, double figure, double at_least) {
    const bool is_tested = !std::isnan(figure);
    report.claim(text, is_tested ? std::optional(figure >= at_least) : std::nullopt,
                 is_tested ? "at least " + text_of(figure) + " times" : "not measured");
  };
  claim("tile-merge is about 10 to 15 times as fast as Wu et al. on the CPU", least_to_wu, 8.8);
  claim("tile-merge is on average 3 times as fast as Hawick et al. (2.5 at least)", least_to_hawick, 2.5);
  claim("DLP-GPU is at least 1.3 times as fast as tile-merge (Cabaret et al. 2017, III.A)", least_to_dlp,
        1.3);
  std::optional<bool> sparse;
  std::string evidence = "not measured";
  if (!std::isnan(speed(kTileMerge, "d4096"))) {
    const double d = speed(kTileMerge, "d4096");
    const double b = speed(kTileMerge, "b4096");
    const double c = speed(kTileMerge, "c4096");
    sparse = d > b && d > c;
    evidence = text_of(d) + " Mpx/s on (d), " + text_of(b) + " on (b), " + text_of(c) + " on (c)";
  }
  report.claim("tile-merge performs best where components are sparse", sparse, evidence);
  std::optional<bool> scales;
  evidence = "not measured";
  if (sparse) {
    scales = true;
    evidence.clear();
    for (const char* example : {"b", "c", "d"}) {
      const double growth =
          speed(kTileMerge, std::string(example) + "4096") / speed(kTileMerge, std::string(example) + "1024");
      scales = *scales && growth > 1.1;
      evidence += (evidence.empty() ? "" : ", ") + text_of(growth);
    }
    evidence += " times from 1024² to 4096² on (b), (c), (d)";
  }
  report.claim("tile-merge's throughput increases significantly with the resolution", scales, evidence);
}

void Stava::claim_of_kernels() {
  std::optional<bool> first_two;
  std::optional<bool> merging_shrinks;
  double least = kNoFigure;
  std::string evidence;
  for (const char* example : {"b", "c", "d"}) {
    for (const uint32_t length : {1024, 2048, 4096}) {
      const auto found = shares_.find(example + std::to_string(length));
      if (found == shares_.end()) {
        continue;
      }
      const auto& [one, two, three, four] = found->second;
      least = std::fmin(least, std::min(one, two) - std::max(three, four));
    }
    const auto small = shares_.find(std::string(example) + "1024");
    const auto large = shares_.find(std::string(example) + "4096");
    if (small != shares_.end() && large != shares_.end()) {
      merging_shrinks = merging_shrinks.value_or(true) && large->second[1] < small->second[1];
      evidence += (evidence.empty() ? "" : "; ") + text_of(small->second[1]) + " % to " +
                  text_of(large->second[1]) + " %";
    }
  }
  first_two = std::isnan(least) ? std::nullopt : std::optional(least > 0);
  laboratory_.report().claim(
      "Kernels 1 and 2 take most of the time", first_two,
      first_two ? "the lesser of them is " + text_of(least) + " points above the larger of 3 and 4, at worst"
                : "not measured");
  laboratory_.report().claim("Kernel 2's share decreases as the image grows", merging_shrinks,
                             merging_shrinks ? evidence + " from 1024² to 4096²" : "not measured");
}

}  // namespace

Status run_stava(Laboratory* laboratory) {
  return Stava(laboratory).run();
}

}  // namespace ccl::bench
