// SPDX-License-Identifier: LGPL-2.1-or-later
/// Compares the foreground that background models find with the truth of planted sequences: this library's
/// models beside OpenCV's, on the same frames, with the same morphology afterwards.
///
///     foreground-bench --csv foreground.csv
///     foreground-bench --method sigma-delta --category jitter --dump pictures
///     foreground-bench --speed --csv speed.csv
///
/// The models of this library read luma and chroma of I420, OpenCV's read BGR that is made from it. CDnet's
/// rules (Goyette et al. 2012): pixels within one pixel of an object's outline are not counted, an object
/// that stands is foreground, a cast shadow is not. An object that has been there from the first frame is not
/// counted until it moves.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "commit.h"
#include "machine.h"
#include "method.h"
#include "options.h"
#include "protocol.h"
#include "scenes.h"
#include "score.h"
#include "speed.h"
#include "summary.h"

namespace ccl::bench {

namespace {

using Methods = std::vector<std::unique_ptr<Method>>;

Methods make_methods(const Options& options) {
  Methods methods;
  for (const std::string& name : options.methods.empty() ? default_methods() : options.methods) {
    std::unique_ptr<Method> method = make_method(name, options.method_options);
    if (method != nullptr) {
      methods.push_back(std::move(method));
    } else if (options.methods.empty() && name.starts_with("cnt")) {
      std::fprintf(stderr, "foreground-bench: this OpenCV has no bgsegm module: %s is left out\n",
                   name.c_str());
    } else {
      fail("foreground-bench: there is no method " + name);
    }
  }
  return methods;
}

/// Frame, truth and masks side by side.
void dump(const std::string& folder, const Sequence& sequence, const Frame& frame,
          const std::vector<cv::Mat>& masks) {
  cv::Mat truth = frame.truth.clone();
  truth.setTo(128, frame.counted == 0);
  std::vector<cv::Mat> parts = {frame.bgr};
  for (const cv::Mat& grey : masks) {
    cv::cvtColor(grey, parts.emplace_back(), cv::COLOR_GRAY2BGR);
  }
  cv::cvtColor(truth, *parts.emplace(parts.begin() + 1), cv::COLOR_GRAY2BGR);
  cv::Mat picture;
  cv::hconcat(parts, picture);
  char number[16];
  std::snprintf(number, sizeof(number), "%03d", frame.number);
  std::string file = sequence.category + "-" + sequence.name + "-" + number + ".png";
  std::replace(file.begin(), file.end(), ' ', '-');
  if (!cv::imwrite((std::filesystem::path(folder) / file).string(), picture)) {
    fail("foreground-bench: cannot write " + file);
  }
}

void run_sequence(const Options& options, const Sequence& sequence, Pictures* pictures,
                  const Methods& methods, std::vector<Outcome>* outcomes) {
  Renderer renderer(sequence, pictures, options.size);
  std::vector<Judge> judges(methods.size(), Judge(sequence));
  std::vector<cv::Mat> masks(methods.size());
  for (const std::unique_ptr<Method>& method : methods) {
    method->begin(options.size);
  }
  for (int i = 0; i < kFrames; ++i) {
    const Frame& frame = renderer.next();
    for (size_t m = 0; m < methods.size(); ++m) {
      methods[m]->apply(frame, &masks[m]);
      judges[m].add(frame, masks[m]);
    }
    if (!options.dump.empty() && i % options.dump_every == 0) {
      dump(options.dump, sequence, frame, masks);
    }
  }
  for (size_t m = 0; m < methods.size(); ++m) {
    outcomes->push_back({sequence.category, sequence.name, methods[m]->name, methods[m]->parameter,
                         judges[m].score(), judges[m].settled_after()});
  }
}

bool is_wanted(const Options& options, const std::string& category) {
  return options.categories.empty() || std::find(options.categories.begin(), options.categories.end(),
                                                 category) != options.categories.end();
}

void check_categories(const Options& options, const std::vector<Sequence>& sequences) {
  for (const std::string& wanted : options.categories) {
    std::string names;
    bool exists = false;
    for (const Sequence& sequence : sequences) {
      exists = exists || sequence.category == wanted;
      if (names.find(sequence.category) == std::string::npos) {
        names += (names.empty() ? "" : ", ") + sequence.category;
      }
    }
    if (!exists) {
      fail("foreground-bench: there is no category " + wanted + "; there are " + names);
    }
  }
}

Facts facts(int argc, char** argv) {
  Facts facts = machine_facts({}, argc, argv);
  facts.emplace_back("opencv", CV_VERSION);
  return facts;
}

void compare(const Options& options, const Facts& facts) {
  const Methods methods = make_methods(options);
  Pictures pictures(options.pictures);
  const std::vector<Sequence> sequences = make_sequences(&pictures, options.size, options.seed);
  check_categories(options, sequences);
  if (!options.dump.empty()) {
    std::filesystem::create_directories(options.dump);
  }
  std::vector<Outcome> outcomes;
  for (const Sequence& sequence : sequences) {
    if (is_wanted(options, sequence.category)) {
      run_sequence(options, sequence, &pictures, methods, &outcomes);
      std::fprintf(stderr, "%s, %s\n", sequence.category.c_str(), sequence.name.c_str());
    }
  }
  if (!options.csv.empty()) {
    write_csv(options.csv, facts, options.size, outcomes);
  }
  print_summary(outcomes);
}

}  // namespace

}  // namespace ccl::bench

int main(int argc, char** argv) {
  const ccl::bench::Facts facts = ccl::bench::facts(argc, argv);
  const ccl::bench::Options options = ccl::bench::parse_options(argc, argv);
  cv::setNumThreads(1);
  if (options.is_speed) {
    ccl::bench::time_methods(options, facts);
  } else {
    ccl::bench::compare(options, facts);
  }
  return EXIT_SUCCESS;
}
