// SPDX-License-Identifier: LGPL-2.1-or-later
/// Times whole pipelines, from a frame's entry to its arrival at a sink: the element beside what applications
/// do without it (appsink, OpenCV, appsrc), in one process, in turns. Writes CSV:
///
///     pipeline-bench --size 1920x1080 --size 3840x2160 > pipelines.csv
///     pipeline-bench --backend cuda --fps 60 --pipelines 8 > live.csv
///
/// Without --fps frames are pushed as fast as they are taken, at most two ahead. With it they come live, and
/// one that needs longer than the time to the next frame is late. Latency is from when a frame was due, or
/// pushed, to its arrival.
#include <gst/gst.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "commit.h"
#include "contestants.h"
#include "host/simd/level.h"
#include "opencv_peer.h"
#include "protocol.h"

namespace ccl::bench {

namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  gchar* backend = nullptr;
  gchar** sizes = nullptr;
  gchar** images = nullptr;
  gchar** outputs = nullptr;
  gchar** threads = nullptr;
  gint frames = 60;
  gint rounds = 5;
  gint pipelines = 1;
  gdouble fps = 0;
};

/// Frames to be sent again and again: the protocol's image and seven others of its kind.
class Ring {
 public:
  Ring(const std::string& name, uint32_t width, uint32_t height) {
    for (uint32_t seed = 1; seed <= 8; ++seed) {
      const std::optional<test::Image> noise = draw_noise(name, {width, height}, seed);
      if (!noise && name != "blobs") {
        fail("pipeline-bench: an image is blobs or noise such as g1_d50, not " + name);
      }
      frames_.push_back(to_buffer(noise ? *noise : test::blobs(width, height, seed)));
    }
  }

  ~Ring() {
    for (GstBuffer* frame : frames_) {
      gst_buffer_unref(frame);
    }
  }

  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  /// A buffer of its own on the memory of frame i; its timestamp is i.
  GstBuffer* make(uint32_t i) const {
    GstBuffer* buffer = gst_buffer_copy(frames_[i % frames_.size()]);
    GST_BUFFER_PTS(buffer) = i;
    return buffer;
  }

 private:
  static GstBuffer* to_buffer(const test::Image& image) {
    const size_t stride = GST_ROUND_UP_4(image.width);
    GstBuffer* buffer = gst_buffer_new_allocate(nullptr, stride * image.height, nullptr);
    for (uint32_t y = 0; y < image.height; ++y) {
      gst_buffer_fill(buffer, y * stride, image.pixels() + y * image.stride, image.width);
    }
    return buffer;
  }

  std::vector<GstBuffer*> frames_;
};

using MakeContestant = std::unique_ptr<Contestant> (*)(const Task&, Contestant::Arrived);

/// One pipeline for one round, fed by a thread of its own.
class Lane {
 public:
  Lane(MakeContestant make, const Task& task, const Ring& ring, const Options& options)
      : ring_(ring),
        n_frames_(static_cast<uint32_t>(options.frames)),
        fps_(options.fps),
        due_(n_frames_ + 1),
        latencies_ms_(n_frames_ + 1),
        contestant_(make(task, [this](GstClockTime i) {
          latencies_ms_[i] = std::chrono::duration<double, std::milli>(Clock::now() - due_[i]).count();
          n_arrived_ = static_cast<uint32_t>(i) + 1;
        })) {}

  /// The first frame negotiates and takes memory; it is not counted.
  void warm_up() {
    due_[0] = Clock::now();
    contestant_->push(ring_.make(0));
    while (n_arrived_ == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  void run() {
    const Clock::time_point start = Clock::now();
    for (uint32_t i = 1; i <= n_frames_; ++i) {
      due_[i] = Clock::now();
      if (fps_ > 0) {
        due_[i] =
            start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(i / fps_));
        std::this_thread::sleep_until(due_[i]);
      }
      contestant_->push(ring_.make(i));
    }
    contestant_->drain();
  }

  void add_latencies(std::vector<double>* all) const {
    all->insert(all->end(), latencies_ms_.begin() + 1, latencies_ms_.end());
  }

 private:
  const Ring& ring_;
  uint32_t n_frames_;
  double fps_;
  std::vector<Clock::time_point> due_;
  std::vector<double> latencies_ms_;
  std::atomic<uint32_t> n_arrived_ = 0;
  std::unique_ptr<Contestant> contestant_;
};

/// What a contestant did in all rounds.
struct Score {
  const char* name;
  MakeContestant make;
  std::vector<double> fps;
  std::vector<double> cpu_ms_per_frame;
  std::vector<double> latencies_ms;
};

void run_round(Score* score, const Task& task, const Ring& ring, const Options& options) {
  std::vector<std::unique_ptr<Lane>> lanes;
  for (gint i = 0; i < options.pipelines; ++i) {
    lanes.push_back(std::make_unique<Lane>(score->make, task, ring, options));
    lanes.back()->warm_up();
  }
  const Time taken = time([&] {
    std::vector<std::thread> feeders;
    for (const std::unique_ptr<Lane>& lane : lanes) {
      feeders.emplace_back([&lane] { lane->run(); });
    }
    for (std::thread& feeder : feeders) {
      feeder.join();
    }
  });
  const double n_frames = static_cast<double>(options.frames) * options.pipelines;
  score->fps.push_back(n_frames / taken.wall_us * 1e6);
  score->cpu_ms_per_frame.push_back(taken.cpu_us / n_frames / 1e3);
  for (const std::unique_ptr<Lane>& lane : lanes) {
    lane->add_latencies(&score->latencies_ms);
  }
}

void print(Score score, const Task& task, const std::string& image, const Options& options) {
  std::sort(score.fps.begin(), score.fps.end());
  std::sort(score.latencies_ms.begin(), score.latencies_ms.end());
  const auto percentile = [&](double p) {
    return score.latencies_ms[static_cast<size_t>(p * static_cast<double>(score.latencies_ms.size() - 1))];
  };
  const auto n_late = options.fps <= 0 ? 0
                                       : score.latencies_ms.end() -
                                             std::upper_bound(score.latencies_ms.begin(),
                                                              score.latencies_ms.end(), 1000 / options.fps);
  std::printf("%s,%s,%s,%s,%u,%u,%u,%d,%g,%.1f,%.1f,%.3f,%.3f,%.3f,%ld,%.3f,%d,%d\n", score.name,
              task.backend.c_str(), task.is_colorized ? "colorized" : "passthrough", image.c_str(),
              task.width, task.height, task.threads, options.pipelines, options.fps, score.fps.back(),
              score.fps[score.fps.size() / 2], percentile(0.5), percentile(0.99), percentile(0.999),
              static_cast<long>(n_late), summarize(score.cpu_ms_per_frame).min, options.frames,
              options.rounds);
  std::fflush(stdout);
}

void compete(const Task& task, const std::string& image, const Ring& ring, const Options& options) {
  std::vector<Score> scores = {{"cudaccl", make_element_pipeline, {}, {}, {}}};
  if (OpenCvPeer::exists()) {
    scores.push_back({"appsink-opencv", make_opencv_pipeline, {}, {}, {}});
  }
  for (gint round = 0; round < options.rounds; ++round) {
    for (Score& score : scores) {
      run_round(&score, task, ring, options);
    }
  }
  for (const Score& score : scores) {
    print(score, task, image, options);
  }
}

std::vector<std::string> list(gchar** given, std::initializer_list<const char*> otherwise) {
  std::vector<std::string> all(otherwise.begin(), otherwise.end());
  if (given != nullptr) {
    all.assign(given, given + g_strv_length(given));
  }
  return all;
}

void run(const Options& options) {
  std::printf("# %s; SIMD level %s; OpenCV %s; commit %s\n", processor_name().c_str(),
              host::simd_name(host::choose_simd_level()), OpenCvPeer::version().c_str(), kCommit);
  if (!OpenCvPeer::exists()) {
    std::fprintf(stderr, "pipeline-bench: built without OpenCV: ours is timed alone\n");
  }
  std::printf(
      "contestant,backend,output,image,width,height,threads,pipelines,paced_fps,best_fps,median_fps,p50_ms,"
      "p99_ms,p99.9_ms,late,min_cpu_ms_per_frame,frames,rounds\n");
  for (const std::string& size : list(options.sizes, {"1920x1080"})) {
    const auto [width, height] = require_size(size);
    for (const std::string& image : list(options.images, {"blobs", "g1_d50"})) {
      const Ring ring(image, width, height);
      for (const std::string& output : list(options.outputs, {"colorized", "passthrough"})) {
        for (const std::string& threads : list(options.threads, {"1", "2"})) {
          Task task{.width = width, .height = height, .is_colorized = output == "colorized"};
          task.backend = options.backend != nullptr ? options.backend : "cpu";
          task.threads = static_cast<uint32_t>(std::atoi(threads.c_str()));
          compete(task, image, ring, options);
        }
      }
    }
  }
}

Options parse(int argc, char** argv) {
  Options options;
  const GOptionEntry entries[] = {
      {"backend", 'b', 0, G_OPTION_ARG_STRING, &options.backend, "The element's (default: cpu)", "BACKEND"},
      {"size", 's', 0, G_OPTION_ARG_STRING_ARRAY, &options.sizes, "Repeatable (default: 1920x1080)",
       "WIDTHxHEIGHT"},
      {"image", 'i', 0, G_OPTION_ARG_STRING_ARRAY, &options.images,
       "blobs, or noise such as g4_d50; repeatable (default: blobs, g1_d50)", "NAME"},
      {"output", 'o', 0, G_OPTION_ARG_STRING_ARRAY, &options.outputs,
       "colorized or passthrough; repeatable (default: both)", "NICK"},
      {"threads", 't', 0, G_OPTION_ARG_STRING_ARRAY, &options.threads,
       "Of the element and of OpenCV; repeatable (default: 1, 2)", "N"},
      {"frames", 'n', 0, G_OPTION_ARG_INT, &options.frames, "Of each pipeline in a round (default: 60)", "N"},
      {"rounds", 'r', 0, G_OPTION_ARG_INT, &options.rounds, "Of each contestant, in turns (default: 5)", "N"},
      {"pipelines", 'p', 0, G_OPTION_ARG_INT, &options.pipelines, "At the same time (default: 1)", "N"},
      {"fps", 'f', 0, G_OPTION_ARG_DOUBLE, &options.fps, "Live, at this rate (default: as fast as it goes)",
       "RATE"},
      {}};
  GOptionContext* context = g_option_context_new("- times pipelines with and without the element");
  g_option_context_add_main_entries(context, entries, nullptr);
  g_option_context_add_group(context, gst_init_get_option_group());
  GError* error = nullptr;
  if (!g_option_context_parse(context, &argc, &argv, &error)) {
    fail(std::string("pipeline-bench: ") + error->message);
  }
  g_option_context_free(context);
  if (options.frames < 1 || options.rounds < 1 || options.pipelines < 1) {
    fail("pipeline-bench: --frames, --rounds and --pipelines want at least 1");
  }
  return options;
}

}  // namespace

}  // namespace ccl::bench

int main(int argc, char** argv) {
  g_setenv("GST_PLUGIN_PATH_1_0", CUDACCL_PLUGIN_FOLDER, FALSE);
  ccl::bench::run(ccl::bench::parse(argc, argv));
  return EXIT_SUCCESS;
}
