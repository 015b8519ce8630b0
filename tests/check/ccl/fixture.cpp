// SPDX-License-Identifier: LGPL-2.1-or-later
#include "fixture.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "poison.h"

namespace ccl::test {

namespace {

/// No label, no root and no common pixel.
constexpr uint32_t kUntouched = 0xa5c3a5c3;

constexpr size_t kGuardPixels = 4;
constexpr size_t kGuardBytes = 32;

template <typename T>
bool same(const std::vector<T>& got, const std::vector<T>& want) {
  return got.size() == want.size() &&
         (got.empty() || std::memcmp(got.data(), want.data(), got.size() * sizeof(T)) == 0);
}

}  // namespace

Backend backend() {
  const char* name = std::getenv("CUDACCL_TEST_BACKEND");
  return name != nullptr && std::string_view(name) == backend_name(Backend::kCuda) ? Backend::kCuda
                                                                                   : Backend::kCpu;
}

Status make_engine(std::unique_ptr<Engine>* engine) {
  if (backend() == Backend::kCuda) {
    return make_device_engine({}, engine);
  }
  *engine = make_host_engine();
  return {};
}

std::vector<AlgorithmInfo> labelers() {
  std::vector<AlgorithmInfo> found;
  for (const AlgorithmInfo& info : algorithms()) {
    if (info.algorithm != Algorithm::kAuto && info.runs_on(backend())) {
      found.push_back(info);
    }
  }
  return found;
}

Settings LabelerCase::settings() const {
  return {.connectivity = connectivity, .rule = {.foreground = foreground}};
}

std::vector<AlgorithmInfo> stage_labelers() {
  std::vector<AlgorithmInfo> found = labelers();
  if (backend() == Backend::kCpu) {
    std::erase_if(found, [](const AlgorithmInfo& info) {
      return info.algorithm != Algorithm::kRuns && info.algorithm != Algorithm::kSauf;
    });
  }
  return found;
}

namespace {

std::vector<LabelerCase> cases_of(const std::vector<AlgorithmInfo>& labelers) {
  std::vector<LabelerCase> cases;
  for (const AlgorithmInfo& labeler : labelers) {
    for (const Connectivity connectivity : {Connectivity::k4, Connectivity::k8}) {
      for (const Foreground foreground : {Foreground::kBinary, Foreground::kValues}) {
        cases.push_back({labeler, connectivity, foreground});
      }
    }
  }
  return cases;
}

}  // namespace

std::vector<LabelerCase> labeler_cases() {
  return cases_of(labelers());
}

std::vector<LabelerCase> stage_cases() {
  return cases_of(stage_labelers());
}

std::vector<LabelerCase> labeler_cases(Algorithm algorithm) {
  std::vector<LabelerCase> cases = labeler_cases();
  std::erase_if(cases, [&](const LabelerCase& c) { return c.labeler.algorithm != algorithm; });
  return cases;
}

std::string name_of(const LabelerCase& labeler_case) {
  return name_of(labeler_case.labeler) + (labeler_case.connectivity == Connectivity::k4 ? "_4way" : "_8way") +
         (labeler_case.foreground == Foreground::kBinary ? "_binary" : "_values");
}

std::string name_of(const AlgorithmInfo& labeler) {
  std::string name = labeler.nick;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

void PrintTo(const LabelerCase& labeler_case, std::ostream* out) {
  *out << name_of(labeler_case) << " on " << backend_name(backend());
}

testing::AssertionResult same_bytes(const Outcome& got, const Outcome& want) {
  std::string different;
  const auto compare = [&different](bool is_same, const char* what) {
    different += is_same ? "" : std::string(" ") + what;
  };
  compare(same(got.root_map, want.root_map), "root map");
  compare(same(got.labels, want.labels), "labels");
  compare(same(got.pixels, want.pixels), "output");
  compare(same(got.records, want.records), "records");
  FrameCounts want_counts = want.counts;
  want_counts.n_iterations = got.counts.n_iterations;
  compare(got.counts == want_counts, "counts");
  compare(got.overflow == want.overflow, "overflow");
  compare(got.labels_saturated == want.labels_saturated, "labels_saturated");
  if (different.empty()) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << "these differ:" << different;
}

FrameRunner::FrameRunner() {
  const Status status = make_engine(&engine_);
  EXPECT_TRUE(status.ok()) << status.message();
}

const Outcome& FrameRunner::run(const Image& image, const Settings& settings) {
  outcome_ = {};
  if (const Status status = run_frame(image, settings); !status.ok()) {
    ADD_FAILURE() << image.name << ": " << status.message();
    configured_ = {};
  }
  return outcome_;
}

Status FrameRunner::run_frame(const Image& image, const Settings& settings) {
  CCL_RETURN_IF_ERROR(configure(image));
  fill_memory();
  const size_t row = size_t{config.width} * bytes_per_pixel(config.output);
  CCL_RETURN_IF_ERROR(
      engine_->push({.input = {image.pixels(), image.stride},
                     .output = {output_.data() + kGuardBytes + output_offset, row + output_padding},
                     .settings = settings,
                     .segmentation = segmentation,
                     .regions = regions,
                     .outlines = outlines,
                     .root_map = with_maps ? root_map_.data() : nullptr,
                     .labels = with_maps ? labels_.data() : nullptr}));
  FrameResult result;
  poison(&result.counts);
  poison(&result.times);
  CCL_RETURN_IF_ERROR(engine_->pop(&result));
  take_result(result);
  if (with_maps) {
    take_maps();
  }
  if (config.output != Output::kNone) {
    take_pixels();
  }
  return {};
}

Status FrameRunner::configure(const Image& image) {
  config.width = image.width;
  config.height = image.height;
  if (config == configured_) {
    return {};
  }
  CCL_RETURN_IF_ERROR(engine_->configure(config));
  configured_ = config;
  return {};
}

void FrameRunner::fill_memory() {
  const size_t n_pixels = size_t{config.width} * config.height;
  if (with_maps) {
    root_map_.assign(n_pixels + kGuardPixels, kUntouched);
    labels_.assign(n_pixels + kGuardPixels, kUntouched);
  }
  const size_t stride = size_t{config.width} * bytes_per_pixel(config.output) + output_padding;
  output_.assign(kGuardBytes + output_offset + stride * config.height + kGuardBytes, kPoison);
}

void FrameRunner::take_result(const FrameResult& result) {
  outcome_.records.assign(result.components.begin(), result.components.end());
  outcome_.counts = result.counts;
  outcome_.overflow = result.overflow;
  outcome_.labels_saturated = result.labels_saturated;
}

void FrameRunner::take_maps() {
  const size_t n_pixels = size_t{config.width} * config.height;
  for (const std::vector<uint32_t>* map : {&root_map_, &labels_}) {
    const auto guard = map->begin() + static_cast<std::ptrdiff_t>(n_pixels);
    EXPECT_EQ(std::count(guard, map->end(), kUntouched), static_cast<std::ptrdiff_t>(kGuardPixels))
        << "written behind the " << (map == &labels_ ? "labels" : "root map");
  }
  outcome_.root_map.assign(root_map_.begin(), root_map_.end() - kGuardPixels);
  outcome_.labels.assign(labels_.begin(), labels_.end() - kGuardPixels);
}

/// Takes the rows out of the output, and expects all that is left to be as it was filled.
void FrameRunner::take_pixels() {
  const size_t row = size_t{config.width} * bytes_per_pixel(config.output);
  const size_t first = kGuardBytes + output_offset;
  for (size_t y = 0; y < config.height; ++y) {
    const auto begin = output_.begin() + static_cast<std::ptrdiff_t>(first + y * (row + output_padding));
    const auto end = begin + static_cast<std::ptrdiff_t>(row);
    outcome_.pixels.insert(outcome_.pixels.end(), begin, end);
    std::fill(begin, end, kPoison);
  }
  const auto touched =
      std::find_if(output_.begin(), output_.end(), [](uint8_t byte) { return byte != kPoison; });
  EXPECT_EQ(touched, output_.end()) << "written outside the output's rows, "
                                    << touched - output_.begin() - static_cast<std::ptrdiff_t>(first)
                                    << " bytes from their start";
}

}  // namespace ccl::test
