// SPDX-License-Identifier: LGPL-2.1-or-later
/// Times whole pipelines, from a frame's entry to its arrival at a sink: the element beside what applications
/// do without it (appsink, OpenCV, appsrc), in one process, in turns. Writes CSV:
///
///     pipeline-bench --size 1920x1080 --size 3840x2160 > pipelines.csv
///     pipeline-bench --backend cuda --depth 3 --from pinned > gpu.csv
///     pipeline-bench --backend cuda --fps 60 --pipelines 8 > live.csv
///     pipeline-bench --file clip.h264 > decode.csv
///
/// Frames lie in system memory, in page-locked memory, or as NV12 in CUDA memory. With --file the frames are
/// what nvh264dec makes of it, and the rows show the time of decoding alone and with the element behind it.
/// A row named bus shows what copies alone allow.
///
/// Without --fps frames are pushed as fast as they are taken. With it they come live, and one that arrives
/// later than the next one is due is late. Latency is from when a frame leaves the source to its arrival.
#include <gst/gst.h>
#include <gst/video/video.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bus.h"
#include "ccl/engine.h"
#include "command_line.h"
#include "commit.h"
#include "contestants.h"
#include "host/simd_level.h"
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
  gchar** depths = nullptr;
  gchar* from = nullptr;
  gchar* to = nullptr;
  gchar* file = nullptr;
  gboolean alone = FALSE;
  gint frames = 60;
  gint rounds = 5;
  gint pipelines = 1;
  gdouble fps = 0;
};

/// Frames to be sent again and again: the image of this name and seven others of its kind.
class Ring {
 public:
  Ring(const std::string& name, const Task& task) {
    for (uint32_t seed = 1; seed <= kFrames; ++seed) {
      const std::optional<test::Image> noise = draw_noise(name, {task.width, task.height}, seed);
      if (!noise && name != "blobs") {
        fail("pipeline-bench: an image is blobs or noise such as g1_d50, not " + name);
      }
      frames_.push_back(to_buffer(noise ? *noise : test::blobs(task.width, task.height, seed), task));
    }
    if (task.from == "cuda") {
      const std::vector<GstBuffer*> host = std::exchange(frames_, upload(frames_, task));
      std::for_each(host.begin(), host.end(), gst_buffer_unref);
    }
  }

  ~Ring() { std::for_each(frames_.begin(), frames_.end(), gst_buffer_unref); }

  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  /// A buffer of its own on the memory of frame i; its timestamp is i.
  GstBuffer* make(uint32_t i) const {
    GstBuffer* buffer = gst_buffer_copy(frames_[i % frames_.size()]);
    GST_BUFFER_PTS(buffer) = i;
    return buffer;
  }

 private:
  static constexpr uint32_t kFrames = 8;

  static GstBuffer* allocate(size_t size, const Task& task) {
    if (task.from != "pinned") {
      return gst_buffer_new_allocate(nullptr, size, nullptr);
    }
    static std::unique_ptr<Engine> engine;
    auto* memory = new std::shared_ptr<uint8_t>;
    if ((!engine && !make_device_engine({}, &engine).ok()) ||
        !engine->device()->allocate_host(size, memory).ok()) {
      fail("pipeline-bench: there is no page-locked memory without a GPU");
    }
    return gst_buffer_new_wrapped_full(
        static_cast<GstMemoryFlags>(0), memory->get(), size, 0, size, memory,
        [](gpointer kept) { delete static_cast<std::shared_ptr<uint8_t>*>(kept); });
  }

  static GstBuffer* to_buffer(const test::Image& image, const Task& task) {
    GstVideoInfo info;
    gst_video_info_set_format(&info, gst_video_format_from_string(source_format(task)), image.width,
                              image.height);
    GstBuffer* buffer = allocate(GST_VIDEO_INFO_SIZE(&info), task);
    gst_buffer_memset(buffer, 0, 128, GST_VIDEO_INFO_SIZE(&info));
    for (uint32_t y = 0; y < image.height; ++y) {
      gst_buffer_fill(buffer, size_t{y} * static_cast<size_t>(GST_VIDEO_INFO_PLANE_STRIDE(&info, 0)),
                      image.pixels() + y * image.stride, image.width);
    }
    return buffer;
  }

  std::vector<GstBuffer*> frames_;
};

using MakeContestant = std::unique_ptr<Contestant> (*)(const Task&, Contestant::Watch);

/// One pipeline for one round, fed by a thread of its own.
class Lane {
 public:
  Lane(MakeContestant make, const Task& task, const Ring& ring, const Options& options)
      : ring_(ring),
        depth_(task.depth),
        n_warm_(kWarmFrames * (task.depth + 1)),
        n_frames_(static_cast<uint32_t>(options.frames)),
        fps_(options.fps),
        due_(n_warm_ + n_frames_),
        left_(n_warm_ + n_frames_),
        delays_ms_(n_warm_ + n_frames_),
        latencies_ms_(n_warm_ + n_frames_),
        contestant_(make(task, {.left = [this](GstClockTime i) { left_[i] = Clock::now(); },
                                .arrived =
                                    [this](GstClockTime i) {
                                      const Clock::time_point now = Clock::now();
                                      delays_ms_[i] = milliseconds(now - due_[i]);
                                      latencies_ms_[i] = milliseconds(now - left_[i]);
                                      n_arrived_ = static_cast<uint32_t>(i) + 1;
                                    }})) {}

  /// The first frames negotiate and take memory, in every slot; they are not counted.
  void warm_up() {
    for (uint32_t i = 0; i < n_warm_; ++i) {
      due_[i] = Clock::now();
      contestant_->push(ring_.make(i));
    }
    while (n_arrived_ + depth_ < n_warm_) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  void run() {
    const Clock::time_point start = Clock::now();
    for (uint32_t i = 0; i < n_frames_; ++i) {
      Clock::time_point& due = due_[n_warm_ + i];
      due = Clock::now();
      if (fps_ > 0) {
        due = start +
              std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>((i + 1) / fps_));
        std::this_thread::sleep_until(due);
      }
      contestant_->push(ring_.make(n_warm_ + i));
    }
    contestant_->drain();
  }

  void add_times(std::vector<double>* latencies, std::vector<double>* delays) const {
    latencies->insert(latencies->end(), latencies_ms_.begin() + n_warm_, latencies_ms_.end());
    delays->insert(delays->end(), delays_ms_.begin() + n_warm_, delays_ms_.end());
  }

 private:
  static constexpr uint32_t kWarmFrames = 3;  // of each slot

  static double milliseconds(Clock::duration time) {
    return std::chrono::duration<double, std::milli>(time).count();
  }

  const Ring& ring_;
  uint32_t depth_;
  uint32_t n_warm_;
  uint32_t n_frames_;
  double fps_;
  std::vector<Clock::time_point> due_;
  std::vector<Clock::time_point> left_;
  std::vector<double> delays_ms_;     // from when the frame was due to its arrival
  std::vector<double> latencies_ms_;  // from when it left the source
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
  std::vector<double> delays_ms;
};

void run_round(Score* score, const Task& task, const Ring& ring, const Options& options) {
  std::vector<std::unique_ptr<Lane>> lanes;
  Task own = task;
  own.depth = score->make == make_element_pipeline ? task.depth : 0;
  for (gint i = 0; i < options.pipelines; ++i) {
    lanes.push_back(std::make_unique<Lane>(score->make, own, ring, options));
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
    lane->add_times(&score->latencies_ms, &score->delays_ms);
  }
}

/// A line of the CSV; what a contestant does not report is 0.
struct Row {
  const char* contestant;
  double best_fps = 0;
  double median_fps = 0;
  double p50_ms = 0;
  double p99_ms = 0;
  double p999_ms = 0;
  long n_late = 0;
  double cpu_ms = 0;
};

void print_row(const Row& row, const Task& task, const std::string& image, const Options& options) {
  std::printf("%s,%s,%s,%s,%u,%u,%u,%u,%s,%s,%d,%g,%.1f,%.1f,%.3f,%.3f,%.3f,%ld,%.3f,%d,%d\n", row.contestant,
              task.backend.c_str(), task.is_colorized ? "colorized" : "passthrough", image.c_str(),
              task.width, task.height, task.threads, task.depth, task.from.c_str(), task.to.c_str(),
              options.pipelines, options.fps, row.best_fps, row.median_fps, row.p50_ms, row.p99_ms,
              row.p999_ms, row.n_late, row.cpu_ms, options.frames, options.rounds);
  std::fflush(stdout);
}

void print(Score score, const Task& task, const std::string& image, const Options& options) {
  std::sort(score.fps.begin(), score.fps.end());
  std::sort(score.latencies_ms.begin(), score.latencies_ms.end());
  const auto percentile = [&](double p) {
    return score.latencies_ms[static_cast<size_t>(p * static_cast<double>(score.latencies_ms.size() - 1))];
  };
  const double period_ms = 1000 / options.fps;
  const auto n_late = options.fps <= 0 ? 0
                                       : std::count_if(score.delays_ms.begin(), score.delays_ms.end(),
                                                       [=](double delay) { return delay > period_ms; });
  const double best = score.fps.back();
  const double median = score.fps[score.fps.size() / 2];
  print_row({.contestant = score.name,
             .best_fps = best,
             .median_fps = median,
             .p50_ms = percentile(0.5),
             .p99_ms = percentile(0.99),
             .p999_ms = percentile(0.999),
             .n_late = static_cast<long>(n_late),
             .cpu_ms = summarize(score.cpu_ms_per_frame).min},
            task, image, options);
}

/// What copies up and down alone allow.
void print_bus(const Task& task, const std::string& image, const Options& options) {
  const size_t n_pixels = size_t{task.width} * task.height;
  const size_t up = task.from != "cuda" ? n_pixels : 0;
  const size_t down = task.is_colorized && task.to != "cuda" ? n_pixels * 4 : 0;
  const double fps = up + down > 0 ? measure_bus_fps(up, down) : 0;
  if (fps > 0) {
    print_row({.contestant = "bus", .best_fps = fps, .median_fps = fps}, task, image, options);
  }
}

void compete(const Task& task, const std::string& image, const Ring& ring, const Options& options) {
  std::vector<Score> scores = {{"cudaccl", make_element_pipeline, {}, {}, {}, {}}};
  if (OpenCvPeer::exists() && !options.alone && task.from != "cuda") {
    scores.push_back({"appsink-opencv", make_opencv_pipeline, {}, {}, {}, {}});
  }
  for (gint round = 0; round < options.rounds; ++round) {
    for (Score& score : scores) {
      run_round(&score, task, ring, options);
    }
  }
  for (const Score& score : scores) {
    print(score, task, image, options);
  }
  if (task.backend == "cuda" && options.fps <= 0) {
    print_bus(task, image, options);
  }
}

/// What the hardware decoder gives, alone and with the element behind it.
void decode(const Options& options) {
  const std::string decoder = std::string("filesrc location=") + options.file + " ! h264parse ! nvh264dec ! ";
  const std::string sink = " ! fakesink name=sink sync=false";
  const struct {
    const char* name;
    const char* elements;
    const char* output;
    const char* to;
  } lines[] = {
      {"nvh264dec", "video/x-raw(memory:CUDAMemory)", "none", "cuda"},
      {"nvh264dec+cudaccl", "cudaccl backend=cuda output=passthrough", "passthrough", "cuda"},
      {"nvh264dec+cudaccl", "cudaccl backend=cuda ! video/x-raw(memory:CUDAMemory)", "colorized", "cuda"},
      {"nvh264dec+cudaccl", "cudaccl backend=cuda pipeline-depth=3 ! video/x-raw,format=RGBA", "colorized",
       "system"},
      {"nvh264dec+cudaccl+cudadownload",
       "cudaccl backend=cuda ! video/x-raw(memory:CUDAMemory) ! cudadownload ! video/x-raw,format=RGBA",
       "colorized", "system"},
  };
  std::printf("contestant,output,to,best_fps,median_fps,rounds\n");
  for (const auto& line : lines) {
    std::vector<double> fps;
    for (gint round = 0; round < options.rounds; ++round) {
      fps.push_back(time_line(decoder + line.elements + sink));
    }
    std::sort(fps.begin(), fps.end());
    std::printf("%s,%s,%s,%.1f,%.1f,%d\n", line.name, line.output, line.to, fps.back(), fps[fps.size() / 2],
                options.rounds);
    std::fflush(stdout);
  }
}

std::vector<std::string> list(gchar** given, std::initializer_list<const char*> otherwise) {
  std::vector<std::string> all(otherwise.begin(), otherwise.end());
  if (given != nullptr) {
    all.assign(given, given + g_strv_length(given));
  }
  return all;
}

/// The GPU that the pipelines work on, for the CSV; nothing where they do not.
std::string gpu_name(const Options& options) {
  std::unique_ptr<Engine> engine;
  const bool uses_gpu =
      options.file != nullptr || (options.backend != nullptr && std::string(options.backend) == "cuda");
  return uses_gpu && make_device_engine({}, &engine).ok() ? engine->description() + "; " : "";
}

void run(const Options& options) {
  std::printf("# %s%s; SIMD level %s; OpenCV %s; commit %s\n", gpu_name(options).c_str(),
              processor_name().c_str(), host::simd_name(host::choose_simd_level()),
              OpenCvPeer::version().c_str(), kCommit);
  if (options.file != nullptr) {
    decode(options);
    return;
  }
  if (!OpenCvPeer::exists()) {
    std::fprintf(stderr, "pipeline-bench: built without OpenCV: ours is timed alone\n");
  }
  std::printf(
      "contestant,backend,output,image,width,height,threads,depth,from,to,pipelines,paced_fps,best_fps,"
      "median_fps,p50_ms,p99_ms,p99.9_ms,late,min_cpu_ms_per_frame,frames,rounds\n");
  for (const std::string& size : list(options.sizes, {"1920x1080"})) {
    const auto [width, height] = require_size(size);
    for (const std::string& image : list(options.images, {"blobs", "g1_d50"})) {
      Task task{.width = width, .height = height};
      task.backend = options.backend != nullptr ? options.backend : "cpu";
      task.from = options.from != nullptr ? options.from : "system";
      task.to = options.to != nullptr ? options.to : "system";
      const Ring ring(image, task);
      for (const std::string& output : list(options.outputs, {"colorized", "passthrough"})) {
        for (const std::string& threads : list(options.threads, {"1", "2"})) {
          for (const std::string& depth : list(options.depths, {"0"})) {
            task.is_colorized = output == "colorized";
            task.threads = static_cast<uint32_t>(std::atoi(threads.c_str()));
            task.depth = static_cast<uint32_t>(std::atoi(depth.c_str()));
            compete(task, image, ring, options);
          }
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
      {"depth", 'd', 0, G_OPTION_ARG_STRING_ARRAY, &options.depths,
       "Frames in flight in the element; repeatable (default: 0)", "N"},
      {"from", 0, 0, G_OPTION_ARG_STRING, &options.from,
       "Where frames are: system, pinned or cuda (default: system)", "MEMORY"},
      {"to", 0, 0, G_OPTION_ARG_STRING, &options.to, "Where pixels go: system or cuda (default: system)",
       "MEMORY"},
      {"file", 0, 0, G_OPTION_ARG_FILENAME, &options.file, "Decode this H.264 file instead", "FILE"},
      {"alone", 0, 0, G_OPTION_ARG_NONE, &options.alone, "Without OpenCV's pipeline beside", nullptr},
      {"frames", 'n', 0, G_OPTION_ARG_INT, &options.frames, "Of each pipeline in a round (default: 60)", "N"},
      {"rounds", 'r', 0, G_OPTION_ARG_INT, &options.rounds, "Of each contestant, in turns (default: 5)", "N"},
      {"pipelines", 'p', 0, G_OPTION_ARG_INT, &options.pipelines, "At the same time (default: 1)", "N"},
      {"fps", 'f', 0, G_OPTION_ARG_DOUBLE, &options.fps, "Live, at this rate (default: as fast as it goes)",
       "RATE"},
      {}};
  require(read_command_line(argc, argv, "- times pipelines with and without the element", entries,
                            gst_init_get_option_group()));
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
