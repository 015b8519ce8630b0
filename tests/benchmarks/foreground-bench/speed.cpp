// SPDX-License-Identifier: LGPL-2.1-or-later
#include "speed.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>

#include <opencv2/imgproc.hpp>
#include <opencv2/video/background_segm.hpp>

#ifdef HAVE_OPENCV_BGSEGM
#include <opencv2/bgsegm.hpp>
#endif

#include "ccl/engine.h"
#include "protocol.h"
#include "scenes.h"

namespace ccl::bench {

namespace {

constexpr int kClipFrames = 32;  ///< they run forwards and backwards
constexpr int kLearning = 40;    ///< frames before the first timed one
constexpr int kLocalRadius = 15;
constexpr int kLocalOffset = 10;

/// Grey frames, the number of the one that is next, and its time.
struct Clip {
  std::vector<cv::Mat> frames;

  const cv::Mat& at(int i) const {
    const int n = static_cast<int>(frames.size());
    const int k = i % (2 * n - 2);
    return frames[static_cast<size_t>(k < n ? k : 2 * n - 2 - k)];
  }
};

/// From a frame to the records of its components. Returns their number.
using Work = std::function<size_t(const cv::Mat& frame, int number)>;

struct Contestant {
  std::string task;
  std::string method;
  Work work;
  std::vector<double> times = {};
  size_t components = 0;
};

Work ours(const ForegroundRule& rule, const Segmentation& segmentation, cv::Size size) {
  std::shared_ptr<Engine> engine = make_host_engine();
  require(engine->configure({.width = static_cast<uint32_t>(size.width),
                             .height = static_cast<uint32_t>(size.height),
                             .layout = {},
                             .threads = 1}));
  return [=](const cv::Mat& frame, int number) {
    FrameJob job;
    job.input = {.pixels = frame.ptr(), .stride = frame.step};
    job.settings.rule = rule;
    job.segmentation = segmentation;
    job.time = int64_t{number} * 1'000'000'000 / kFramesPerSecond;
    FrameResult result;
    require(engine->push(job));
    require(engine->pop(&result));
    return size_t{result.counts.n_components};
  };
}

/// An application's memory stays from frame to frame.
struct Buffers {
  cv::Mat mask, labels, stats, centroids;
};

size_t label(Buffers* buffers) {
  const int n_labels = cv::connectedComponentsWithStats(buffers->mask, buffers->labels, buffers->stats,
                                                        buffers->centroids, 8, CV_32S);
  return static_cast<size_t>(n_labels) - 1;
}

Work subtract(const cv::Ptr<cv::BackgroundSubtractor>& subtractor) {
  const auto square = [](int radius) {
    return cv::getStructuringElement(cv::MORPH_RECT, {2 * radius + 1, 2 * radius + 1});
  };
  return [=, buffers = std::make_shared<Buffers>(), open = square(kOpenRadius), close = square(kCloseRadius)](
             const cv::Mat& frame, int) {
    subtractor->apply(frame, buffers->mask);
    cv::threshold(buffers->mask, buffers->mask, 254, 255, cv::THRESH_BINARY);  // no shadows
    cv::morphologyEx(buffers->mask, buffers->mask, cv::MORPH_OPEN, open);
    cv::morphologyEx(buffers->mask, buffers->mask, cv::MORPH_CLOSE, close);
    return label(buffers.get());
  };
}

Work threshold(int type) {
  return [=, buffers = std::make_shared<Buffers>()](const cv::Mat& frame, int) {
    cv::threshold(frame, buffers->mask, 127, 255, type);
    return label(buffers.get());
  };
}

Work threshold_locally() {
  return [buffers = std::make_shared<Buffers>()](const cv::Mat& frame, int) {
    cv::adaptiveThreshold(frame, buffers->mask, 255, cv::ADAPTIVE_THRESH_MEAN_C, cv::THRESH_BINARY_INV,
                          2 * kLocalRadius + 1, kLocalOffset);
    return label(buffers.get());
  };
}

/// Of each task, OpenCV's first method is what ours are compared with.
std::vector<Contestant> make_contestants(cv::Size size) {
  const Morphology morphology{.open_radius = kOpenRadius, .close_radius = kCloseRadius};
  const Segmentation mixture{.motion = {.model = BackgroundModel::kMixture}, .morphology = morphology};
  const Segmentation local{.local = {.radius = kLocalRadius, .offset = kLocalOffset}};
  std::vector<Contestant> all = {
      {"plain", "cudaccl", ours({.threshold = 128}, {}, size)},
      {"plain", "opencv", threshold(cv::THRESH_BINARY)},
      {"otsu", "cudaccl", ours({.foreground = Foreground::kOtsu}, {}, size)},
      {"otsu", "opencv", threshold(cv::THRESH_BINARY | cv::THRESH_OTSU)},
      {"local", "cudaccl", ours({.foreground = Foreground::kLocal, .invert = true}, local, size)},
      {"local", "opencv", threshold_locally()},
      {"motion", "sigma-delta", ours({.foreground = Foreground::kMotion}, {.morphology = morphology}, size)},
      {"motion", "mixture", ours({.foreground = Foreground::kMotion}, mixture, size)},
      {"motion", "opencv-mog2", subtract(cv::createBackgroundSubtractorMOG2())},
      {"motion", "opencv-knn", subtract(cv::createBackgroundSubtractorKNN())},
  };
#ifdef HAVE_OPENCV_BGSEGM
  all.push_back({"motion", "opencv-cnt", subtract(cv::bgsegm::createBackgroundSubtractorCNT())});
#endif
  return all;
}

Clip make_clip(const Options& options) {
  Pictures pictures(options.pictures);
  const std::vector<Sequence> sequences = make_sequences(&pictures, options.size, options.seed);
  Renderer renderer(sequences.front(), &pictures, options.size);
  Clip clip;
  for (int i = 0; i < kClipFrames; ++i) {
    clip.frames.push_back(renderer.next().i420.rowRange(0, options.size.height).clone());
  }
  return clip;
}

const Contestant& rival(const std::vector<Contestant>& all, const std::string& task) {
  for (const Contestant& contestant : all) {
    if (contestant.task == task && contestant.method.starts_with("opencv")) {
      return contestant;
    }
  }
  return all.front();
}

void report(const Options& options, const Facts& facts, const std::vector<Contestant>& all) {
  std::FILE* csv = options.csv.empty() ? nullptr : std::fopen(options.csv.c_str(), "w");
  if (csv == nullptr && !options.csv.empty()) {
    fail("foreground-bench: " + options.csv + " cannot be written");
  }
  if (csv != nullptr) {
    for (const auto& [key, value] : facts) {
      std::fprintf(csv, "# %s: %s\n", key.c_str(), value.c_str());
    }
    std::fprintf(csv, "task,method,width,height,components,min_us,median_us,ratio,repetitions\n");
  }
  std::printf("%-8s %-12s %10s %10s %10s %14s\n", "task", "method", "components", "min, us", "median",
              "to OpenCV's");
  for (const Contestant& contestant : all) {
    const Summary summary = summarize(contestant.times);
    const double ratio = summarize(rival(all, contestant.task).times).median / summary.median;
    std::printf("%-8s %-12s %10zu %10.0f %10.0f %13.1fx\n", contestant.task.c_str(),
                contestant.method.c_str(), contestant.components, summary.min, summary.median, ratio);
    if (csv != nullptr) {
      std::fprintf(csv, "%s,%s,%d,%d,%zu,%.1f,%.1f,%.2f,%d\n", contestant.task.c_str(),
                   contestant.method.c_str(), options.size.width, options.size.height, contestant.components,
                   summary.min, summary.median, ratio, options.rounds);
    }
  }
  if (csv != nullptr && std::fclose(csv) != 0) {
    fail("foreground-bench: " + options.csv + " cannot be written");
  }
}

}  // namespace

void time_methods(const Options& options, const Facts& facts) {
  const Clip clip = make_clip(options);
  std::vector<Contestant> contestants = make_contestants(options.size);
  const std::vector<std::string>& tasks = options.categories;
  std::erase_if(contestants, [&](const Contestant& contestant) {
    return !tasks.empty() && std::find(tasks.begin(), tasks.end(), contestant.task) == tasks.end();
  });
  for (int i = 0; i < kLearning + options.rounds; ++i) {
    for (Contestant& contestant : contestants) {
      const Time taken = time([&] { contestant.components = contestant.work(clip.at(i), i); });
      if (i >= kLearning) {
        contestant.times.push_back(taken.cpu_us);  // other work does not count
      }
    }
  }
  report(options, facts, contestants);
}

}  // namespace ccl::bench
