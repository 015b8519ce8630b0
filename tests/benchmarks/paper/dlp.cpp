// SPDX-License-Identifier: LGPL-2.1-or-later
/// L. Cabaret, L. Lacassagne, D. Etiemble, "Distanceless label propagation: an efficient direct
/// connected component labeling algorithm for GPUs", IPTA 2017, section IV: Tables 2 and 3, figures 12
/// and 13, measured there on a GeForce GTX 980 Ti and, for HCS2 + ARemSP, on the four cores of an i7
/// 6700K. Noise of MT19937, granularities 1, 4 and 16, densities from 0 to 100 %, 8-connected.
///
/// The text at hand of the paper has lost the figures of Table 3; ours stand alone.
#include <algorithm>
#include <array>
#include <numeric>

#include "laboratory.h"

namespace ccl::bench {

namespace {

const Contestant kDlp{.backend = Backend::kCuda, .nick = "dlp"};
const Contestant kPlainDlp{.backend = Backend::kCuda, .nick = "dlp-without-sr"};
const Contestant kCpu{.backend = Backend::kCpu, .nick = "hcs2-aremsp"};
constexpr std::array<uint32_t, 3> kGranularities = {1, 4, 16};
constexpr uint32_t kSeed = 1;
constexpr uint32_t kTileWidth = 64;  // of our dlp, for the length of its borders
constexpr uint32_t kTileHeight = 16;

/// Algorithm 5's steps, in the order of our kernels.
constexpr std::array<const char*, 4> kSteps = {"step 1", "step 2a", "step 2b", "step 3"};

struct Noise {
  uint32_t granularity;
  uint32_t density;
};

std::vector<Noise> noises(uint32_t stride) {
  std::vector<Noise> all;
  for (const uint32_t granularity : kGranularities) {
    for (uint32_t density = stride < 10 ? 0 : 10; density <= (stride < 10 ? 100 : 90); density += stride) {
      all.push_back({granularity, density});
    }
  }
  return all;
}

std::string name_of(const Noise& noise) {
  return "g" + std::to_string(noise.granularity) + "_d" + std::to_string(noise.density);
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

class DlpExperiment {
 public:
  explicit DlpExperiment(Laboratory* laboratory) : laboratory_(*laboratory) {
    laboratory->settings = {.connectivity = Connectivity::k8, .rule = {}};
  }

  Status run() {
    CCL_RETURN_IF_ERROR(run_densities());
    CCL_RETURN_IF_ERROR(run_sizes());
    return run_propagation();
  }

 private:
  /// Microseconds on the images of one granularity, by ascending density.
  using Series = std::vector<double>;

  Status prepare(uint32_t length, const std::vector<Noise>& noises, std::vector<PaperImage>* images);
  void add(const Figure& figure) { laboratory_.report().add(figure); }
  Status run_densities();
  Status run_density(const Noise& noise, const PaperImage& image);
  void report_table_2(Size size);
  void report_table_3(Size size);
  void claim_of_densities();
  void claim_of_regularization();
  Status run_sizes();
  void report_throughput(const Contestant& contestant, uint32_t length, uint32_t granularity, double us);
  void claim_of_sizes();
  Status run_propagation();

  Laboratory& laboratory_;
  std::map<uint32_t, Series> total_;                      ///< by granularity
  std::array<std::vector<double>, kSteps.size()> steps_;  ///< over all images
  std::map<uint32_t, double> regularization_;             ///< speed-up of SR + R in step 1 by density, g = 1
  /// Gigapixels a second by nick, granularity and side length.
  std::map<std::string, std::map<uint32_t, std::map<uint32_t, double>>> throughput_;
};

Status DlpExperiment::prepare(uint32_t length, const std::vector<Noise>& noises,
                              std::vector<PaperImage>* images) {
  std::vector<Draw> draws;
  for (const Noise& noise : noises) {
    draws.emplace_back([=] {
      test::Image image = test::noise(length, length, noise.granularity, noise.density, kSeed);
      image.name = name_of(noise);
      return image;
    });
  }
  return laboratory_.prepare(draws, images);
}

/// Tables 2 and 3, figure 12, and what SR + R are worth.
Status DlpExperiment::run_densities() {
  const std::vector<Noise> all = noises(laboratory_.options().small ? 25 : 5);
  std::vector<PaperImage> images;
  CCL_RETURN_IF_ERROR(prepare(laboratory_.length(2048), all, &images));
  for (size_t i = 0; i < images.size(); ++i) {
    CCL_RETURN_IF_ERROR(run_density(all[i], images[i]));
  }
  report_table_2(images.front().size());
  report_table_3(images.front().size());
  claim_of_densities();
  claim_of_regularization();
  return {};
}

Status DlpExperiment::run_density(const Noise& noise, const PaperImage& image) {
  std::optional<Measured> with;
  CCL_RETURN_IF_ERROR(laboratory_.measure(kDlp, image, &with));
  if (!with) {
    return {};
  }
  total_[noise.granularity].push_back(with->us);
  Figure figure{.table = "Figure 12",
                .image = image.image.name,
                .size = image.size(),
                .backend = "cuda",
                .algorithm = kDlp.nick,
                .ours = with->us / 1000};
  add(figure);
  std::vector<Step> steps;
  CCL_RETURN_IF_ERROR(laboratory_.measure_steps(kDlp, image, &steps));
  const bool has_steps = steps.size() == kSteps.size();
  for (size_t i = 0; has_steps && i < kSteps.size(); ++i) {
    steps_[i].push_back(steps[i].us);
    figure.quantity = kSteps[i];
    figure.ours = steps[i].us / 1000;
    add(figure);
  }
  std::optional<Measured> without;
  CCL_RETURN_IF_ERROR(laboratory_.measure(kPlainDlp, image, &without));
  if (!without) {
    return {};
  }
  figure.algorithm = kPlainDlp.nick;
  figure.quantity = "time";
  figure.ours = without->us / 1000;
  add(figure);
  std::vector<Step> plain_steps;
  CCL_RETURN_IF_ERROR(laboratory_.measure_steps(kPlainDlp, image, &plain_steps));
  if (has_steps && plain_steps.size() == kSteps.size()) {
    figure.quantity = kSteps[0];
    figure.ours = plain_steps[0].us / 1000;
    add(figure);
    if (noise.granularity == 1) {
      regularization_[noise.density] = plain_steps[0].us / steps[0].us;
    }
  }
  return {};
}

void DlpExperiment::report_table_2(Size size) {
  const std::map<uint32_t, std::pair<double, double>> paper = {
      {1, {0.96, 4.37}}, {4, {0.81, 5.19}}, {16, {0.71, 5.87}}};
  for (const auto& [granularity, series] : total_) {
    const double us = mean(series);
    const auto& [paper_ms, paper_throughput] = paper.at(granularity);
    Figure figure{.table = "Table 2",
                  .image = "g" + std::to_string(granularity),
                  .size = size,
                  .backend = "cuda",
                  .algorithm = kDlp.nick,
                  .paper = paper_ms,
                  .ours = us / 1000};
    add(figure);
    figure.quantity = "throughput";
    figure.unit = "Gpx/s";
    figure.paper = paper_throughput;
    figure.ours = 1.0 * size.width * size.height / us / 1000;
    figure.better = Better::kHigher;
    add(figure);
  }
}

/// Cycles per pixel and core, of the pixels that a step goes over.
void DlpExperiment::report_table_3(Size size) {
  if (steps_[0].empty()) {
    return;
  }
  const double n_pixels = 1.0 * size.width * size.height;
  const double n_south = n_pixels / kTileHeight;
  const double n_east = n_pixels / kTileWidth;
  const std::array<double, kSteps.size()> n_processed = {n_pixels, n_south, n_east, n_pixels};
  for (size_t i = 0; i < kSteps.size(); ++i) {
    Figure figure{.table = "Table 3",
                  .image = "all densities",
                  .size = size,
                  .backend = "cuda",
                  .algorithm = kDlp.nick,
                  .quantity = kSteps[i],
                  .ours = mean(steps_[i]) / 1000};
    add(figure);
    figure.unit = "cpp";
    figure.ours = mean(steps_[i]) * laboratory_.gpu().core_cycles_per_us() / n_processed[i];
    add(figure);
  }
  const double borders = mean(steps_[1]) + mean(steps_[2]);
  const double ratio = borders / mean(steps_[3]);
  laboratory_.report().claim(
      "Merging borders takes about the time of relabelling, with a seventh of the data (within 2 times)",
      ratio > 0.5 && ratio < 2, text_of(ratio) + " times relabelling");
}

void DlpExperiment::claim_of_densities() {
  Report& report = laboratory_.report();
  if (total_.empty()) {
    report.claim("An image of g = 16 takes about 1.4 times less than one of g = 1 (1.35 in Table 2)",
                 std::nullopt, "not measured");
    return;
  }
  const double coarse = mean(total_[1]) / mean(total_[16]);
  report.claim("An image of g = 16 takes about 1.4 times less than one of g = 1 (1.35 in Table 2)",
               coarse > 1.15, text_of(coarse) + " times");
  const auto spread = [](const Series& series) {
    return *std::max_element(series.begin(), series.end()) / *std::min_element(series.begin(), series.end());
  };
  report.claim("Curves over density flatten as g increases", spread(total_[16]) < spread(total_[1]),
               "slowest to fastest density: " + text_of(spread(total_[1])) + " at g = 1, " +
                   text_of(spread(total_[16])) + " at g = 16");
}

void DlpExperiment::claim_of_regularization() {
  std::optional<bool> holds;
  std::string evidence = "not measured";
  if (!regularization_.empty()) {
    double low = 0;
    double n_low = 0;
    double most = 0;
    for (const auto& [density, speedup] : regularization_) {
      if (density > 0 && density <= 40) {
        low += speedup;
        ++n_low;
      }
      most = std::max(most, speedup);
    }
    low /= n_low;
    holds = low > 1.3 && most > 2;
    evidence = text_of(low) + " up to 40 % density, at most " + text_of(most) + ", g = 1";
  }
  laboratory_.report().claim("SR + R make step 1 1.5 times as fast at low density and up to 2.5 at high",
                             holds, evidence);
}

/// Figure 13.
Status DlpExperiment::run_sizes() {
  std::vector<uint32_t> lengths = {256, 384, 512, 640, 768, 1024, 1536, 2048, 4096, 8192};
  if (laboratory_.options().small) {
    lengths = {256, 512, 1024};
  }
  for (const uint32_t length : lengths) {
    const std::vector<Noise> all = noises(20);
    std::vector<PaperImage> images;
    CCL_RETURN_IF_ERROR(prepare(length, all, &images));
    for (const Contestant& contestant : {kDlp, kCpu}) {
      std::map<uint32_t, Series> us;
      for (size_t i = 0; i < images.size(); ++i) {
        std::optional<Measured> measured;
        CCL_RETURN_IF_ERROR(laboratory_.measure(contestant, images[i], &measured));
        if (measured) {
          us[all[i].granularity].push_back(measured->us);
        }
      }
      for (const auto& [granularity, series] : us) {
        report_throughput(contestant, length, granularity, mean(series));
      }
    }
  }
  claim_of_sizes();
  return {};
}

void DlpExperiment::report_throughput(const Contestant& contestant, uint32_t length, uint32_t granularity,
                                      double us) {
  const double throughput = 1.0 * length * length / us / 1000;
  throughput_[contestant.nick][granularity][length] = throughput;
  add({.table = "Figure 13",
       .image = "g" + std::to_string(granularity),
       .size = {length, length},
       .backend = backend_name(contestant.backend),
       .algorithm = contestant.nick,
       .quantity = "throughput",
       .unit = "Gpx/s",
       .ours = throughput,
       .better = Better::kHigher});
}

/// The side length at which throughput reaches half its peak, between the sizes that were measured.
double half_peak_length(const std::map<uint32_t, double>& throughput) {
  const auto by_value = [](const auto& a, const auto& b) { return a.second < b.second; };
  const double half = std::max_element(throughput.begin(), throughput.end(), by_value)->second / 2;
  auto before = throughput.begin();
  if (before->second >= half) {
    return before->first;
  }
  for (auto at = std::next(before); at != throughput.end(); before = at++) {
    if (at->second >= half) {
      const double part = (half - before->second) / (at->second - before->second);
      return before->first + part * (at->first - before->first);
    }
  }
  return kNoFigure;
}

void DlpExperiment::claim_of_sizes() {
  Report& report = laboratory_.report();
  const auto gpu = throughput_.find(kDlp.nick);
  if (gpu == throughput_.end()) {
    report.claim("Throughput increases with g, and the GPU outperforms the CPU", std::nullopt,
                 "not measured");
    return;
  }
  std::map<uint32_t, double> peaks;
  std::map<uint32_t, double> to_cpu;
  for (const auto& [granularity, throughput] : gpu->second) {
    for (const auto& [length, gpx] : throughput) {
      peaks[granularity] = std::max(peaks[granularity], gpx);
    }
    double cpu_peak = 0;
    for (const auto& [length, gpx] : throughput_[kCpu.nick][granularity]) {
      cpu_peak = std::max(cpu_peak, gpx);
    }
    to_cpu[granularity] = peaks[granularity] / cpu_peak;
    const std::string image = "g" + std::to_string(granularity);
    add({.table = "Figure 13",
         .image = image,
         .backend = "cuda",
         .algorithm = kDlp.nick,
         .quantity = "N1/2",
         .unit = "px",
         .paper = 640,
         .ours = half_peak_length(throughput),
         .better = Better::kNeither});
    const double paper = granularity == 1 ? 5.0 : granularity == 16 ? 2.4 : kNoFigure;
    add({.table = "Figure 13",
         .image = image,
         .backend = "cuda",
         .algorithm = kDlp.nick,
         .quantity = "to CPU",
         .unit = "×",
         .paper = paper,
         .ours = to_cpu[granularity],
         .better = Better::kHigher});
  }
  report.claim("Throughput increases with g", peaks[1] < peaks[4] && peaks[4] < peaks[16],
               text_of(peaks[1]) + ", " + text_of(peaks[4]) + " and " + text_of(peaks[16]) + " Gpx/s");
  report.claim(
      "DLP-GPU outperforms HCS2 + ARemSP on four cores, by a factor larger for g = 1 than for g = 16",
      to_cpu[1] > to_cpu[16] && to_cpu[16] > 1,
      text_of(to_cpu[1]) + " and " + text_of(to_cpu[16]) + " times; 5.0 and 2.4 in the paper");
  const double half = half_peak_length(gpu->second.at(16));
  report.claim("Half of the peak is reached at around 640² already", half <= 640 * 1.5,
               "at " + text_of(half) + "², g = 16");
}

/// Section I.B.1: what EP takes on the CPU.
Status DlpExperiment::run_propagation() {
  bool holds = true;
  std::string evidence;
  for (const uint32_t length : {9, 17, 33, 65}) {
    PaperImage image;
    CCL_RETURN_IF_ERROR(laboratory_.prepare(
        [length] {
          test::Image spiral = test::spiral(length, length);
          spiral.name = "spiral";
          return spiral;
        },
        &image));
    uint32_t n_ep = 0;
    for (const char* nick : {"neighbor-propagation/ep", "neighbor-propagation/f", "neighbor-propagation"}) {
      std::optional<Measured> measured;
      CCL_RETURN_IF_ERROR(laboratory_.measure({.backend = Backend::kCpu, .nick = nick}, image, &measured));
      const bool is_ep = n_ep == 0;
      n_ep = is_ep ? measured->n_iterations : n_ep;
      add({.table = "Section I.B",
           .image = "spiral",
           .size = image.size(),
           .backend = "cpu",
           .algorithm = nick,
           .quantity = "iterations",
           .unit = "",
           .paper = is_ep ? (length + 1.0) * (length - 1) / 2 + 1 : kNoFigure,
           .ours = static_cast<double>(measured->n_iterations),
           .better = Better::kNeither});
    }
    holds = holds && n_ep == (length + 1) * (length - 1) / 2 + 1;
    evidence += (evidence.empty() ? "" : ", ") + std::to_string(n_ep);
  }
  laboratory_.report().claim("EP takes (n + 1)(n − 1)/2 + 1 iterations on a spiral of n × n pixels, n odd",
                             holds, evidence + " at 9² to 65²");
  return {};
}

}  // namespace

Status run_dlp(Laboratory* laboratory) {
  return DlpExperiment(laboratory).run();
}

}  // namespace ccl::bench
