// SPDX-License-Identifier: LGPL-2.1-or-later
#include "matrix.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ccl/engine.h"
#include "command_line.h"
#include "device.h"
#include "digest.h"
#include "images.h"
#include "machine.h"
#include "oracle.h"

namespace ccl::bench {

namespace {

using test::Image;

struct ImageSet {
  const char* name;
  std::vector<Image> images;
};

void append(std::vector<Image> more, std::vector<Image>* images) {
  std::move(more.begin(), more.end(), std::back_inserter(*images));
}

/// Every pattern of few pixels, side by side, one image for each shape.
ImageSet patterns() {
  constexpr uint8_t kStates[] = {0, 5, 250};
  ImageSet set{"patterns of up to 9 pixels", {}};
  for (const auto& [width, height] : test::sizes_up_to(9)) {
    set.images.push_back(test::all_patterns(width, height, std::span(kStates).first(2)));
    if (width * height <= 7) {
      set.images.push_back(test::all_patterns(width, height, kStates));
    }
  }
  return set;
}

ImageSet shapes() {
  ImageSet set{"shapes", {}};
  for (const auto& [width, height] : {std::pair{64u, 64u}, {257u, 129u}, {100u, 75u}, {31u, 200u}}) {
    append(test::adversarial_set(width, height), &set.images);
  }
  return set;
}

ImageSet values() {
  ImageSet set{"segments", {}};
  for (const auto& [width, height] : {std::pair{64u, 64u}, {257u, 129u}}) {
    append(test::value_set(width, height), &set.images);
  }
  return set;
}

ImageSet noise() {
  ImageSet set{"noise", {}};
  for (const uint32_t granularity : {1, 2, 4, 8, 16}) {
    for (uint32_t density = 10; density <= 90; density += 10) {
      const Image image = test::noise(331, 203, granularity, density, granularity * 100 + density);
      set.images.push_back(test::split_foreground(image));
    }
  }
  return set;
}

ImageSet sizes() {
  constexpr uint32_t kEdges[] = {1, 2, 31, 32, 33, 63, 64, 65, 129};
  ImageSet set{"sizes and strides", {}};
  for (const uint32_t width : kEdges) {
    for (const uint32_t height : kEdges) {
      const Image image = test::noise(width, height, 1, 55, width * 1000 + height);
      set.images.push_back(test::spread(image, height % 5, width % 7));
    }
  }
  return set;
}

ImageSet video() {
  return {"video sizes",
          {test::noise(1280, 720, 1, 55, 1), test::spiral(1280, 720), test::noise(1918, 1079, 4, 50, 2),
           test::blobs(1920, 1080, 1)}};
}

/// What a frame must come to.
struct Expected {
  uint32_t n_labels;
  uint64_t root_map;
  uint64_t labels;

  bool operator==(const Expected&) const = default;
};

uint64_t digest_of_map(const std::vector<uint32_t>& map) {
  return digest_of(map.data(), map.size() * sizeof(uint32_t));
}

/// One line of the matrix, and how it came out.
struct Line {
  const ImageSet& set;
  Settings settings;
  Backend backend;
  AlgorithmInfo labeler;
};

class Matrix {
 public:
  Matrix(bool on_gpu, std::string csv, Facts facts)
      : on_gpu_(on_gpu), csv_(std::move(csv)), facts_(std::move(facts)) {}
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;
  ~Matrix() {
    if (out_ != stdout) {
      std::fclose(out_);
    }
  }

  Status run() {
    CCL_RETURN_IF_ERROR(open());
    for (const ImageSet& set : {patterns(), shapes(), values(), noise(), sizes(), video()}) {
      for (const Connectivity connectivity : {Connectivity::k4, Connectivity::k8}) {
        for (const Foreground foreground : {Foreground::kBinary, Foreground::kValues}) {
          CCL_RETURN_IF_ERROR(run(set, {.connectivity = connectivity, .rule = {.foreground = foreground}}));
        }
      }
    }
    return n_wrong_ == 0
               ? Status{}
               : Status{StatusCode::kDeviceError, std::to_string(n_wrong_) + " frames are not exact"};
  }

 private:
  Status open() {
    if (on_gpu_) {
      std::unique_ptr<Device> device;
      const Status status = Device::open(&device);
      if (status.ok()) {
        const Facts more = device->facts();
        facts_.insert(facts_.end(), more.begin(), more.end());
      } else {
        std::fprintf(stderr, "ccl-bench: the GPU's labelers are left out: %s\n", status.message().c_str());
        on_gpu_ = false;
      }
    }
    out_ = csv_.empty() ? stdout : std::fopen(csv_.c_str(), "w");
    if (out_ == nullptr) {
      out_ = stdout;
      return {StatusCode::kInvalidArgument, csv_ + ": " + std::strerror(errno)};
    }
    for (const auto& [key, value] : facts_) {
      std::fprintf(out_, "# %s: %s\n", key.c_str(), value.c_str());
    }
    std::fputs("set,backend,algorithm,connectivity,foreground,frames,exact\n", out_);
    return {};
  }

  Status run(const ImageSet& set, const Settings& settings) {
    std::vector<Expected> expected;
    for (const Image& image : set.images) {
      const test::ExpectedFrame frame = test::expect_labels(image, settings);
      expected.push_back({frame.n_labels, digest_of_map(frame.root_map), digest_of_map(frame.labels)});
    }
    for (const Backend backend : {Backend::kCpu, Backend::kCuda}) {
      for (const AlgorithmInfo& labeler : algorithms()) {
        const bool exists = labeler.runs_on(backend) && (backend == Backend::kCpu || on_gpu_);
        if (exists && labeler.algorithm != Algorithm::kAuto) {
          CCL_RETURN_IF_ERROR(run({set, settings, backend, labeler}, expected));
        }
      }
    }
    return {};
  }

  Status run(const Line& line, const std::vector<Expected>& expected) {
    std::unique_ptr<Engine> engine = make_host_engine();
    if (line.backend == Backend::kCuda) {
      CCL_RETURN_IF_ERROR(make_device_engine({}, &engine));
    }
    size_t n_exact = 0;
    Config config{.algorithm = line.labeler.algorithm, .layout = {}, .max_components = 1};
    for (size_t i = 0; i < expected.size(); ++i) {
      const Image& image = line.set.images[i];
      if (config.width != image.width || config.height != image.height) {
        config.width = image.width;
        config.height = image.height;
        CCL_RETURN_IF_ERROR(engine->configure(config));
      }
      Expected got{};
      CCL_RETURN_IF_ERROR(run(engine.get(), image, line.settings, &got));
      n_exact += got == expected[i] ? 1 : 0;
    }
    n_wrong_ += expected.size() - n_exact;
    const bool is_binary = line.settings.rule.foreground == Foreground::kBinary;
    std::fprintf(out_, "%s,%s,%s,%u,%s,%zu,%zu\n", line.set.name, backend_name(line.backend),
                 line.labeler.nick, static_cast<uint32_t>(line.settings.connectivity),
                 is_binary ? "binary" : "values", expected.size(), n_exact);
    return std::fflush(out_) == 0 ? Status{}
                                  : Status{StatusCode::kInvalidArgument, "the CSV cannot be written"};
  }

  static Status run(Engine* engine, const Image& image, const Settings& settings, Expected* got) {
    std::vector<uint32_t> root_map(size_t{image.width} * image.height);
    std::vector<uint32_t> labels(root_map.size());
    CCL_RETURN_IF_ERROR(engine->push({.input = {image.pixels(), image.stride},
                                      .output = {},
                                      .settings = settings,
                                      .root_map = root_map.data(),
                                      .labels = labels.data()}));
    FrameResult result;
    CCL_RETURN_IF_ERROR(engine->pop(&result));
    *got = {result.counts.n_labels, digest_of_map(root_map), digest_of_map(labels)};
    return {};
  }

  bool on_gpu_;
  std::string csv_;
  Facts facts_;
  std::FILE* out_ = stdout;
  size_t n_wrong_ = 0;
};

}  // namespace

Status run_matrix(int argc, char** argv) {
  gboolean cpu_only = FALSE;
  gchar* csv = nullptr;
  gchar* commit = nullptr;
  const GOptionEntry entries[] = {
      {"cpu-only", 0, 0, G_OPTION_ARG_NONE, &cpu_only, "Leave out the GPU", nullptr},
      {"csv", 0, 0, G_OPTION_ARG_FILENAME, &csv, "Where to write (default: standard output)", "FILE"},
      {"commit", 0, 0, G_OPTION_ARG_STRING, &commit, "The sources' commit, for the CSV", "ID"},
      {}};
  // Without the name of the program, so that that of the command takes its place.
  CCL_RETURN_IF_ERROR(
      read_command_line(argc - 1, argv + 1, "- compares every labeler with the tests' oracle", entries));
  return Matrix(cpu_only == FALSE, text(csv), machine_facts(text(commit), argc, argv)).run();
}

}  // namespace ccl::bench
