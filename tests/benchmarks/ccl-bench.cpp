// SPDX-License-Identifier: LGPL-2.1-or-later
/// Times every labeler of a backend, stage by stage, on the images of Cabaret, Lacassagne, Etiemble's
/// protocol (MT19937 noise of several granularities and densities) and on hard shapes, and writes CSV:
///
///     ccl-bench --backend cuda --size 1920x1080 --size 3840x2160 > h200.csv
///
/// Times are those the engine tells (StageTimes): on the GPU by events on the frame's stream, kernels
/// launched one by one. Each is the median over the frames. Every labeler's labels are compared with the
/// others'; a difference ends the program.
#include <glib.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "ccl/engine.h"
#include "images.h"

namespace {

using ccl::test::Image;

struct Options {
  gchar* backend = nullptr;
  gchar** sizes = nullptr;
  gint frames = 21;
  gint connectivity = 8;
  gchar* only = nullptr;  // one algorithm
};

[[noreturn]] void fail(const std::string& message) {
  std::fprintf(stderr, "ccl-bench: %s\n", message.c_str());
  std::exit(EXIT_FAILURE);
}

void require(const ccl::Status& status) {
  if (!status.ok()) {
    fail(status.message());
  }
}

std::vector<Image> images(uint32_t width, uint32_t height) {
  constexpr uint32_t kSeed = 1;
  std::vector<Image> all;
  for (const uint32_t granularity : {1, 2, 4, 8, 16}) {
    for (const uint32_t density : {10, 30, 50, 60, 70, 90}) {
      all.push_back(ccl::test::noise(width, height, granularity, density, kSeed));
      all.back().name = "g" + std::to_string(granularity) + "_d" + std::to_string(density);
    }
  }
  all.push_back(ccl::test::spiral(width, height));
  all.back().name = "spiral";
  all.push_back(ccl::test::serpentine(width, height));
  all.back().name = "serpentine";
  all.push_back(ccl::test::plain("full", width, height, 255));
  all.back().name = "full";
  all.push_back(ccl::test::plain("empty", width, height));
  all.back().name = "empty";
  all.push_back(ccl::test::blobs(width, height, kSeed));
  all.back().name = "blobs";
  return all;
}

/// The medians of each stage over many frames.
class Medians {
 public:
  void add(const ccl::StageTimes& times) { all_.push_back(times); }

  float of(float ccl::StageTimes::*stage) {
    std::vector<float> values;
    for (const ccl::StageTimes& times : all_) {
      values.push_back(times.*stage);
    }
    std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(values.size() / 2),
                     values.end());
    return values[values.size() / 2];
  }

 private:
  std::vector<ccl::StageTimes> all_;
};

class Bench {
 public:
  Bench(std::unique_ptr<ccl::Engine> engine, const Options& options)
      : engine_(std::move(engine)), options_(options) {}

  void run(uint32_t width, uint32_t height) {
    labels_.resize(size_t{width} * height);
    pixels_.resize(size_t{width} * height * 4);
    const std::vector<Image> all = images(width, height);
    std::vector<std::vector<uint32_t>> expected(all.size());
    for (const ccl::AlgorithmInfo& info : ccl::algorithms()) {
      const bool exists = engine_->backend() == ccl::Backend::kCpu ? info.on_cpu : info.on_cuda;
      if (!exists || info.algorithm == ccl::Algorithm::kAuto ||
          (options_.only != nullptr && options_.only != std::string(info.nick))) {
        continue;
      }
      require(engine_->configure({.width = width,
                                  .height = height,
                                  .algorithm = info.algorithm,
                                  .output = ccl::Output::kColorized,
                                  .layout = {},
                                  .max_components = width * height}));
      for (size_t i = 0; i < all.size(); ++i) {
        time(info, all[i], &expected[i]);
      }
    }
  }

 private:
  void time(const ccl::AlgorithmInfo& info, const Image& image, std::vector<uint32_t>* expected) {
    ccl::FrameJob job{.input = {image.pixels(), image.stride},
                      .output = {pixels_.data(), size_t{image.width} * 4},
                      .settings = {}};
    job.settings.connectivity = options_.connectivity == 4 ? ccl::Connectivity::k4 : ccl::Connectivity::k8;
    job.labels = labels_.data();
    ccl::FrameResult result = frame(job);
    if (expected->empty()) {
      *expected = labels_;
    } else if (*expected != labels_) {
      fail(std::string(info.nick) + " labels " + image.name + " otherwise than those before it");
    }
    job.labels = nullptr;
    Medians medians;
    for (gint i = 0; i < options_.frames; ++i) {
      result = frame(job);
      medians.add(result.times);
    }
    std::printf("%s,%s,%s,%u,%u,%d,%u,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%d\n",
                ccl::backend_name(engine_->backend()), info.nick, image.name.c_str(), image.width,
                image.height, options_.connectivity, result.n_labels, medians.of(&ccl::StageTimes::upload),
                medians.of(&ccl::StageTimes::label), medians.of(&ccl::StageTimes::number),
                medians.of(&ccl::StageTimes::measure), medians.of(&ccl::StageTimes::paint),
                medians.of(&ccl::StageTimes::download), options_.frames);
    std::fflush(stdout);
  }

  ccl::FrameResult frame(const ccl::FrameJob& job) {
    ccl::FrameResult result;
    require(engine_->push(job));
    require(engine_->pop(&result));
    return result;
  }

  std::unique_ptr<ccl::Engine> engine_;
  const Options& options_;
  std::vector<uint32_t> labels_;
  std::vector<uint8_t> pixels_;
};

Options parse(int argc, char** argv) {
  static Options options;
  const GOptionEntry entries[] = {
      {"backend", 'b', 0, G_OPTION_ARG_STRING, &options.backend, "cpu or cuda (default: cpu)", "BACKEND"},
      {"size", 's', 0, G_OPTION_ARG_STRING_ARRAY, &options.sizes, "Repeatable (default: 1920x1080)",
       "WIDTHxHEIGHT"},
      {"frames", 'n', 0, G_OPTION_ARG_INT, &options.frames, "Timed frames of each image (default: 21)", "N"},
      {"connectivity", 'c', 0, G_OPTION_ARG_INT, &options.connectivity, "4 or 8 (default: 8)", "N"},
      {"algorithm", 'a', 0, G_OPTION_ARG_STRING, &options.only, "Only this one", "NICK"},
      {}};
  GOptionContext* context = g_option_context_new("- times the labelers");
  g_option_context_add_main_entries(context, entries, nullptr);
  GError* error = nullptr;
  if (!g_option_context_parse(context, &argc, &argv, &error)) {
    fail(error->message);
  }
  g_option_context_free(context);
  if (options.frames < 1) {
    fail("--frames wants at least 1");
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  std::unique_ptr<ccl::Engine> engine = ccl::make_host_engine();
  if (options.backend != nullptr && std::string(options.backend) == "cuda") {
    require(ccl::make_device_engine({}, &engine));
  }
  std::printf("# %s\n", engine->description().c_str());
  std::printf(
      "backend,algorithm,image,width,height,connectivity,components,upload_us,label_us,number_us,"
      "measure_us,paint_us,download_us,frames\n");
  Bench bench(std::move(engine), options);
  const gchar* default_sizes[] = {"1920x1080", nullptr};
  for (const gchar* const* size = options.sizes != nullptr ? options.sizes : default_sizes; *size != nullptr;
       ++size) {
    unsigned width = 0;
    unsigned height = 0;
    if (std::sscanf(*size, "%ux%u", &width, &height) != 2) {
      fail(std::string("--size wants WIDTHxHEIGHT, not ") + *size);
    }
    bench.run(width, height);
  }
  return EXIT_SUCCESS;
}
