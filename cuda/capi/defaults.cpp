// SPDX-License-Identifier: LGPL-2.1-or-later
/// The defaults of all fields: those of the engine, and of the element where the engine has none.
#include "capi/structs.h"
#include "ccl/engine.h"

namespace ccl::capi {

template <>
CudacclAlgorithmInfo defaults() {
  return {};
}

template <>
CudacclDeviceInfo defaults() {
  return {};
}

template <>
CudacclEngineOptions defaults() {
  CudacclEngineOptions options{};
  options.backend = CUDACCL_BACKEND_AUTO;
  options.device_id = DeviceOptions{}.device_id;
  return options;
}

template <>
CudacclConfig defaults() {
  const Config engine;
  CudacclConfig config{};
  config.algorithm = "auto";
  config.output = CUDACCL_OUTPUT_NONE;
  config.order = CUDACCL_ORDER_RGBA;
  config.max_components = engine.max_components;
  config.max_tracks = engine.max_tracks;
  config.slots = engine.slots;
  config.threads = engine.threads;
  return config;
}

namespace {

void set_foreground(CudacclSettings* settings) {
  const ForegroundRule rule;
  const Segmentation segmentation;
  settings->foreground = CUDACCL_FOREGROUND_BINARY;
  settings->threshold = rule.threshold;
  settings->local_radius = segmentation.local.radius;
  settings->local_offset = segmentation.local.offset;
  settings->motion_sensitivity = segmentation.motion.sensitivity;
  settings->motion_shadows = segmentation.motion.shadows ? 1 : 0;
  settings->motion_learning_ms = segmentation.motion.learning_ms;
  settings->motion_warm_up_ms = segmentation.motion.warm_up_ms;
  settings->motion_max_change = static_cast<double>(segmentation.motion.max_change) / kOne;
}

}  // namespace

template <>
CudacclSettings defaults() {
  const Settings engine;
  const Tracking tracking;
  CudacclSettings settings{};
  settings.connectivity = static_cast<uint32_t>(engine.connectivity);
  set_foreground(&settings);
  settings.min_area = engine.filter.min_area;
  settings.max_area = engine.filter.max_area;
  settings.max_eccentricity = 1;
  settings.features = engine.features;
  settings.palette = CUDACCL_PALETTE_GOLDEN;
  settings.background_color = engine.background_color;
  settings.overlay_alpha = 0.5;
  settings.mask_on = engine.mask_on;
  settings.mask_off = engine.mask_off;
  settings.track_confirm = tracking.confirm_frames;
  settings.track_lost_ms = tracking.lost_ms;
  settings.event_hold_ms = 2000;
  return settings;
}

template <>
CudacclRegions defaults() {
  CudacclRegions regions{};
  regions.is_relative = 1;
  return regions;
}

template <>
CudacclInput defaults() {
  CudacclInput input{};
  input.bits = 16;
  return input;
}

template <>
CudacclOutput defaults() {
  return {};
}

template <>
CudacclPlane defaults() {
  return {};
}

template <>
CudacclFrame defaults() {
  CudacclFrame frame{};
  frame.time = CUDACCL_NO_TIME;
  return frame;
}

template <>
CudacclResult defaults() {
  return {};
}

}  // namespace ccl::capi

void cudaccl_algorithm_info_init(CudacclAlgorithmInfo* info, size_t struct_size) {
  ccl::capi::init(info, struct_size);
}

void cudaccl_device_info_init(CudacclDeviceInfo* info, size_t struct_size) {
  ccl::capi::init(info, struct_size);
}

void cudaccl_engine_options_init(CudacclEngineOptions* options, size_t struct_size) {
  ccl::capi::init(options, struct_size);
}

void cudaccl_config_init(CudacclConfig* config, size_t struct_size) {
  ccl::capi::init(config, struct_size);
}

void cudaccl_settings_init(CudacclSettings* settings, size_t struct_size) {
  ccl::capi::init(settings, struct_size);
}

void cudaccl_regions_init(CudacclRegions* regions, size_t struct_size) {
  ccl::capi::init(regions, struct_size);
}

void cudaccl_input_init(CudacclInput* input, size_t struct_size) {
  ccl::capi::init(input, struct_size);
}

void cudaccl_output_init(CudacclOutput* output, size_t struct_size) {
  ccl::capi::init(output, struct_size);
}

void cudaccl_plane_init(CudacclPlane* plane, size_t struct_size) {
  ccl::capi::init(plane, struct_size);
}

void cudaccl_frame_init(CudacclFrame* frame, size_t struct_size) {
  ccl::capi::init(frame, struct_size);
}

void cudaccl_result_init(CudacclResult* result, size_t struct_size) {
  ccl::capi::init(result, struct_size);
}
