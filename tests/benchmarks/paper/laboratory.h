// SPDX-License-Identifier: LGPL-2.1-or-later
/// What the experiments of all papers share: images with what they must come to, labelers by name, a
/// report.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ccl/config.h"
#include "ccl/status.h"
#include "common.h"
#include "device.h"
#include "host/thread_pool.h"
#include "images.h"
#include "label_subject.h"
#include "report.h"

namespace ccl::bench {

struct PaperOptions {
  std::string paper;     ///< "kalentev", "oliveira", "dlp" or "stava"
  bool on_gpu = true;    ///< false: the CPU's part only
  bool small = false;    ///< a sixteenth of the pixels, for a look at it
  uint32_t threads = 4;  ///< of the CPU's labelers, where the paper's had several
  std::string natural;   ///< a folder of PGM files made by natural-images
  std::string csv;       ///< empty: none
  std::string commit;    ///< of the sources; empty: what the build found
};

/// What draws an image.
using Draw = std::function<test::Image()>;

/// An image and what it must come to, from the host engine.
struct PaperImage {
  test::Image image;
  uint64_t root_map_digest = 0;
  uint64_t sizes_digest = 0;  ///< as in Labelling

  Size size() const { return {image.width, image.height}; }
};

/// A labeler and where it runs.
struct Contestant {
  Backend backend = Backend::kCuda;
  std::string nick;
};

struct Measured {
  double us = kNoFigure;  ///< median
  uint32_t n_iterations = 0;
};

class Laboratory {
 public:
  explicit Laboratory(const PaperOptions& options) : options_(options), pool_(options.threads) {}

  /// Opens the report, and the GPU where there is one; says why, where there is none.
  Status open(int argc, char** argv);

  const PaperOptions& options() const { return options_; }
  Report& report() { return report_; }
  bool has_gpu() const { return device_ != nullptr; }
  const Device& gpu() const { return *device_; }
  host::ThreadPool& pool() { return pool_; }

  /// What every image of the experiment is labelled with.
  Settings settings;

  /// `length`, or a quarter of it for small experiments.
  uint32_t length(uint32_t length) const { return options_.small ? length / 4 : length; }

  /// Draws images on all processors and finds what they must come to.
  Status prepare(const std::vector<Draw>& draws, std::vector<PaperImage>* images) const;
  Status prepare(const Draw& draw, PaperImage* image) const;

  /// Times a labeler and compares its root map; nothing where there is no such labeler, which is said.
  Status measure(const Contestant& contestant, const PaperImage& image, std::optional<Measured>* measured);
  /// The same, kernel by kernel.
  Status measure_steps(const Contestant& contestant, const PaperImage& image, std::vector<Step>* steps);

 private:
  Status load(const Contestant& contestant, const PaperImage& image, LabelSubject** subject);
  Status make_subject(const Contestant& contestant, Size size, std::unique_ptr<LabelSubject>* subject);

  PaperOptions options_;
  host::ThreadPool pool_;
  std::unique_ptr<Device> device_;
  std::string why_no_gpu_;
  Report report_;
  Size size_{};                                                    ///< of subjects_
  std::map<std::string, std::unique_ptr<LabelSubject>> subjects_;  ///< by backend and nick
};

/// "0.123 ms" and what may be said of it.
std::string milliseconds(double us);

/// The experiments. Each fails only where a labeler is wrong or the machine fails.
Status run_kalentev(Laboratory* laboratory);
Status run_oliveira(Laboratory* laboratory);
Status run_dlp(Laboratory* laboratory);
Status run_stava(Laboratory* laboratory);

/// `ccl-bench paper ...`: the whole command line.
Status run_paper(int argc, char** argv);

}  // namespace ccl::bench
