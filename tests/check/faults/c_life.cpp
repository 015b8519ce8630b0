// SPDX-License-Identifier: LGPL-2.1-or-later
#include "c_life.h"

#include <utility>

#include "images.h"

namespace faults {

namespace {

constexpr uint32_t kWidth = 48;
constexpr uint32_t kHeight = 32;
constexpr uint32_t kSlots = 3;
constexpr size_t kFrameBytes = size_t{kWidth} * kHeight * 3 / 2;
constexpr size_t kPlaneValues = size_t{kWidth} * kHeight;

constexpr const char* kZones =
    R"({"version": 1, "zones": [{"name": "the left half of the frame", "polygon": [[0, 0], [0.5, 0], [0.5, 1], [0, 1]], "dwell": 0.01}],
        "lines": [{"name": "the middle", "from": [0.5, 0], "to": [0.5, 1], "margin": 0}]})";
constexpr const char* kMask =
    R"({"version": 1, "include": [{"polygon": [[0.1, 0.1], [0.9, 0.1], [0.9, 0.9], [0.1, 0.9]]}],
        "exclude": [{"polygon": [[0.4, 0.4], [0.6, 0.4], [0.5, 0.6]]}],
        "zones": [{"name": "a corner of the frame", "polygon": [[0, 0], [1, 0], [1, 1]], "crowd": 1}]})";

/// Frames of blobs with chroma that has no colour.
std::vector<uint8_t> make_frames() {
  std::vector<uint8_t> frames;
  for (uint32_t i = 0; i < 3; ++i) {
    const ccl::test::Image image = ccl::test::blobs(kWidth, kHeight, i + 1);
    for (uint32_t y = 0; y < kHeight; ++y) {
      frames.insert(frames.end(), image.pixels() + y * image.stride,
                    image.pixels() + y * image.stride + kWidth);
    }
    frames.insert(frames.end(), kFrameBytes - kPlaneValues, 128);
  }
  return frames;
}

}  // namespace

CLife::CLife(uint32_t backend)
    : backend_(backend),
      image_(make_frames()),
      output_(kSlots * kPlaneValues * 4),
      planes_(kSlots * 3 * kPlaneValues) {
  input_.format = CUDACCL_FORMAT_NV12;
  input_.strides[0] = input_.strides[1] = kWidth;
  for (const char* regions : {"", kZones, kMask}) {
    if (make_engine() && configure("runs", CUDACCL_OUTPUT_NONE, CUDACCL_PLANE_LABELS, 0) &&
        (*regions == 0 || read_regions(regions))) {
      labels_after_sets_.push_back(labels_now());
    }
    end();
  }
}

void CLife::end() {
  cudaccl_engine_free(std::exchange(engine_, nullptr));
  cudaccl_regions_free(std::exchange(regions_, nullptr));
  n_set_ = 0;
}

Story CLife::live() {
  n_pushed_ = n_popped_ = 0;
  if (!play() && engine_ != nullptr) {
    check_engine();
  }
  end();
  return std::exchange(story_, {});
}

bool CLife::play() {
  return make_engine() && play_tracks() && play_rules() && play_motion() && play_parts();
}

/// Frames at depth 3, with regions that change between them, polygons and planes.
bool CLife::play_tracks() {
  settings_ = {};
  settings_.features = CUDACCL_FEATURE_ALL | CUDACCL_FEATURE_HULL | CUDACCL_FEATURE_CONTOUR |
                       CUDACCL_FEATURE_RECTANGLE | CUDACCL_FEATURE_INRADIUS;
  settings_.draw_ids = settings_.draw_trails = settings_.draw_regions = 1;
  settings_.track_confirm = 1;
  return configure("runs", CUDACCL_OUTPUT_OVERLAY, CUDACCL_PLANE_LABELS | CUDACCL_PLANE_IDS, 8) &&
         read_regions(kZones) && push() && push() && push() && pop(true) && push() && pop(false) &&
         pop(true) && pop(true) && read_regions(kMask) && push() && pop(true) && refuse();
}

/// Another labeler, rules that make bits, grey statistics; and frames that are discarded.
bool CLife::play_rules() {
  settings_ = {};
  settings_.foreground = CUDACCL_FOREGROUND_OTSU;
  settings_.open_radius = settings_.close_radius = 1;
  settings_.fill_holes = 9;
  settings_.features = CUDACCL_FEATURE_GREY;
  if (!configure("dlp", CUDACCL_OUTPUT_LABELS16, 0, 0) || !push() || !push() || !pop(true)) {
    return false;
  }
  settings_.foreground = CUDACCL_FOREGROUND_LOCAL;
  settings_.top_n = 2;
  if (!push() || !pop(true) || !pop(false) || !push()) {
    return false;
  }
  n_popped_ = n_pushed_;
  const auto flush = [this] { return cudaccl_engine_flush(engine_); };
  return took(armed(flush), engine_) && push() && pop(false);
}

bool CLife::play_motion() {
  for (const uint32_t model : {CUDACCL_MODEL_SIGMA_DELTA, CUDACCL_MODEL_MIXTURE}) {
    settings_ = {};
    settings_.foreground = CUDACCL_FOREGROUND_MOTION;
    settings_.background_model = model;
    settings_.motion_warm_up_ms = 0;
    if (!configure("auto", CUDACCL_OUTPUT_BACKGROUND, 0, 4) || !push() || !push() || !pop(false) ||
        !pop(false)) {
      return false;
    }
  }
  return true;
}

bool CLife::play_parts() {
  settings_ = {};
  settings_.separate = 0.6;
  return configure("auto", CUDACCL_OUTPUT_DISTANCE, CUDACCL_PLANE_DISTANCES, 8) && push() && pop(false) &&
         push() && pop(true);
}

bool CLife::make_engine() {
  cudaccl::EngineOptions options;
  options.backend = backend_;
  return took(armed([&] { return cudaccl_engine_new(&options, &engine_); }), nullptr);
}

bool CLife::configure(const char* algorithm, uint32_t output, uint32_t planes, uint32_t max_tracks) {
  cudaccl::Config config;
  config.width = kWidth;
  config.height = kHeight;
  config.algorithm = algorithm;
  config.output = output_kind_ = output;
  config.planes = plane_kinds_ = planes;
  config.max_components = 20;
  config.max_tracks = max_tracks;
  config.slots = kSlots;
  config.threads = 2;
  return took(armed([&] { return cudaccl_engine_configure(engine_, &config); }), engine_);
}

bool CLife::read_regions(const std::string& text) {
  cudaccl_regions_free(std::exchange(regions_, nullptr));
  if (!took(armed([&] { return cudaccl_regions_read(text.data(), text.size(), &regions_); }), nullptr) ||
      !took(armed([&] { return cudaccl_engine_set_regions(engine_, regions_); }), engine_)) {
    return false;
  }
  ++n_set_;
  return true;
}

bool CLife::push() {
  const uint32_t slot = n_pushed_ % kSlots;
  uint8_t* luma = image_.data() + slot * kFrameBytes;
  input_.planes[0] = luma;
  input_.planes[1] = luma + kPlaneValues;
  cudaccl::Output output;
  output.pixels = output_.data() + slot * kPlaneValues * 4;
  output.stride = size_t{kWidth} * 4;
  cudaccl::Plane planes[3];
  for (uint32_t i = 0; i < 3; ++i) {
    planes[i].values = planes_.data() + (slot * 3 + i) * kPlaneValues;
  }
  cudaccl::Frame frame;
  frame.input = &input_;
  frame.output = output_kind_ != CUDACCL_OUTPUT_NONE ? &output : nullptr;
  frame.labels = &planes[0];
  frame.ids = &planes[1];
  frame.distances = &planes[2];
  frame.settings = &settings_;
  frame.time = int64_t{n_pushed_} * 40'000'000;
  ++n_pushed_;
  return took(armed([&] { return cudaccl_engine_push(engine_, &frame); }), engine_);
}

bool CLife::pop(bool with_shapes) {
  cudaccl::Result result;
  if (!took(armed([&] { return cudaccl_engine_pop(engine_, &result); }), engine_)) {
    return false;
  }
  note(result);
  ++n_popped_;
  cudaccl::Shapes shapes;
  if (!with_shapes) {
    return true;
  }
  if (!took(armed([&] { return cudaccl_engine_shapes(engine_, 5, &shapes); }), engine_)) {
    static_cast<void>(cudaccl_engine_shapes(engine_, 5, &shapes));  // what got no memory asks for it again
    return false;
  }
  uint64_t seen = digest(shapes.grey, shapes.n_grey * sizeof(CclGrey));
  seen = digest(shapes.polygons, shapes.n_polygons * sizeof(CclPolygon), seen);
  story_.results.push_back(digest(shapes.vertices, shapes.n_vertices * sizeof(CclVertex), seen));
  return true;
}

/// All that the frame gave, apart from times.
void CLife::note(const CudacclResult& result) {
  const uint32_t slot = n_popped_ % kSlots;
  uint64_t seen = digest(result.records, result.n_records * sizeof(CclComponent));
  seen = digest(result.tracks, result.n_tracks * sizeof(CclTrack), seen);
  seen = digest(result.events, result.n_events * sizeof(CclEvent), seen);
  seen = digest(result.n_inside, result.n_zones * sizeof(uint32_t), seen);
  seen = digest(result.n_removed, result.n_filters * sizeof(uint32_t), seen);
  seen = digest(&result.n_labels, sizeof result.n_labels, seen);
  if (output_kind_ != CUDACCL_OUTPUT_NONE) {
    seen = digest(output_.data() + slot * kPlaneValues * 4, kPlaneValues * 4, seen);
  }
  for (uint32_t i = 0; i < 3; ++i) {
    if (plane_kinds_ & (1u << i)) {
      seen = digest(planes_.data() + (slot * 3 + i) * kPlaneValues, kPlaneValues * sizeof(uint32_t), seen);
    }
  }
  story_.results.push_back(seen);
}

/// A refusal has a text, which takes memory.
bool CLife::refuse() {
  cudaccl::Config config;
  config.algorithm = "no such labeler";
  const CudacclStatus status = armed([&] { return cudaccl_engine_configure(engine_, &config); });
  if (status == CUDACCL_INVALID_ARGUMENT) {
    story_.results.push_back(status);
    return true;
  }
  return took(status, engine_);
}

/// A failure must say what it is.
bool CLife::took(CudacclStatus status, const CudacclEngine* engine) {
  if (status != CUDACCL_OK) {
    const std::string text = cudaccl_last_error(engine);
    const bool is_failure =
        status == CUDACCL_OUT_OF_MEMORY ||
        (backend_ == CUDACCL_BACKEND_CUDA && (status == CUDACCL_DEVICE_ERROR || engine == nullptr));
    story_.errors.push_back(is_failure ? text : "status " + std::to_string(status) + ": " + text);
    story_.gave_after_error = story_.gave_after_error || !is_failure;
  }
  return status == CUDACCL_OK;
}

uint64_t CLife::labels_now() {
  settings_ = {};
  n_pushed_ = n_popped_ = 0;
  const size_t n_results = story_.results.size();
  const bool is_good =
      configure("runs", CUDACCL_OUTPUT_NONE, CUDACCL_PLANE_LABELS, 0) && push() && pop(false);
  const uint64_t labels = is_good ? story_.results.back() : 0;
  story_.results.resize(n_results);
  return labels;
}

void CLife::check_engine() {
  calm();
  const size_t n_errors = story_.errors.size();
  if (labels_now() != labels_after_sets_[n_set_] && story_.errors.size() == n_errors) {
    story_.errors.push_back("the regions are not those of call " + std::to_string(n_set_));
  }
}

}  // namespace faults
