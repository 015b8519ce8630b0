// SPDX-License-Identifier: LGPL-2.1-or-later
#include "property_types.h"

#include <gst/gst.h>

#include <string>
#include <vector>

#include "analytics.h"
#include "ccl/config.h"
#include "properties.h"

namespace cudaccl {

namespace {

template <typename Enum>
constexpr gint value_of(Enum e) {
  return static_cast<gint>(e);
}

/// Documented with the element, because only its properties use the type.
GType mark_as_plugin_api(GType type) {
  gst_type_mark_as_plugin_api(type, static_cast<GstPluginAPIFlags>(0));
  return type;
}

/// `values` ends with an empty row; GObject keeps the pointer.
GType new_enum(const char* name, const GEnumValue* values) {
  return mark_as_plugin_api(g_enum_register_static(name, values));
}

GType new_flags(const char* name, const GFlagsValue* values) {
  return mark_as_plugin_api(g_flags_register_static(name, values));
}

/// Where the algorithm runs in this build.
const char* backends_of(const ccl::AlgorithmInfo& info) {
  const bool on_cpu = info.runs_on(ccl::Backend::kCpu);
  if (info.runs_on(ccl::Backend::kCuda)) {
    return on_cpu ? "cpu, cuda" : "cuda";
  }
  return on_cpu ? "cpu" : "cuda, not in this build";
}

}  // namespace

GType backend_type() {
  static constexpr GEnumValue kValues[] = {
      {value_of(BackendChoice::kAuto), "A GPU if there is one, else the CPU", "auto"},
      {value_of(BackendChoice::kCuda), "CUDA; an error if there is no GPU", "cuda"},
      {value_of(BackendChoice::kCpu), "CPU", "cpu"},
      {}};
  static const GType type = new_enum("GstCudaCclBackend", kValues);
  return type;
}

GType algorithm_type() {
  // GObject keeps the pointers to the names.
  static const std::vector<std::string> names = [] {
    std::vector<std::string> sources;
    for (const ccl::AlgorithmInfo& info : ccl::algorithms()) {
      sources.push_back(std::string(info.source) + " (" + backends_of(info) + ")");
    }
    return sources;
  }();
  static const std::vector<GEnumValue> values = [] {
    std::vector<GEnumValue> rows;
    for (const ccl::AlgorithmInfo& info : ccl::algorithms()) {
      rows.push_back({value_of(info.algorithm), names[rows.size()].c_str(), info.nick});
    }
    rows.push_back({});
    return rows;
  }();
  static const GType type = new_enum("GstCudaCclAlgorithm", values.data());
  return type;
}

GType connectivity_type() {
  static constexpr GEnumValue kValues[] = {
      {value_of(ccl::Connectivity::k4), "Pixels that share an edge", "4-way"},
      {value_of(ccl::Connectivity::k8), "Pixels that share an edge or a corner", "8-way"},
      {}};
  static const GType type = new_enum("GstCudaCclConnectivity", kValues);
  return type;
}

GType foreground_type() {
  static constexpr GEnumValue kValues[] = {
      {value_of(ccl::Foreground::kBinary), "Pixels at or above the threshold", "binary"},
      {value_of(ccl::Foreground::kOtsu), "Pixels at or above a threshold that each frame has (Otsu 1979)",
       "otsu"},
      {value_of(ccl::Foreground::kLocal), "Pixels at or above a threshold that follows from their neighbours",
       "local"},
      {value_of(ccl::Foreground::kMotion), "Pixels that differ from a learned background", "motion"},
      {value_of(ccl::Foreground::kValues), "Equal non-zero values connect", "values"},
      {}};
  static const GType type = new_enum("GstCudaCclForeground", kValues);
  return type;
}

GType background_model_type() {
  static constexpr GEnumValue kValues[] = {
      {value_of(ccl::BackgroundModel::kSigmaDelta), "A value and its variation (Manzanera, Richefeu 2007)",
       "sigma-delta"},
      {value_of(ccl::BackgroundModel::kMixture), "Several values with weights (Zivkovic 2004)", "mixture"},
      {}};
  static const GType type = new_enum("GstCudaCclBackgroundModel", kValues);
  return type;
}

GType morphology_shape_type() {
  static constexpr GEnumValue kValues[] = {
      {value_of(ccl::Element::kSquare), "Square", "square"},
      {value_of(ccl::Element::kCross), "Horizontal and vertical line", "cross"},
      {}};
  static const GType type = new_enum("GstCudaCclMorphologyShape", kValues);
  return type;
}

GType output_type() {
  static constexpr GEnumValue kValues[] = {
      {value_of(ccl::Output::kColorized), "A colour for every component: RGBA and other RGB of 4 bytes",
       "colorized"},
      {value_of(ccl::Output::kOverlay), "Colours over the input: the same formats", "overlay"},
      {value_of(ccl::Output::kLabels), "16-bit canonical labels: GRAY16_LE", "labels"},
      {value_of(ccl::Output::kMask),
       "White in components that the filter keeps, else black: GRAY8, NV12, I420", "mask"},
      {value_of(ccl::Output::kBackground), "What the background model expects: RGB of 4 bytes", "background"},
      {value_of(ccl::Output::kForeground), "The input in components that the filter keeps: the same formats",
       "foreground"},
      {value_of(ccl::Output::kNone), "The input unchanged, metadata only", "passthrough"},
      {}};
  static const GType type = new_enum("GstCudaCclOutput", kValues);
  return type;
}

GType palette_type() {
  static constexpr GEnumValue kValues[] = {
      {value_of(ccl::Palette::kGolden), "Golden-ratio hues", "golden"},
      {value_of(ccl::Palette::kGlasbey), "256 colours, each as different as possible", "glasbey"},
      {value_of(ccl::Palette::kViridisByArea), "Small components blue, large ones yellow", "viridis-by-area"},
      {value_of(ccl::Palette::kMono), "All white", "mono"},
      {}};
  static const GType type = new_enum("GstCudaCclPalette", kValues);
  return type;
}

GType features_type() {
  static constexpr GFlagsValue kValues[] = {
      {ccl::kFeatureMoments, "Central second moments", "moments"},
      {ccl::kFeaturePerimeter, "Perimeter in pixel edges", "perimeter"},
      {ccl::kFeatureEuler, "Euler number", "euler"},
      {ccl::kFeatureGrey, "Statistics of the source's values", "grey"},
      {ccl::kFeatureRectangle, "Rectangle of the smallest area", "rectangle"},
      {ccl::kFeatureHull, "Convex hull", "hull"},
      {ccl::kFeatureContour, "Outline and holes", "contour"},
      {}};
  static const GType type = new_flags("GstCudaCclFeatures", kValues);
  return type;
}

GType metadata_type() {
  // An empty row ends the flags: those that the analytics library of the build lacks are behind it.
  static const GFlagsValue kValues[] = {
      {kMetadataComponents, "GstCudaCclMeta: all records", "components"},
      {kMetadataRoi, "GstVideoRegionOfInterestMeta for the largest components", "roi"},
      has_analytics() ? GFlagsValue{kMetadataAnalytics, "GstAnalyticsRelationMeta for the largest components",
                                    "analytics"}
                      : GFlagsValue{},
      has_segmentation()
          ? GFlagsValue{kMetadataSegmentation,
                        "Mask of the largest components in the GstAnalyticsRelationMeta", "segmentation"}
          : GFlagsValue{},
      has_segmentation()
          ? GFlagsValue{kMetadataOriented, "With analytics: boxes in the direction of the object", "oriented"}
          : GFlagsValue{},
      {}};
  static const GType type = new_flags("GstCudaCclMetadata", kValues);
  return type;
}

GType label_map_type() {
  static constexpr GEnumValue kValues[] = {
      {value_of(LabelMap::kNone), "No label map", "none"},
      {value_of(LabelMap::kLabels), "The label of each pixel's component", "labels"},
      {value_of(LabelMap::kIds), "The id of each pixel's component", "ids"},
      {}};
  // GstCudaCclLabelMap is the name of the metadata, which is a type, too.
  static const GType type = new_enum("GstCudaCclLabelMapKind", kValues);
  return type;
}

GType messages_type() {
  // The last two are what lines and programs wrote when the property was a boolean.
  static constexpr GEnumValue kValues[] = {
      {value_of(Messages::kNone), "No messages", "none"},
      {value_of(Messages::kCounts), "The counts of each frame, and events", "counts"},
      {value_of(Messages::kRecords), "The records of each frame too", "records"},
      {value_of(Messages::kNone), "The same as none", "false"},
      {value_of(Messages::kCounts), "The same as counts", "true"},
      {}};
  static const GType type = new_enum("GstCudaCclMessages", kValues);
  return type;
}

}  // namespace cudaccl
