// SPDX-License-Identifier: LGPL-2.1-or-later
#include "properties.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <type_traits>
#include <variant>

#include "property_types.h"
#include "regions.h"

namespace cudaccl {

namespace {

using ccl::Filter;
using ccl::ForegroundRule;
using ccl::LocalThreshold;
using ccl::Morphology;
using ccl::Motion;
using ccl::Segmentation;
using ccl::Settings;
using ccl::Tracking;

/* What the table is made of */

constexpr auto kReadOnly = static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
constexpr auto kReadWrite = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS);
constexpr auto kFixed = static_cast<GParamFlags>(kReadWrite | GST_PARAM_MUTABLE_READY);
constexpr auto kLive = static_cast<GParamFlags>(kReadWrite | GST_PARAM_MUTABLE_PLAYING);
constexpr auto kControllable = static_cast<GParamFlags>(kLive | GST_PARAM_CONTROLLABLE);

// The kinds of properties, each with the values that it may take.
struct Bool {};
struct Int {
  gint min, max;
};
struct UInt {
  guint min, max;
};
struct UInt64 {
  guint64 min, max;
};
struct Double {
  gdouble min, max;
};
struct Enum {
  GType (*type)();
};
struct Flags {
  GType (*type)();
};

/// Reads and writes one member of Properties. Every member is a number, and a double holds each exactly.
struct Member {
  gdouble (*get)(const Properties&);
  void (*set)(Properties*, gdouble);
};

/// The member at the end of a path through Properties and the structs in it.
template <auto... path>
constexpr Member kMember{
    [](const Properties& properties) { return static_cast<gdouble>((properties.*....*path)); },
    [](Properties* properties, gdouble value) {
      auto& member = ((*properties).*....*path);
      member = static_cast<std::remove_reference_t<decltype(member)>>(value);
    }};

template <auto member>
constexpr Member kSetting = kMember<&Properties::settings, member>;
template <auto member>
constexpr Member kRule = kMember<&Properties::settings, &Settings::rule, member>;
template <auto... path>
constexpr Member kSegment = kMember<&Properties::segmentation, path...>;
template <auto member>
constexpr Member kLocal = kSegment<&Segmentation::local, member>;
template <auto member>
constexpr Member kMotion = kSegment<&Segmentation::motion, member>;
template <auto member>
constexpr Member kMorphology = kSegment<&Segmentation::morphology, member>;
template <auto member>
constexpr Member kFilter = kMember<&Properties::settings, &Settings::filter, member>;

struct Property {
  const char* name;
  const char* nick;
  const char* blurb;
  GParamFlags flags;
  std::variant<Bool, Int, UInt, UInt64, Double, Enum, Flags> kind;
  Member member;
};

/* The table */

/// The longest time of a model, or of a track: milliseconds in 32 bits.
constexpr guint64 kMaxTime = G_MAXUINT32 * (GST_SECOND / 1000);
constexpr guint64 kMaxModelTime = 35 * 60 * GST_SECOND;  // the age of a background model has 31 bits

// clang-format off
constexpr Property kProperties[] = {
    {"backend", "Backend", "Where to label; read at each start, from NULL or from READY",
     kFixed, Enum{backend_type}, kMember<&Properties::backend>},
    {"cuda-device-id", "CUDA device id",
     "CUDA device to use (-1: any); read at each start, from NULL or from READY",
     kFixed, Int{-1, G_MAXINT}, kMember<&Properties::cuda_device_id>},
    {"algorithm", "Algorithm", "Labeler; all give the same labels; in brackets the backends of each one in this build",
     kLive, Enum{algorithm_type}, kMember<&Properties::algorithm>},

    {"connectivity", "Connectivity", "Which pixels are neighbours",
     kControllable, Enum{connectivity_type}, kSetting<&Settings::connectivity>},
    {"foreground", "Foreground", "Which pixels are foreground",
     kControllable, Enum{foreground_type}, kRule<&ForegroundRule::foreground>},
    {"threshold", "Threshold",
     "Binary foreground is value >= threshold (0: automatic: any non-zero value in GRAY8, mid-grey in luma)",
     kControllable, UInt{0, G_MAXUINT16}, kMember<&Properties::threshold>},
    {"threshold-low", "Low threshold",
     "Hysteresis: pixels connect from this value on, and a component needs a pixel that reaches the threshold (0: off)",
     kControllable, UInt{0, G_MAXUINT16}, kSegment<&Segmentation::threshold_low>},
    {"invert", "Invert", "Foreground is value < threshold (foreground=binary, otsu and local)",
     kControllable, Bool{}, kRule<&ForegroundRule::invert>},

    {"local-radius", "Local radius",
     "Half of the side of the window that decides a pixel's threshold (foreground=local)",
     kControllable, UInt{1, ccl::kMaxLocalRadius}, kLocal<&LocalThreshold::radius>},
    {"local-offset", "Local offset", "Grey levels subtracted from a pixel's threshold (foreground=local)",
     kControllable, Int{-255, 255}, kLocal<&LocalThreshold::offset>},
    {"local-deviation", "Local deviation",
     "Weight of the standard deviation in the threshold (Sauvola and Pietikäinen 2000); 0: the mean (foreground=local)",
     kControllable, Double{0.0, 1.0}, kMember<&Properties::local_deviation>},

    {"background-model", "Background model", "How the background is learned (foreground=motion)",
     kControllable, Enum{background_model_type}, kMotion<&Motion::model>},
    {"motion-sensitivity", "Motion sensitivity", "Higher finds weaker contrasts, and more noise (foreground=motion)",
     kControllable, UInt{0, 100}, kMotion<&Motion::sensitivity>},
    {"motion-learning-time", "Motion learning time", "Nanoseconds after which what stays is background",
     kControllable, UInt64{GST_SECOND / 1000, kMaxModelTime}, kMember<&Properties::motion_learning_time>},
    {"motion-warm-up", "Motion warm-up", "Nanoseconds of fast learning after a reset, in which nothing is foreground",
     kControllable, UInt64{0, kMaxModelTime}, kMember<&Properties::motion_warm_up>},
    {"motion-max-change", "Motion maximum change",
     "Part of the frame that may change at once; more is a change of light, and the model learns again",
     kControllable, Double{0.0, 1.0}, kMember<&Properties::motion_max_change>},
    {"motion-shadows", "Motion shadows", "Cast shadows are background, where the model can distinguish them",
     kControllable, Bool{}, kMotion<&Motion::shadows>},

    {"open-radius", "Open radius", "Radius of the opening that removes small foreground (0: none)",
     kControllable, UInt{0, ccl::kMaxMorphologyRadius}, kMorphology<&Morphology::open_radius>},
    {"close-radius", "Close radius", "Radius of the closing that fills small gaps of the foreground (0: none)",
     kControllable, UInt{0, ccl::kMaxMorphologyRadius}, kMorphology<&Morphology::close_radius>},
    {"morphology-shape", "Morphology shape", "Structuring element of opening and closing",
     kControllable, Enum{morphology_shape_type}, kMorphology<&Morphology::element>},
    {"fill-holes", "Fill holes", "Holes of at most so many pixels become foreground (0: none)",
     kControllable, UInt{0, G_MAXUINT32}, kMorphology<&Morphology::fill_holes>},

    {"output", "Output", "What the source pad produces: colorized, overlay, background and foreground give RGB of 4 bytes, "
     "labels GRAY16_LE, mask GRAY8, NV12 or I420, "
     "passthrough the format of the sink",
     kLive, Enum{output_type}, kMember<&Properties::output>},
    {"palette", "Palette", "Colours of components",
     kControllable, Enum{palette_type}, kSetting<&Settings::palette>},
    {"background-color", "Background color", "Colour of the background, 0xAARRGGBB",
     kControllable, UInt{0, G_MAXUINT32}, kSetting<&Settings::background_color>},
    {"color-seed", "Color seed", "Selects other colours for the same labels",
     kControllable, UInt{0, G_MAXUINT32}, kSetting<&Settings::color_seed>},
    {"overlay-alpha", "Overlay alpha", "Weight of the colour in output=overlay",
     kControllable, Double{0.0, 1.0}, kMember<&Properties::overlay_alpha>},
    {"draw-boxes", "Draw boxes", "White bounding boxes in output=colorized and output=overlay",
     kControllable, Bool{}, kSetting<&Settings::draw_boxes>},
    {"draw-ids", "Draw ids",
     "Ids of confirmed tracks in output=colorized and output=overlay; only with track=true",
     kControllable, Bool{}, kSetting<&Settings::draw_ids>},
    {"draw-trails", "Draw trails",
     "Trails: where confirmed tracks were, in output=colorized and output=overlay; only with track=true",
     kControllable, Bool{}, kSetting<&Settings::draw_trails>},
    {"draw-regions", "Draw regions",
     "Polygons, zones and lines of regions, with their names, in output=colorized and output=overlay",
     kControllable, Bool{}, kSetting<&Settings::draw_regions>},

    {"min-area", "Minimum area", "Keep only components of at least so many pixels",
     kControllable, UInt{0, G_MAXUINT32}, kFilter<&Filter::min_area>},
    {"max-area", "Maximum area", "Keep only components of at most so many pixels (0 keeps none)",
     kControllable, UInt{0, G_MAXUINT32}, kFilter<&Filter::max_area>},
    {"min-width", "Minimum width", "Keep only components whose box has at least so many columns",
     kControllable, UInt{0, G_MAXUINT32}, kFilter<&Filter::min_width>},
    {"min-height", "Minimum height", "Keep only components whose box has at least so many rows",
     kControllable, UInt{0, G_MAXUINT32}, kFilter<&Filter::min_height>},
    {"max-width", "Maximum width", "Keep only components whose box has at most so many columns (0: no limit)",
     kControllable, UInt{0, G_MAXUINT32}, kFilter<&Filter::max_width>},
    {"max-height", "Maximum height", "Keep only components whose box has at most so many rows (0: no limit)",
     kControllable, UInt{0, G_MAXUINT32}, kFilter<&Filter::max_height>},
    {"clear-border", "Clear border", "Keep no component that touches the frame's border",
     kControllable, Bool{}, kFilter<&Filter::clear_border>},
    {"min-extent", "Minimum extent", "Keep only components that fill at least this part of their box",
     kControllable, Double{0.0, 1.0}, kMember<&Properties::min_extent>},
    {"min-circularity", "Minimum circularity",
     "Keep only components whose 16 area / perimeter^2 is at least this (square: 1, disc: 0.785)",
     kControllable, Double{0.0, 1.0}, kMember<&Properties::min_circularity>},
    {"max-eccentricity", "Maximum eccentricity",
     "Keep only components whose eccentricity is at most this (square and disc: 0, line: 1)",
     kControllable, Double{0.0, 1.0}, kMember<&Properties::max_eccentricity>},
    {"top-n", "Top n", "Of those, keep only the so many largest (0: no limit)",
     kControllable, UInt{0, G_MAXUINT32}, kFilter<&Filter::top_n>},
    {"max-components", "Maximum components",
     "Length of the record table; if a frame has more components, only the largest are kept",
     kLive, UInt{1, 1u << 24}, kMember<&Properties::max_components>},

    {"track", "Track", "Give components an identity over time, and make events",
     kLive, Bool{}, kMember<&Properties::track>},
    {"track-confirm", "Track confirm", "Frames in which a track must be seen before it is confirmed",
     kControllable, UInt{1, ccl::kMaxConfirmFrames}, kMember<&Properties::tracking, &Tracking::confirm_frames>},
    {"track-lost", "Track lost", "Nanoseconds after which a track that is not seen ends",
     kControllable, UInt64{0, kMaxTime}, kMember<&Properties::track_lost>},
    {"max-tracks", "Maximum tracks", "Length of the table of tracks; components without a track have the id 0",
     kLive, UInt{1, ccl::kMaxTracks}, kMember<&Properties::max_tracks>},
    {"event-hold", "Event hold", "Nanoseconds without any component after which the scene has stopped",
     kControllable, UInt64{0, kMaxTime}, kMember<&Properties::event_hold>},

    {"threads", "Threads", "Threads that share a frame on the CPU (0: by frame size, at most one per usable processor)",
     kLive, UInt{0, ccl::kMaxThreads}, kMember<&Properties::threads>},
    {"pipeline-depth", "Pipeline depth",
     "Frames that stay in flight, so that their transfers and kernels overlap; each adds one frame of latency",
     kLive, UInt{0, kMaxPipelineDepth}, kMember<&Properties::pipeline_depth>},

    {"features", "Features", "What to compute in addition to area, box and centroid",
     kLive, Flags{features_type}, kSetting<&Settings::features>},
    {"metadata", "Metadata", "Metadata that buffers carry",
     kLive, Flags{metadata_type}, kMember<&Properties::metadata>},
    {"max-objects", "Maximum objects",
     "Regions of interest, analytics objects, and components with polygons per buffer, the largest first",
     kControllable, UInt{0, G_MAXUINT32}, kMember<&Properties::max_objects>},
    {"label-map", "Label map", "Buffer beside the video with the label or the id of each pixel, 32 bits",
     kLive, Enum{label_map_type}, kMember<&Properties::label_map>},
    {"post-messages", "Post messages", "Post an element message named cudaccl for every frame, and cudaccl-event for every event",
     kControllable, Enum{messages_type}, kMember<&Properties::post_messages>},
};
// clang-format on

/* From the table to GObject */

template <typename... Lambdas>
struct Overloaded : Lambdas... {
  using Lambdas::operator()...;
};
template <typename... Lambdas>
Overloaded(Lambdas...) -> Overloaded<Lambdas...>;

GParamSpec* new_spec(const Property& p) {
  const gdouble value = p.member.get(Properties{});
  const auto number = static_cast<gint64>(value);
  return std::visit(
      Overloaded{
          [&](Bool) { return g_param_spec_boolean(p.name, p.nick, p.blurb, number != 0, p.flags); },
          [&](Int range) {
            return g_param_spec_int(p.name, p.nick, p.blurb, range.min, range.max, static_cast<gint>(number),
                                    p.flags);
          },
          [&](UInt range) {
            return g_param_spec_uint(p.name, p.nick, p.blurb, range.min, range.max,
                                     static_cast<guint>(number), p.flags);
          },
          [&](UInt64 range) {
            return g_param_spec_uint64(p.name, p.nick, p.blurb, range.min, range.max,
                                       static_cast<guint64>(number), p.flags);
          },
          [&](Double range) {
            return g_param_spec_double(p.name, p.nick, p.blurb, range.min, range.max, value, p.flags);
          },
          [&](Enum values) {
            return g_param_spec_enum(p.name, p.nick, p.blurb, values.type(), static_cast<gint>(number),
                                     p.flags);
          },
          [&](Flags values) {
            return g_param_spec_flags(p.name, p.nick, p.blurb, values.type(), static_cast<guint>(number),
                                      p.flags);
          },
      },
      p.kind);
}

gdouble read_value(const Property& p, const GValue* value) {
  return std::visit(Overloaded{
                        [&](Bool) { return static_cast<gdouble>(g_value_get_boolean(value)); },
                        [&](Int) { return static_cast<gdouble>(g_value_get_int(value)); },
                        [&](UInt) { return static_cast<gdouble>(g_value_get_uint(value)); },
                        [&](UInt64) { return static_cast<gdouble>(g_value_get_uint64(value)); },
                        [&](Double) { return g_value_get_double(value); },
                        [&](Enum) { return static_cast<gdouble>(g_value_get_enum(value)); },
                        [&](Flags) { return static_cast<gdouble>(g_value_get_flags(value)); },
                    },
                    p.kind);
}

void write_value(const Property& p, gdouble number, GValue* value) {
  std::visit(Overloaded{
                 [&](Bool) { g_value_set_boolean(value, number != 0); },
                 [&](Int) { g_value_set_int(value, static_cast<gint>(number)); },
                 [&](UInt) { g_value_set_uint(value, static_cast<guint>(number)); },
                 [&](UInt64) { g_value_set_uint64(value, static_cast<guint64>(number)); },
                 [&](Double) { g_value_set_double(value, number); },
                 [&](Enum) { g_value_set_enum(value, static_cast<gint>(number)); },
                 [&](Flags) { g_value_set_flags(value, static_cast<guint>(number)); },
             },
             p.kind);
}

const Property* find_property(guint id) {
  return id >= 1 && id <= std::size(kProperties) ? &kProperties[id - 1] : nullptr;
}

const Property* find_property(std::string_view name) {
  const auto* found = std::find_if(std::begin(kProperties), std::end(kProperties),
                                   [&](const Property& p) { return p.name == name; });
  return found != std::end(kProperties) ? found : nullptr;
}

}  // namespace

void install_properties(GObjectClass* klass) {
  guint id = 0;
  for (const Property& property : kProperties) {
    g_object_class_install_property(klass, ++id, new_spec(property));
  }
  g_object_class_install_property(
      klass, kActiveBackendId,
      g_param_spec_enum("active-backend", "Active backend",
                        "Where frames are labelled (auto: not decided yet)", backend_type(),
                        static_cast<gint>(BackendChoice::kAuto), kReadOnly));
  g_object_class_install_property(
      klass, kStatsId,
      g_param_spec_boxed(
          "stats", "Statistics",
          "Frames, drops, components and time per stage since the start; notified once a second",
          GST_TYPE_STRUCTURE, kReadOnly));
  g_object_class_install_property(
      klass, kMetaNameId,
      g_param_spec_string(
          "meta-name", "Meta name",
          "Source that metadata and messages of this element name (empty: the element's name)", "", kFixed));
  g_object_class_install_property(
      klass, kObjectTypeId,
      g_param_spec_string("object-type", "Object type",
                          "Type of regions of interest and analytics objects (empty: component for regions, "
                          "the source for analytics objects)",
                          "", kFixed));
  g_object_class_install_property(
      klass, kRegionsId,
      g_param_spec_string(
          "regions", "Regions",
          "Polygons to include and to exclude, zones and lines: JSON text, or a JSON file's path", nullptr,
          kLive));
}

bool set_property(Properties* properties, guint id, const GValue* value) {
  const Property* property = find_property(id);
  if (property != nullptr) {
    property->member.set(properties, read_value(*property, value));
  }
  return property != nullptr;
}

bool get_property(const Properties& properties, guint id, GValue* value) {
  if (id == kRegionsId) {
    g_value_set_string(value, properties.regions != nullptr ? properties.regions->text.c_str() : nullptr);
    return true;
  }
  const Property* property = find_property(id);
  if (property != nullptr) {
    write_value(*property, property->member.get(properties), value);
  }
  return property != nullptr;
}

bool restore_property(Properties* properties, const char* name, const Properties& from,
                      const Properties& to) {
  const Property* property = find_property(std::string_view(name));
  if (property == nullptr) {
    return false;
  }
  const auto get = property->member.get;
  const bool is_restored = get(*properties) == get(from) && get(from) != get(to);
  if (is_restored) {
    property->member.set(properties, get(to));
  }
  return is_restored;
}

}  // namespace cudaccl
