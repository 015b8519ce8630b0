// SPDX-License-Identifier: LGPL-2.1-or-later
/// Engines of the backend under test, the cases they are tested with, and a way to run single frames.
#pragma once

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ccl/engine.h"
#include "images.h"
#include "names.h"

namespace ccl::test {

/// The backend under test: the value of CUDACCL_TEST_BACKEND in the environment, "cpu" if it is not set.
Backend backend();

/// An engine of the backend under test.
Status make_engine(std::unique_ptr<Engine>* engine);

/// The labelers of the backend under test, without kAuto.
std::vector<AlgorithmInfo> labelers();

/// A labeler and the settings it runs with.
struct LabelerCase {
  AlgorithmInfo labeler;
  Connectivity connectivity;
  Foreground foreground;

  Settings settings() const;
};

/// Every labeler with either connectivity and either foreground.
std::vector<LabelerCase> labeler_cases();
/// Those of one labeler.
std::vector<LabelerCase> labeler_cases(Algorithm algorithm);

/// Labelers with which everything behind the root map is tested. On the CPU, all but `runs` share the code of
/// these stages, so one of them stands for the others. Their root maps are tested by LabelerTest and
/// ExhaustiveTest, and the latter, AgreementTest and SeparateFuzzTest run all stages behind each of them.
std::vector<AlgorithmInfo> stage_labelers();
/// Each of them with either connectivity and either foreground.
std::vector<LabelerCase> stage_cases();

/// For messages and names of tests: "runs_8way_binary".
std::string name_of(const LabelerCase& labeler_case);
/// "union_find"
std::string name_of(const AlgorithmInfo& labeler);
void PrintTo(const LabelerCase& labeler_case, std::ostream* out);

template <typename Case>
std::string test_name(const testing::TestParamInfo<Case>& info) {
  return name_of(info.param);
}

/// All results of a frame, copied.
struct Outcome {
  std::vector<uint32_t> root_map;  ///< empty if not requested
  std::vector<uint32_t> labels;    ///< empty if not requested
  std::vector<uint8_t> pixels;     ///< of the output, rows without padding
  std::vector<CclComponent> records;
  FrameCounts counts;
  bool overflow = false;
  bool labels_saturated = false;
};

/// Whether two outcomes are the same to the byte, records too. Iterations are not compared: labelers differ
/// in them, and on a GPU so do runs of one labeler.
testing::AssertionResult same_bytes(const Outcome& got, const Outcome& want);

/// Runs frames one at a time. What an engine must not touch is filled before and checked after: the memory
/// behind the maps, and before, between and behind the rows of the output.
class FrameRunner {
 public:
  /// With an engine of the backend under test.
  FrameRunner();
  explicit FrameRunner(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}

  Config config;  ///< of the next frame, except its size
  Segmentation segmentation = {};
  std::shared_ptr<const RegionMask> regions;
  std::shared_ptr<const OutlineLayer> outlines;
  bool with_maps = true;      ///< whether to request root map and labels
  size_t output_offset = 0;   ///< bytes before the output's first row
  size_t output_padding = 0;  ///< bytes between the output's rows

  /// Fails the running test if the engine does. Valid until the next call.
  const Outcome& run(const Image& image, const Settings& settings);

 private:
  Status run_frame(const Image& image, const Settings& settings);
  Status configure(const Image& image);
  void fill_memory();
  void take_result(const FrameResult& result);
  void take_maps();
  void take_pixels();

  std::unique_ptr<Engine> engine_;
  Config configured_;  ///< width 0: not configured
  std::vector<uint32_t> root_map_;
  std::vector<uint32_t> labels_;
  std::vector<uint8_t> output_;
  Outcome outcome_;
};

}  // namespace ccl::test
