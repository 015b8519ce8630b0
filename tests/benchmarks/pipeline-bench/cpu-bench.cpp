// SPDX-License-Identifier: LGPL-2.1-or-later
/// Times the CPU engine beside OpenCV's algorithms and beside a plain copy, in one process, and writes CSV:
///
///     cpu-bench --size 1920x1080 --size 3840x2160 > labels.csv
///     tests/benchmarks/report/pack.py labels.csv
///
/// For each image every method runs once in each round, so that whatever else the machine does falls on all
/// of them. What is timed:
/// - labels: 32-bit labels of every pixel (ours canonical, OpenCV's in its own order);
/// - stats: the same with area, box and centroid of every component;
/// - records: ours only: all features of every component, no pixel written;
/// - rgba: ours only: all features and a colour for every pixel;
/// - copy: 8 bits of every pixel read and 32 written, by ordinary stores or past the caches.
/// OpenCV must find as many components as we do; a difference ends the program.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "ccl/engine.h"
#include "command_line.h"
#include "commit.h"
#include "host/simd_level.h"
#include "host/thread_pool.h"
#include "opencv_peer.h"
#include "protocol.h"

namespace ccl::bench {

namespace {

using test::Image;

struct Options {
  gchar** sizes = nullptr;
  gchar** images = nullptr;
  gint rounds = 15;
};

/// Anything that is timed. Returns the number of components, 0 for what finds none.
class Method {
 public:
  virtual ~Method() = default;
  virtual void prepare(const Image& image) = 0;
  virtual uint32_t run(const Image& image) = 0;

  std::string name;
  std::string kind;
  uint32_t threads = 1;
};

class Ours final : public Method {
 public:
  Ours(const std::string& what, uint32_t n_threads) : engine_(make_host_engine()) {
    name = "cudaccl";
    kind = what;
    threads = n_threads;
  }

  void prepare(const Image& image) override {
    const bool is_colorized = kind == "rgba";
    require(engine_->configure({.width = image.width,
                                .height = image.height,
                                .output = is_colorized ? Output::kColorized : Output::kNone,
                                .layout = {},
                                .max_components = (image.width + 1) * (image.height + 1) / 4 + 1,
                                .threads = threads}));
    const size_t n_pixels = size_t{image.width} * image.height;
    if (n_pixels != pixels_.size()) {
      pixels_.assign(n_pixels, 0);
    }
  }

  uint32_t run(const Image& image) override {
    FrameJob job{.input = {image.pixels(), image.stride},
                 .output = {reinterpret_cast<uint8_t*>(pixels_.data()), size_t{image.width} * 4},
                 .settings = {}};
    if (kind == "labels" || kind == "stats") {
      job.labels = pixels_.data();
      job.settings.features = 0;
    }
    if (kind == "labels") {
      job.settings.filter.min_area = std::numeric_limits<uint32_t>::max();  // no records
    }
    FrameResult result;
    require(engine_->push(job));
    require(engine_->pop(&result));
    return result.counts.n_labels;
  }

 private:
  std::unique_ptr<Engine> engine_;
  std::vector<uint32_t> pixels_;
};

class Theirs final : public Method {
 public:
  Theirs(PeerAlgorithm algorithm, const char* nick, const std::string& what, uint32_t n_threads)
      : algorithm_(algorithm) {
    name = std::string("opencv-") + nick;
    kind = what;
    threads = n_threads;
  }

  void prepare(const Image&) override {}

  uint32_t run(const Image& image) override {
    OpenCvPeer::set_threads(threads);
    return kind == "labels"
               ? peer_.label(image.pixels(), image.width, image.height, image.stride, algorithm_)
               : peer_.label_with_stats(image.pixels(), image.width, image.height, image.stride, algorithm_);
  }

 private:
  OpenCvPeer peer_;
  PeerAlgorithm algorithm_;
};

/// The least that anything with an output of 4 bytes a pixel must do.
class Copy final : public Method {
 public:
  Copy(bool is_streamed, uint32_t n_threads) : is_streamed_(is_streamed), pool_(n_threads) {
    name = is_streamed ? "copy-streamed" : "copy";
    kind = "copy";
    threads = n_threads;
  }

  void prepare(const Image& image) override {
    const size_t n_pixels = size_t{image.width} * image.height;
    if (n_pixels != pixels_.size()) {
      pixels_.assign(n_pixels, 0);
    }
  }

  uint32_t run(const Image& image) override {
    constexpr uint32_t kRowsPerChunk = 64;
    pool_.parallel_for((image.height + kRowsPerChunk - 1) / kRowsPerChunk, [&](uint32_t chunk) {
      const uint32_t end = std::min(image.height, (chunk + 1) * kRowsPerChunk);
      for (uint32_t y = chunk * kRowsPerChunk; y < end; ++y) {
        copy_row(image.pixels() + y * image.stride, image.width, pixels_.data() + size_t{y} * image.width);
      }
    });
    return 0;
  }

 private:
  void copy_row(const uint8_t* in, uint32_t width, uint32_t* out) const {
    uint32_t x = 0;
#if defined(__x86_64__)
    const __m128i zero = _mm_setzero_si128();
    for (; is_streamed_ && x + 4 <= width; x += 4) {
      int32_t four;
      std::copy_n(in + x, sizeof(four), reinterpret_cast<uint8_t*>(&four));
      const __m128i bytes = _mm_unpacklo_epi8(_mm_cvtsi32_si128(four), zero);
      _mm_stream_si128(reinterpret_cast<__m128i*>(out + x), _mm_unpacklo_epi16(bytes, zero));
    }
#endif
    std::copy(in + x, in + width, out + x);
  }

  bool is_streamed_;
  host::ThreadPool pool_;
  std::vector<uint32_t> pixels_;
};

std::vector<std::unique_ptr<Method>> make_methods() {
  std::vector<std::unique_ptr<Method>> methods;
  for (const uint32_t threads : {1u, 2u}) {
    methods.push_back(std::make_unique<Copy>(false, threads));
    methods.push_back(std::make_unique<Copy>(true, threads));
    for (const char* kind : {"labels", "stats", "records", "rgba"}) {
      methods.push_back(std::make_unique<Ours>(kind, threads));
    }
    for (const auto& [algorithm, nick] : {std::pair{PeerAlgorithm::kSauf, "sauf"},
                                          {PeerAlgorithm::kBbdt, "bbdt"},
                                          {PeerAlgorithm::kSpaghetti, "spaghetti"}}) {
      for (const char* kind : {"labels", "stats"}) {
        if (OpenCvPeer::exists()) {
          methods.push_back(std::make_unique<Theirs>(algorithm, nick, kind, threads));
        }
      }
    }
  }
  return methods;
}

void time_image(const std::vector<std::unique_ptr<Method>>& methods, const Image& image, gint rounds) {
  std::vector<std::vector<double>> wall(methods.size());
  std::vector<std::vector<double>> cpu(methods.size());
  uint32_t n_components = 0;
  for (const std::unique_ptr<Method>& method : methods) {
    method->prepare(image);
    const uint32_t n = method->run(image);
    if (method->kind != "copy") {
      n_components = n_components == 0 ? n : n_components;
      if (n != n_components) {
        fail("cpu-bench: " + method->name + " finds " + std::to_string(n) + " components in " + image.name +
             ", not " + std::to_string(n_components));
      }
    }
  }
  for (gint round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < methods.size(); ++i) {
      const Time taken = time([&] { methods[i]->run(image); });
      wall[i].push_back(taken.wall_us);
      cpu[i].push_back(taken.cpu_us);
    }
  }
  for (size_t i = 0; i < methods.size(); ++i) {
    const Summary summary = summarize(wall[i]);
    std::printf("%s,%u,%u,%s,%s,%u,%u,%.1f,%.1f,%.1f,%d\n", image.name.c_str(), image.width, image.height,
                methods[i]->name.c_str(), methods[i]->kind.c_str(), methods[i]->threads, n_components,
                summary.min, summary.median, summarize(cpu[i]).min, rounds);
  }
  std::fflush(stdout);
}

Options parse(int argc, char** argv) {
  Options options;
  const GOptionEntry entries[] = {
      {"size", 's', 0, G_OPTION_ARG_STRING_ARRAY, &options.sizes, "Repeatable (default: 1920x1080)",
       "WIDTHxHEIGHT"},
      {"image", 'i', 0, G_OPTION_ARG_STRING_ARRAY, &options.images, "Repeatable (default: all)", "NAME"},
      {"rounds", 'n', 0, G_OPTION_ARG_INT, &options.rounds, "Timed runs of each method (default: 15)", "N"},
      {}};
  require(read_command_line(argc, argv, "- times the CPU engine beside OpenCV", entries));
  if (options.rounds < 1) {
    fail("cpu-bench: --rounds wants at least 1");
  }
  return options;
}

void run(const Options& options) {
  std::printf("# %s; SIMD level %s; OpenCV %s; commit %s\n", processor_name().c_str(),
              host::simd_name(host::choose_simd_level()), OpenCvPeer::version().c_str(), kCommit);
  if (!OpenCvPeer::exists()) {
    std::fprintf(stderr, "cpu-bench: built without OpenCV: ours is timed alone\n");
  }
  std::printf("image,width,height,method,kind,threads,components,min_us,median_us,min_cpu_us,rounds\n");
  const std::vector<std::unique_ptr<Method>> methods = make_methods();
  const gchar* default_sizes[] = {"1920x1080", nullptr};
  for (const gchar* const* size = options.sizes != nullptr ? options.sizes : default_sizes; *size != nullptr;
       ++size) {
    const auto [width, height] = require_size(*size);
    for (const Image& image : protocol_images(width, height)) {
      if (options.images == nullptr || g_strv_contains(options.images, image.name.c_str()) != FALSE) {
        time_image(methods, image, options.rounds);
      }
    }
  }
}

}  // namespace

}  // namespace ccl::bench

int main(int argc, char** argv) {
  ccl::bench::run(ccl::bench::parse(argc, argv));
  return EXIT_SUCCESS;
}
