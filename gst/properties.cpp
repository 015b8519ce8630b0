// SPDX-License-Identifier: LGPL-2.1-or-later
#include "properties.h"

#include <array>
#include <vector>

namespace cudaccl {

namespace {

constexpr auto kFixed =
    static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
constexpr auto kLive =
    static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING);
constexpr auto kControllable = static_cast<GParamFlags>(kLive | GST_PARAM_CONTROLLABLE);

template <typename Enum>
constexpr gint value_of(Enum e) {
  return static_cast<gint>(e);
}

/// Registers the enumeration on the first call. `values` ends with a zero row and lives forever.
template <const auto& values>
GType enum_type(const char* name) {
  static const GType type = g_enum_register_static(name, values.data());
  return type;
}

constexpr std::array kBackends = {
    GEnumValue{value_of(BackendChoice::kAuto), "A GPU if there is one, else the CPU", "auto"},
    GEnumValue{value_of(BackendChoice::kCuda), "CUDA; an error if there is no GPU", "cuda"},
    GEnumValue{value_of(BackendChoice::kCpu), "CPU", "cpu"},
    GEnumValue{},
};

constexpr std::array kConnectivities = {
    GEnumValue{value_of(ccl::Connectivity::k4), "Pixels that share an edge", "4-way"},
    GEnumValue{value_of(ccl::Connectivity::k8), "Pixels that share an edge or a corner", "8-way"},
    GEnumValue{},
};

constexpr std::array kForegrounds = {
    GEnumValue{value_of(ccl::Foreground::kBinary), "Pixels at or above the threshold", "binary"},
    GEnumValue{value_of(ccl::Foreground::kValues), "Equal non-zero values connect", "values"},
    GEnumValue{},
};

constexpr std::array kOutputs = {
    GEnumValue{value_of(ccl::Output::kColorized), "A colour for every component", "colorized"},
    GEnumValue{value_of(ccl::Output::kOverlay), "Colours over the input as grey", "overlay"},
    GEnumValue{value_of(ccl::Output::kLabels), "16-bit canonical labels", "labels"},
    GEnumValue{value_of(ccl::Output::kMask), "255 where a component is left after filtering", "mask"},
    GEnumValue{value_of(ccl::Output::kNone), "The input untouched, metadata only", "passthrough"},
    GEnumValue{},
};

constexpr std::array kPalettes = {
    GEnumValue{value_of(ccl::Palette::kGolden), "Golden-ratio hues", "golden"},
    GEnumValue{value_of(ccl::Palette::kGlasbey), "256 colours as far apart as can be", "glasbey"},
    GEnumValue{value_of(ccl::Palette::kViridisByArea), "Small blue to large yellow", "viridis-by-area"},
    GEnumValue{value_of(ccl::Palette::kMono), "All white", "mono"},
    GEnumValue{},
};

constexpr std::array kFeatures = {
    GFlagsValue{ccl::kFeatureMoments, "Central second moments", "moments"},
    GFlagsValue{ccl::kFeaturePerimeter, "Perimeter in pixel edges", "perimeter"},
    GFlagsValue{ccl::kFeatureEuler, "Euler number", "euler"},
    GFlagsValue{},
};

constexpr std::array kMetadata = {
    GFlagsValue{kMetadataComponents, "GstCudaCclMeta: all records", "components"},
    GFlagsValue{kMetadataRoi, "GstVideoRegionOfInterestMeta for the largest components", "roi"},
#ifdef HAVE_GST_ANALYTICS
    GFlagsValue{kMetadataAnalytics, "GstAnalyticsRelationMeta for the largest components", "analytics"},
#endif
    GFlagsValue{},
};

GType algorithm_type() {
  static const GType type = [] {
    static std::vector<GEnumValue> values;
    for (const ccl::AlgorithmInfo& info : ccl::algorithms()) {
      values.push_back({value_of(info.algorithm), info.source, info.nick});
    }
    values.push_back({});
    return g_enum_register_static("GstCudaCclAlgorithm", values.data());
  }();
  return type;
}

GType features_type() {
  static const GType type = g_flags_register_static("GstCudaCclFeatures", kFeatures.data());
  return type;
}

GType metadata_type() {
  static const GType type = g_flags_register_static("GstCudaCclMetadata", kMetadata.data());
  return type;
}

/// Everything there is to say about one property.
struct Property {
  GParamSpec* (*spec)();
  void (*get)(const Properties&, GValue*);
  void (*set)(Properties*, const GValue*);
};

const Properties kDefaults;

const std::array kProperties = {
    Property{
        [] {
          return g_param_spec_enum("backend", "Backend",
                                   "Where to label; taken when going from NULL to READY", backend_type(),
                                   value_of(kDefaults.backend), kFixed);
        },
        [](const Properties& p, GValue* v) { g_value_set_enum(v, value_of(p.backend)); },
        [](Properties* p, const GValue* v) { p->backend = static_cast<BackendChoice>(g_value_get_enum(v)); }},
    Property{[] {
               return g_param_spec_int("cuda-device-id", "CUDA device id",
                                       "CUDA device to use (-1: any); taken when going from NULL to READY",
                                       -1, G_MAXINT, kDefaults.cuda_device_id, kFixed);
             },
             [](const Properties& p, GValue* v) { g_value_set_int(v, p.cuda_device_id); },
             [](Properties* p, const GValue* v) { p->cuda_device_id = g_value_get_int(v); }},
    Property{[] {
               return g_param_spec_enum("algorithm", "Algorithm",
                                        "Labeler; all give the same labels, not all exist on both backends",
                                        algorithm_type(), value_of(kDefaults.algorithm), kLive);
             },
             [](const Properties& p, GValue* v) { g_value_set_enum(v, value_of(p.algorithm)); },
             [](Properties* p, const GValue* v) {
               p->algorithm = static_cast<ccl::Algorithm>(g_value_get_enum(v));
             }},
    Property{[] {
               return g_param_spec_enum("connectivity", "Connectivity", "Which pixels are neighbours",
                                        enum_type<kConnectivities>("GstCudaCclConnectivity"),
                                        value_of(kDefaults.settings.connectivity), kControllable);
             },
             [](const Properties& p, GValue* v) { g_value_set_enum(v, value_of(p.settings.connectivity)); },
             [](Properties* p, const GValue* v) {
               p->settings.connectivity = static_cast<ccl::Connectivity>(g_value_get_enum(v));
             }},
    Property{
        [] {
          return g_param_spec_enum("foreground", "Foreground", "Which pixels are foreground",
                                   enum_type<kForegrounds>("GstCudaCclForeground"),
                                   value_of(kDefaults.settings.rule.foreground), kControllable);
        },
        [](const Properties& p, GValue* v) { g_value_set_enum(v, value_of(p.settings.rule.foreground)); },
        [](Properties* p, const GValue* v) {
          p->settings.rule.foreground = static_cast<ccl::Foreground>(g_value_get_enum(v));
        }},
    Property{[] {
               return g_param_spec_uint("threshold", "Threshold",
                                        "Binary foreground is value >= threshold (0: automatic: any non-zero "
                                        "value in GRAY8, mid-grey in luma)",
                                        0, 255, kDefaults.threshold, kControllable);
             },
             [](const Properties& p, GValue* v) { g_value_set_uint(v, p.threshold); },
             [](Properties* p, const GValue* v) { p->threshold = g_value_get_uint(v); }},
    Property{[] {
               return g_param_spec_boolean("invert", "Invert", "Binary foreground is value < threshold",
                                           kDefaults.settings.rule.invert, kControllable);
             },
             [](const Properties& p, GValue* v) { g_value_set_boolean(v, p.settings.rule.invert); },
             [](Properties* p, const GValue* v) { p->settings.rule.invert = g_value_get_boolean(v); }},
    Property{
        [] {
          return g_param_spec_enum("output", "Output", "What the source pad gives",
                                   enum_type<kOutputs>("GstCudaCclOutput"), value_of(kDefaults.output),
                                   kLive);
        },
        [](const Properties& p, GValue* v) { g_value_set_enum(v, value_of(p.output)); },
        [](Properties* p, const GValue* v) { p->output = static_cast<ccl::Output>(g_value_get_enum(v)); }},
    Property{[] {
               return g_param_spec_enum("palette", "Palette", "Colours of components",
                                        enum_type<kPalettes>("GstCudaCclPalette"),
                                        value_of(kDefaults.settings.palette), kControllable);
             },
             [](const Properties& p, GValue* v) { g_value_set_enum(v, value_of(p.settings.palette)); },
             [](Properties* p, const GValue* v) {
               p->settings.palette = static_cast<ccl::Palette>(g_value_get_enum(v));
             }},
    Property{[] {
               return g_param_spec_uint("background-color", "Background color",
                                        "Colour where no component is, big-endian ARGB", 0, G_MAXUINT32,
                                        kDefaults.settings.background_color, kControllable);
             },
             [](const Properties& p, GValue* v) { g_value_set_uint(v, p.settings.background_color); },
             [](Properties* p, const GValue* v) { p->settings.background_color = g_value_get_uint(v); }},
    Property{[] {
               return g_param_spec_uint("color-seed", "Color seed", "Other colours for the same labels", 0,
                                        G_MAXUINT32, kDefaults.settings.color_seed, kControllable);
             },
             [](const Properties& p, GValue* v) { g_value_set_uint(v, p.settings.color_seed); },
             [](Properties* p, const GValue* v) { p->settings.color_seed = g_value_get_uint(v); }},
    Property{[] {
               return g_param_spec_double("overlay-alpha", "Overlay alpha",
                                          "Weight of the colour in output=overlay", 0.0, 1.0,
                                          kDefaults.overlay_alpha, kControllable);
             },
             [](const Properties& p, GValue* v) { g_value_set_double(v, p.overlay_alpha); },
             [](Properties* p, const GValue* v) { p->overlay_alpha = g_value_get_double(v); }},
    Property{[] {
               return g_param_spec_boolean("draw-boxes", "Draw boxes",
                                           "White bounding boxes in output=colorized and output=overlay",
                                           kDefaults.settings.draw_boxes, kControllable);
             },
             [](const Properties& p, GValue* v) { g_value_set_boolean(v, p.settings.draw_boxes); },
             [](Properties* p, const GValue* v) { p->settings.draw_boxes = g_value_get_boolean(v); }},
    Property{[] {
               return g_param_spec_uint("min-area", "Minimum area", "Leave out components of fewer pixels", 0,
                                        G_MAXUINT32, kDefaults.settings.filter.min_area, kControllable);
             },
             [](const Properties& p, GValue* v) { g_value_set_uint(v, p.settings.filter.min_area); },
             [](Properties* p, const GValue* v) { p->settings.filter.min_area = g_value_get_uint(v); }},
    Property{[] {
               return g_param_spec_uint("max-area", "Maximum area", "Leave out components of more pixels", 0,
                                        G_MAXUINT32, kDefaults.settings.filter.max_area, kControllable);
             },
             [](const Properties& p, GValue* v) { g_value_set_uint(v, p.settings.filter.max_area); },
             [](Properties* p, const GValue* v) { p->settings.filter.max_area = g_value_get_uint(v); }},
    Property{[] {
               return g_param_spec_uint("max-components", "Maximum components",
                                        "Length of the record table; of more components the largest are told",
                                        1, 1u << 24, kDefaults.max_components, kLive);
             },
             [](const Properties& p, GValue* v) { g_value_set_uint(v, p.max_components); },
             [](Properties* p, const GValue* v) { p->max_components = g_value_get_uint(v); }},
    Property{[] {
               return g_param_spec_uint("threads", "Threads",
                                        "Threads that share a frame on the CPU (0: one per processor)", 0,
                                        ccl::kMaxThreads, kDefaults.threads, kLive);
             },
             [](const Properties& p, GValue* v) { g_value_set_uint(v, p.threads); },
             [](Properties* p, const GValue* v) { p->threads = g_value_get_uint(v); }},
    Property{[] {
               return g_param_spec_uint("pipeline-depth", "Pipeline depth",
                                        "Frames that stay in flight, so that transfers and kernels of "
                                        "several overlap; each adds a frame of latency",
                                        0, kMaxPipelineDepth, kDefaults.pipeline_depth, kLive);
             },
             [](const Properties& p, GValue* v) { g_value_set_uint(v, p.pipeline_depth); },
             [](Properties* p, const GValue* v) { p->pipeline_depth = g_value_get_uint(v); }},
    Property{[] {
               return g_param_spec_flags("features", "Features",
                                         "Record fields beyond area, box and centroid", features_type(),
                                         kDefaults.settings.features, kControllable);
             },
             [](const Properties& p, GValue* v) { g_value_set_flags(v, p.settings.features); },
             [](Properties* p, const GValue* v) { p->settings.features = g_value_get_flags(v); }},
    Property{[] {
               return g_param_spec_flags("metadata", "Metadata", "What buffers carry", metadata_type(),
                                         kDefaults.metadata, kLive);
             },
             [](const Properties& p, GValue* v) { g_value_set_flags(v, p.metadata); },
             [](Properties* p, const GValue* v) { p->metadata = g_value_get_flags(v); }},
    Property{[] {
               return g_param_spec_uint(
                   "max-objects", "Maximum objects",
                   "Regions of interest or analytics objects a buffer carries at most, the largest first", 0,
                   G_MAXUINT32, kDefaults.max_objects, kControllable);
             },
             [](const Properties& p, GValue* v) { g_value_set_uint(v, p.max_objects); },
             [](Properties* p, const GValue* v) { p->max_objects = g_value_get_uint(v); }},
    Property{[] {
               return g_param_spec_boolean("post-messages", "Post messages",
                                           "Post an element message named cudaccl for every frame",
                                           kDefaults.post_messages, kControllable);
             },
             [](const Properties& p, GValue* v) { g_value_set_boolean(v, p.post_messages); },
             [](Properties* p, const GValue* v) { p->post_messages = g_value_get_boolean(v); }},
};

const Property* find_property(guint id) {
  return id >= 1 && id <= kProperties.size() ? &kProperties[id - 1] : nullptr;
}

}  // namespace

void install_properties(GObjectClass* klass) {
  guint id = 0;
  for (const Property& property : kProperties) {
    g_object_class_install_property(klass, ++id, property.spec());
  }
  for (const GType type :
       {backend_type(), algorithm_type(), features_type(), metadata_type(),
        enum_type<kConnectivities>("GstCudaCclConnectivity"), enum_type<kForegrounds>("GstCudaCclForeground"),
        enum_type<kOutputs>("GstCudaCclOutput"), enum_type<kPalettes>("GstCudaCclPalette")}) {
    gst_type_mark_as_plugin_api(type, static_cast<GstPluginAPIFlags>(0));
  }
}

bool set_property(Properties* properties, guint id, const GValue* value) {
  const Property* property = find_property(id);
  if (property != nullptr) {
    property->set(properties, value);
  }
  return property != nullptr;
}

bool get_property(const Properties& properties, guint id, GValue* value) {
  const Property* property = find_property(id);
  if (property != nullptr) {
    property->get(properties, value);
  }
  return property != nullptr;
}

guint next_property_id() {
  return kProperties.size() + 1;
}

GType backend_type() {
  return enum_type<kBackends>("GstCudaCclBackend");
}

}  // namespace cudaccl
