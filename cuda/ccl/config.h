// SPDX-License-Identifier: LGPL-2.1-or-later
/// What an engine does: Config is fixed until the next configure(); each frame has its Settings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "ccl/algorithm.h"
#include "ccl/feature.h"
#include "ccl/filter.h"
#include "ccl/rule.h"
#include "ccl/separation.h"
#include "ccl/setting.h"
#include "ccl/status.h"

namespace ccl {

/// Frames with a larger width or height are rejected. Up to this size, every sum in a record fits 64 bits.
inline constexpr uint32_t kMaxDimension = 32768;

/// A larger number of threads is rejected.
inline constexpr uint32_t kMaxThreads = limits::threads.largest;

/// A larger Config::batch is rejected.
inline constexpr uint32_t kMaxBatch = 128;

/// Where an image lies.
enum class Memory : uint8_t {
  kHost,
  kDevice,  ///< the GPU's
};

enum class Palette : uint8_t {
  kGolden,         ///< golden-ratio hues in OKLCh: neighbouring labels get very different colours
  kGlasbey,        ///< 256 colours, each as far as possible from those before it (Glasbey et al. 2007)
  kViridisByArea,  ///< small components dark blue, large ones yellow, on a logarithmic scale
  kMono,           ///< all components white
};

enum class Output : uint8_t {
  kNone,        ///< records only
  kColorized,   ///< 4 bytes a pixel: the component's colour, or the background colour
  kOverlay,     ///< 4 bytes a pixel: the component's colour over the input, which is grey if it has no chroma
  kLabels,      ///< 16 bits a pixel, little endian: the canonical label, 65535 for all above
  kMask,        ///< 8 bits a pixel: Settings::mask_on in components that the filter keeps, else mask_off
  kBackground,  ///< 4 bytes a pixel: what the background model expects; without one, the input
  kForeground,  ///< 4 bytes a pixel: the input in components that the filter keeps, else the background
                ///< colour
  /// 16 bits a pixel, little endian: height_of() (ccl/parts.h) of what kDistancePlane has, which is the
  /// distance in 1/16 pixel, rounded down; 65535 for all above.
  kDistance,
  /// 8 bits a pixel: the same in whole pixels, see whole_pixels() there; 255 for all above.
  kDistance8,
};

/// Planes of 32-bit values that can be written beside the output, one value a pixel: Config::planes.
enum Plane : uint32_t {
  kLabelPlane = 1u << 0,  ///< the canonical label in components that the filter keeps, else 0
  /// CclComponent::id of the pixel's component, else 0. In a frame with more components than records, 0 with
  /// tracks; without tracks an id is the label, also of a component without a record.
  kIdPlane = 1u << 1,
  /// The squared distance to the nearest pixel that is not of the pixel's component, in components that the
  /// filter keeps, else 0; kNoSquare (ccl/parts.h) if there is no such pixel. Outside the frame are no
  /// pixels, and horizontal distances count Separation::aspect times. With Separation, the components are
  /// those before they are separated, and the filter's those after it.
  kDistancePlane = 1u << 2,
};

/// The largest label that Output::kLabels can write.
inline constexpr uint32_t kMaxPaintedLabel = std::numeric_limits<uint16_t>::max();

/// Bytes of one output pixel; 0 for kNone.
constexpr uint32_t bytes_per_pixel(Output output) {
  switch (output) {
    case Output::kNone:
      return 0;
    case Output::kColorized:
    case Output::kOverlay:
    case Output::kBackground:
    case Output::kForeground:
      return 4;
    case Output::kLabels:
    case Output::kDistance:
      return 2;
    case Output::kMask:
    case Output::kDistance8:
      return 1;
  }
  return 0;
}

/// Whether pixels are colours of components, over which boxes, ids, trails and outlines are drawn.
constexpr bool has_colors(Output output) {
  return output == Output::kColorized || output == Output::kOverlay;
}

constexpr bool has_distances(Output output) {
  return output == Output::kDistance || output == Output::kDistance8;
}

/// Positions of the channels in a 4-byte pixel. In formats with an unused fourth byte, that byte gets alpha.
struct PixelLayout {
  uint8_t red = 0;
  uint8_t green = 1;
  uint8_t blue = 2;
  uint8_t alpha = 3;

  bool operator==(const PixelLayout&) const = default;
};

/// Everything that decides how much memory is needed. Fixed from configure() to the next configure().
struct Config {
  uint32_t width = 0;   ///< 1..kMaxDimension
  uint32_t height = 0;  ///< 1..kMaxDimension
  Algorithm algorithm = Algorithm::kAuto;
  Output output = Output::kNone;
  PixelLayout layout = {};
  uint32_t max_components = defaults::max_components;  ///< length of the record table, at least 1
  /// Length of the table of tracks, at most kMaxTracks. 0: components have no identity over time. Components
  /// for which the table has no room have the id 0.
  uint32_t max_tracks = 0;
  uint32_t planes = 0;  ///< Plane bits: what FrameJob must have room for
  uint32_t slots = 1;   ///< batches that may be in flight between push() and pop(), all with `batch` frames
  uint32_t batch = 1;   ///< frames of a batch, at most kMaxBatch
  Memory input_memory = Memory::kHost;   ///< of most input images
  Memory output_memory = Memory::kHost;  ///< of most output images
  /// CPU engine only; at most kMaxThreads. 0: by frame size, at most one per processor that the process may
  /// use.
  uint32_t threads = defaults::threads;

  bool operator==(const Config&) const = default;
};

constexpr size_t most_in_flight(const Config& config) {
  return size_t{config.slots} * config.batch;
}

/// Whether distances are measured in frames of this configuration. The stages of published labelers do it.
constexpr bool has_distances(const Config& config) {
  return (config.planes & kDistancePlane) != 0 || has_distances(config.output);
}

/// From luma and chroma to RGB: integers in 1/65536, see colors.h. The default is BT.601 in 16..235.
struct ColorMatrix {
  int32_t black = 16;    ///< luma of black
  int32_t luma = 76309;  ///< in all channels
  int32_t red_v = 104597;
  int32_t green_u = -25675;
  int32_t green_v = -53279;
  int32_t blue_u = 132201;

  bool operator==(const ColorMatrix&) const = default;
};

/// Everything that may change from one frame to the next. On the GPU, a change takes the host tens of
/// microseconds once.
struct Settings {
  Connectivity connectivity = Connectivity::k8;
  ForegroundRule rule = {};
  Separation separation = {};
  Filter filter = {};
  uint32_t features = kAllFeatures;  ///< Feature bits
  Palette palette = Palette::kGolden;
  uint32_t color_seed = 0;
  uint32_t background_color = defaults::background_color;  ///< 0xAARRGGBB
  /// 0: only the input is visible, 255: only the colour.
  uint8_t overlay_alpha = fixed_point(defaults::overlay_alpha, 255);
  bool draw_boxes = false;     ///< white bounding boxes in colorized and overlay
  bool draw_ids = false;       ///< ids of confirmed tracks, likewise
  bool draw_trails = false;    ///< where confirmed tracks were, likewise
  bool draw_regions = false;   ///< FrameJob::outlines, likewise
  bool limited_range = false;  ///< the input is luma 16..235; overlay stretches it to 0..255
  ColorMatrix matrix = {};     ///< of the input's chroma
  uint8_t mask_on = defaults::mask_on;
  uint8_t mask_off = defaults::mask_off;

  bool operator==(const Settings&) const = default;
};

/// The features that a filter reads.
constexpr uint32_t features_of(const Filter& filter) {
  return filter.needs() & kAllFeatures;
}

/// The features that are fields of the record.
constexpr uint32_t record_features(const Settings& settings) {
  return settings.features & kAllFeatures;
}

/// The features that components are measured for: those of the records, and those that the filter reads.
constexpr uint32_t measured_features(const Settings& settings) {
  return record_features(settings) | features_of(settings.filter);
}

constexpr bool has_grey(const Settings& settings) {
  return (settings.features & kFeatureGrey) != 0;
}

/// kInvalidArgument, with a message that says why, if the configuration is not valid for every engine.
Status validate(const Config& config);

}  // namespace ccl
