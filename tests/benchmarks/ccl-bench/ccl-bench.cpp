// SPDX-License-Identifier: LGPL-2.1-or-later
/// Times every labeler of a backend on the images of image_set.h, compares what each gives with the host
/// engine's in the run that is timed, and writes CSV:
///
///     ccl-bench --backend cuda --size 1080p --size 4k --csv h200.csv
///
/// On the GPU a frame lies in device memory and so do its results: what is timed is a pipeline, or its
/// labelling stage alone, by events, in a CUDA graph. The floor and NPP are timed in the same run.
///
/// `ccl-bench paper NAME` repeats a paper's experiments instead (paper/).
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "batch.h"
#include "csv.h"
#include "device.h"
#include "image_set.h"
#include "machine.h"
#include "options.h"
#include "paper/laboratory.h"
#include "progress.h"
#include "reference.h"
#include "segment.h"
#include "subject.h"
#include "track.h"

namespace ccl::bench {

namespace {

class Bench {
 public:
  explicit Bench(const Options& options)
      : options_(options), repetitions_{options.repetitions, options.budget_us} {}

  Status run(int argc, char** argv) {
    if (!options_.dump_images.empty()) {
      return dump();
    }
    Facts facts = machine_facts(options_.commit, argc, argv);
    if (options_.backend == Backend::kCuda) {
      CCL_RETURN_IF_ERROR(Device::open(&device_));
      const Facts more = device_->facts();
      facts.insert(facts.end(), more.begin(), more.end());
    }
    CCL_RETURN_IF_ERROR(csv_.open(options_.csv));
    csv_.write_header(facts);
    for (const Size size : options_.sizes) {
      CCL_RETURN_IF_ERROR(run(size));
    }
    return {};
  }

 private:
  /// What is timed on one image.
  struct Case {
    const AlgorithmInfo* info;
    Output output;
    Mode mode;
    uint32_t features;
    size_t image;
  };

  Status dump() {
    for (const Size size : options_.sizes) {
      CCL_RETURN_IF_ERROR(make_images(options_, size, &images_));
      CCL_RETURN_IF_ERROR(dump_images(options_.dump_images, images_));
    }
    return {};
  }

  Status run(Size size) {
    CCL_RETURN_IF_ERROR(make_images(options_, size, &images_));
    CCL_RETURN_IF_ERROR(references_.compute(options_, images_));
    const bool has_label = options_.has(Mode::kLabel);
    const size_t n_modes = options_.modes.size() - has_label;
    const size_t n_frames = options_.outputs.size() * options_.features.size() * n_modes;
    Progress progress((n_frames + has_label) * options_.algorithms.size() * images_.size());
    progress_ = &progress;
    if (device_) {
      CCL_RETURN_IF_ERROR(time_surroundings(size));
    }
    for (const Output output : options_.outputs) {
      for (const AlgorithmInfo& info : options_.algorithms) {
        CCL_RETURN_IF_ERROR(run(size, output, info));
      }
    }
    for (size_t i = 0; has_label && i < options_.algorithms.size(); ++i) {
      CCL_RETURN_IF_ERROR(label(size, options_.algorithms[i]));
    }
    return {};
  }

  /// Mode::kLabel.
  Status label(Size size, const AlgorithmInfo& info) {
    if (info.algorithm == Algorithm::kRuns) {
      return {};
    }
    std::unique_ptr<LabelSubject> subject;
    CCL_RETURN_IF_ERROR(device_->make_label_subject(info.nick, size, &subject));
    for (size_t i = 0; i < images_.size(); ++i) {
      progress_->start(std::string(info.nick) + ", " + images_[i].name);
      Labelling labelling;
      CCL_RETURN_IF_ERROR(subject->load(images_[i], {}));
      CCL_RETURN_IF_ERROR(subject->label(options_.connectivity, repetitions_, &labelling));
      Row row = make_row({&info, Output::kNone, Mode::kLabel, 0, i});
      row.output = "root-map";
      row.features = "-";
      const Digests& reference = references_.labelling(i);
      if (labelling.root_map_digest != reference.root_map) {
        return {StatusCode::kDeviceError,
                std::string(info.nick) + " on " + row.image + ": not the host engine's root map"};
      }
      row.components = reference.counts.n_labels;
      row.iterations = labelling.n_iterations;
      row.times = labelling.us;
      CCL_RETURN_IF_ERROR(csv_.write(row));
    }
    return {};
  }

  /// What stands beside the labelers: the floor and peers.
  Status time_surroundings(Size size) {
    std::vector<Row> rows;
    if (options_.with_floor) {
      CCL_RETURN_IF_ERROR(device_->time_floor(size, repetitions_, &rows.emplace_back()));
    }
    for (size_t i = 0; options_.with_peers && i < images_.size(); ++i) {
      CCL_RETURN_IF_ERROR(device_->time_peers(images_[i], options_.connectivity, repetitions_, &rows));
    }
    for (const Row& row : rows) {
      CCL_RETURN_IF_ERROR(csv_.write(row));
    }
    return {};
  }

  Status run(Size size, Output output, const AlgorithmInfo& info) {
    const Config config{.width = size.width,
                        .height = size.height,
                        .algorithm = info.algorithm,
                        .output = output,
                        .layout = {},
                        .max_components = std::max(references_.most_components(), 1u)};
    for (const Mode mode : {Mode::kGraph, Mode::kEngine}) {
      if (!options_.has(mode)) {
        continue;
      }
      std::unique_ptr<Subject> subject;
      CCL_RETURN_IF_ERROR(mode == Mode::kEngine ? make_engine(config, &subject)
                                                : device_->make_subject(config, &subject));
      for (size_t image = 0; image < images_.size(); ++image) {
        CCL_RETURN_IF_ERROR(subject->load(images_[image]));
        CCL_RETURN_IF_ERROR(run(subject.get(), {&info, output, mode, 0, image}));
      }
    }
    return {};
  }

  Status make_engine(const Config& config, std::unique_ptr<Subject>* subject) const {
    std::unique_ptr<Engine> engine = make_host_engine();
    if (options_.backend == Backend::kCuda) {
      CCL_RETURN_IF_ERROR(make_device_engine({}, &engine));
    }
    return make_engine_subject(std::move(engine), config, subject);
  }

  Status run(Subject* subject, Case the_case) {
    for (const uint32_t features : options_.features) {
      the_case.features = features;
      progress_->start(std::string(the_case.info->nick) + ", " + images_[the_case.image].name);
      if (const Status status = time(subject, the_case); !status.ok()) {
        return {status.code(), describe(the_case) + ": " + status.message()};
      }
    }
    return {};
  }

  Settings settings(const Case& the_case) const {
    return {.connectivity = options_.connectivity,
            .rule = {},
            .separation = options_.separation,
            .features = the_case.features};
  }

  /// The maps come last: an engine runs another frame for them, and the one that was timed is to be checked.
  Status check(Subject* subject, const Case& the_case, Digests* digests) {
    for (const bool with_maps : {false, true}) {
      CCL_RETURN_IF_ERROR(subject->digests(settings(the_case), with_maps, digests));
      CCL_RETURN_IF_ERROR(references_.compare(the_case.image, the_case.output, the_case.features, *digests));
    }
    return {};
  }

  Row make_row(const Case& the_case) const {
    const test::Image& image = images_[the_case.image];
    return {.backend = backend_name(options_.backend),
            .algorithm = the_case.info->nick,
            .mode = mode_name(the_case.mode),
            .output = output_name(the_case.output),
            .features = features_name(the_case.features),
            .connectivity = static_cast<uint32_t>(options_.connectivity),
            .image = image.name,
            .width = image.width,
            .height = image.height};
  }

  Status time(Subject* subject, const Case& the_case) {
    Row row = make_row(the_case);
    CCL_RETURN_IF_ERROR(subject->time(settings(the_case), repetitions_, &row.times));
    Digests digests;
    CCL_RETURN_IF_ERROR(check(subject, the_case, &digests));
    row.components = digests.counts.n_components;
    row.iterations = digests.counts.n_iterations;
    return csv_.write(row);
  }

  std::string describe(const Case& the_case) const {
    const test::Image& image = images_[the_case.image];
    return std::string(the_case.info->nick) + " on " + image.name + " " + std::to_string(image.width) + "x" +
           std::to_string(image.height) + ", " + mode_name(the_case.mode) + ", " +
           output_name(the_case.output) + ", " + features_name(the_case.features);
  }

  const Options& options_;
  Repetitions repetitions_;
  CsvWriter csv_;
  std::unique_ptr<Device> device_;
  std::vector<test::Image> images_;  ///< of the size that is being run
  References references_;            ///< of images_
  Progress* progress_ = nullptr;
};

}  // namespace

}  // namespace ccl::bench

int main(int argc, char** argv) {
  ccl::bench::Options options;
  ccl::Status status;
  const std::string command = argc > 1 ? argv[1] : "";
  if (command == "paper") {
    status = ccl::bench::run_paper(argc, argv);
  } else if (command == "batch") {
    status = ccl::bench::run_batch(argc, argv);
  } else if (command == "segment") {
    status = ccl::bench::run_segment(argc, argv);
  } else if (command == "track") {
    status = ccl::bench::run_track(argc, argv);
  } else if (command == "track-cpu") {
    status = ccl::bench::run_track_engine(argc, argv);
  } else if (command == "track-noise") {
    status = ccl::bench::run_track_noise(argc, argv);
  } else if (command == "track-noise-cpu") {
    status = ccl::bench::run_track_noise_engine(argc, argv);
  } else {
    status = ccl::bench::parse_options(argc, argv, &options);
    if (status.ok()) {
      status = ccl::bench::Bench(options).run(argc, argv);
    }
  }
  if (!status.ok()) {
    std::fprintf(stderr, "ccl-bench: %s\n", status.message().c_str());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
