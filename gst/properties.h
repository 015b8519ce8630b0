// SPDX-License-Identifier: LGPL-2.1-or-later
/// The element's properties: one struct that each frame takes a copy of, and one table that declares them.
/// A new property is a field of Properties, of one of its bases, or of ccl::Settings, with its documentation,
/// and a row of the table in properties.cpp.
#pragma once

#include <gst/gst.h>

#include <memory>

#include "ccl/config.h"
#include "foreground_properties.h"
#include "track_properties.h"

namespace cudaccl {

struct RegionSetting;

/// The largest value of `pipeline-depth`.
inline constexpr guint kMaxPipelineDepth = 8;

enum class BackendChoice { kAuto, kCuda, kCpu };

/// Flags of the `metadata` property.
enum Metadata : guint {
  kMetadataComponents = 1u << 0,
  kMetadataRoi = 1u << 1,
  kMetadataAnalytics = 1u << 2,     ///< only where has_analytics()
  kMetadataSegmentation = 1u << 3,  ///< only where has_segmentation()
  kMetadataOriented = 1u << 4,      ///< likewise; changes kMetadataAnalytics
};

/// What is in the GstAnalyticsRelationMeta of a buffer.
inline constexpr guint kMetadataObjects = kMetadataAnalytics | kMetadataSegmentation;

/// What `label-map` attaches: bits of ccl::Plane.
enum class LabelMap : uint32_t { kNone = 0, kLabels = ccl::kLabelPlane, kIds = ccl::kIdPlane };

/// What `post-messages` posts.
enum class Messages { kNone, kCounts, kRecords };

/// The values of all properties that can be set.
struct Properties : ForegroundProperties, TrackProperties {
  /**
   * GstCudaCcl:backend:
   *
   * Where frames are labelled. With `auto` the element falls back to the CPU if there is no usable GPU, and
   * posts an info message; with `cuda` the state change fails instead. The property is read at each start,
   * from NULL to READY and from READY to PAUSED. #GstCudaCcl:active-backend is the result.
   *
   * Since: 0.1
   */
  BackendChoice backend = BackendChoice::kAuto;

  /**
   * GstCudaCcl:cuda-device-id:
   *
   * Ordinal of the CUDA device. With -1 the element uses the device of a CUDA context that other elements or
   * the application share, or else the first device. It is read when #GstCudaCcl:backend is.
   *
   * Since: 0.1
   */
  gint cuda_device_id = -1;

  /**
   * GstCudaCcl:algorithm:
   *
   * The labeler. All of them give the same labels and records, so this is a choice of speed; `auto` is the
   * fastest of the backend. An algorithm that does not run on the backend is an element error at the start.
   * While frames flow, such a value is refused with a warning, and the old one stays.
   *
   * Since: 0.1
   */
  ccl::Algorithm algorithm = ccl::Algorithm::kAuto;

  /**
   * GstCudaCcl:output:
   *
   * What the source pad produces. A change while the pipeline runs renegotiates the source caps; with
   * `passthrough` the sink caps are negotiated as well, because then both pads have the same format. An
   * output that downstream cannot take is refused with a warning, and the old one stays.
   *
   * Since: 0.1
   */
  ccl::Output output = ccl::Output::kColorized;  // kNone is `passthrough`

  /**
   * GstCudaCcl:max-components:
   *
   * Length of the record table, which is allocated in advance. If a frame has more components, only the
   * largest have records and `overflow` is set. Labels and pixels are not affected.
   *
   * Since: 0.1
   */
  guint max_components = ccl::Config{}.max_components;

  /**
   * GstCudaCcl:threads:
   *
   * Threads that share a frame on the CPU; 0 chooses by frame size, at most one per processor that the
   * process may use. The GPU ignores it.
   *
   * Since: 0.1
   */
  guint threads = ccl::Config{}.threads;

  /**
   * GstCudaCcl:pipeline-depth:
   *
   * Frames that stay in flight, so that the upload of one frame, the kernels of the next one and the download
   * of a third overlap. Each adds one frame of latency, which the element reports. If the caps have no frame
   * rate, the first frame's duration counts, or else the time between two frames.
   *
   * Since: 0.1
   */
  guint pipeline_depth = 0;

  /**
   * GstCudaCcl:regions:
   *
   * Polygons that foreground must be in, or must not be in, and zones and lines for the events of
   * #GstCudaCcl:track: JSON text that begins with a brace, or the path of a JSON file, which is read when the
   * property is set. Null or an empty text: the whole frame. Text that cannot be used is refused with a
   * warning, and the old regions stay. See docs/regions.md. With `foreground=values` only zones and lines
   * count.
   *
   * Since: 0.1
   */
  std::shared_ptr<const RegionSetting> regions;

  /**
   * GstCudaCcl:overlay-alpha:
   *
   * Weight of the component's colour over the input in `output=overlay`: 0.0 is the input alone, 1.0 the
   * colour alone.
   *
   * Since: 0.1
   */
  gdouble overlay_alpha = 0.5;

  /**
   * GstCudaCcl:min-extent:
   *
   * Components are kept if their area divided by that of their bounding box is at least this: 1 for a
   * rectangle, π/4 for a disc. Limits that are real numbers have steps of 1/65536. See #GstCudaCcl:min-width.
   *
   * Since: 0.1
   */
  gdouble min_extent = 0;

  /**
   * GstCudaCcl:min-circularity:
   *
   * Components are kept if 16 × area / perimeter² is at least this. The perimeter counts pixel edges: a
   * square has 1, a disc π/4 (0.785), a line of n pixels about 4/n; ragged borders and holes make it smaller.
   * See #GstCudaCcl:min-width.
   *
   * Since: 0.1
   */
  gdouble min_circularity = 0;

  /**
   * GstCudaCcl:max-eccentricity:
   *
   * Components are kept if the eccentricity of the ellipse with the same second moments is at most this: 0
   * for a disc or a square, 0.866 if it is twice as long as wide, 1 for a line. See #GstCudaCcl:min-width.
   *
   * Since: 0.1
   */
  gdouble max_eccentricity = 1;

  /**
   * GstCudaCcl:connectivity:
   *
   * Which pixels are neighbours: those that share an edge, or those that share an edge or a corner.
   *
   * Since: 0.1
   */
  /**
   * GstCudaCcl:foreground:
   *
   * Which pixels are foreground, and which of them connect. With `binary` the threshold is fixed
   * (#GstCudaCcl:threshold), with `otsu` each frame has its own, and with `local` each pixel
   * (#GstCudaCcl:local-radius). With `motion` foreground is what differs from the background that the element
   * learns (#GstCudaCcl:background-model). With `values` every non-zero value is foreground, and only pixels
   * of equal value connect.
   *
   * Since: 0.1
   */
  /**
   * GstCudaCcl:invert:
   *
   * With `foreground=binary`, `otsu` or `local` a pixel is foreground if its value is below the threshold.
   *
   * Since: 0.1
   */
  /**
   * GstCudaCcl:palette:
   *
   * How components get their colours in `output=colorized` and `output=overlay`.
   *
   * Since: 0.1
   */
  /**
   * GstCudaCcl:background-color:
   *
   * Colour of the background in `output=colorized`, as big-endian ARGB. Components that the filter does not
   * keep are background.
   *
   * Since: 0.1
   */
  /**
   * GstCudaCcl:color-seed:
   *
   * Selects other colours for the same labels.
   *
   * Since: 0.1
   */
  /**
   * GstCudaCcl:draw-boxes:
   *
   * Draws a white bounding box around each component in `output=colorized` and `output=overlay`.
   *
   * Since: 0.1
   */
  /**
   * GstCudaCcl:draw-ids:
   *
   * With #GstCudaCcl:track: writes the id of each confirmed track above its box, in `output=colorized` and
   * `output=overlay`. While a track is not seen, its id fades at the predicted place. Without
   * #GstCudaCcl:track there are no ids, and nothing is drawn.
   *
   * Since: 0.1
   */
  /**
   * GstCudaCcl:draw-trails:
   *
   * With #GstCudaCcl:track: draws where each confirmed track was in the last two seconds, as a line through
   * the bottom centres of its boxes, in `output=colorized` and `output=overlay`. Without #GstCudaCcl:track
   * nothing is drawn.
   *
   * Since: 0.1
   */
  /**
   * GstCudaCcl:draw-regions:
   *
   * Draws the polygons, zones and lines of #GstCudaCcl:regions with their names, in `output=colorized` and
   * `output=overlay`. It does not need #GstCudaCcl:track.
   *
   * Since: 0.1
   */
  /**
   * GstCudaCcl:min-area:
   *
   * Components of fewer pixels are not kept: they have no record and are painted as background. The labels of
   * the others do not change.
   *
   * Since: 0.1
   */
  /**
   * GstCudaCcl:max-area:
   *
   * Components of more pixels are not kept: see #GstCudaCcl:min-area.
   *
   * Since: 0.1
   */
  /**
   * GstCudaCcl:min-width:
   *
   * Components whose bounding box has fewer columns are not kept: see #GstCudaCcl:min-area. The filters are
   * tested in the order area, width and height, border, extent, circularity, eccentricity, top-n, and
   * #GstCudaCcl:stats counts what each one removed.
   *
   * Since: 0.1
   */
  /**
   * GstCudaCcl:min-height:
   *
   * Components whose bounding box has fewer rows are not kept: see #GstCudaCcl:min-width.
   *
   * Since: 0.1
   */
  /**
   * GstCudaCcl:max-width:
   *
   * Components whose bounding box has more columns are not kept: see #GstCudaCcl:min-width. 0: no limit.
   *
   * Since: 0.1
   */
  /**
   * GstCudaCcl:max-height:
   *
   * Components whose bounding box has more rows are not kept: see #GstCudaCcl:min-width. 0: no limit.
   *
   * Since: 0.1
   */
  /**
   * GstCudaCcl:clear-border:
   *
   * Components that touch the frame's border are not kept: see #GstCudaCcl:min-width.
   *
   * Since: 0.1
   */
  /**
   * GstCudaCcl:top-n:
   *
   * Of the components that all other filters keep, only this many are kept: the largest by area, and of equal
   * ones those with the smaller labels. 0: no limit. Unlike #GstCudaCcl:max-components it removes them from
   * the picture too, and is no overflow.
   *
   * Since: 0.1
   */
  /**
   * GstCudaCcl:features:
   *
   * What to compute in addition to area, box and centroid. `moments`, `perimeter` and `euler` are fields of
   * the record, and 0 without their feature. The others are tables of their own in GstCudaCclMeta: `grey` has
   * statistics of the source's values for each record; `rectangle`, `hull` and `contour` have polygons of the
   * #GstCudaCcl:max-objects largest components. They need #GstCudaCcl:metadata `components`.
   *
   * Since: 0.1
   */
  ccl::Settings settings;  // less what frame_settings() fills in

  /**
   * GstCudaCcl:metadata:
   *
   * Metadata that buffers carry: all records as one GstCudaCclMeta, and the largest components as regions of
   * interest or as objects of GStreamer's analytics library: `analytics` (1.24 or newer) adds detections,
   * whose boxes have the direction of the object with `oriented`, and `segmentation` a mask (both 1.26 or
   * newer).
   *
   * Since: 0.1
   */
  guint metadata = kMetadataComponents;

  /**
   * GstCudaCcl:max-objects:
   *
   * Regions of interest or analytics objects per buffer. The largest components come first; of equal ones the
   * smaller label.
   *
   * Since: 0.1
   */
  guint max_objects = 256;

  /**
   * GstCudaCcl:label-map:
   *
   * Attaches a GstCudaCclLabelMap to each buffer: a buffer with a 32-bit value for each pixel, the label of
   * its component, or the id. Components that the filters remove are 0. The map lies where the buffer of the
   * output lies: in CUDA memory, or in system memory. See docs/metadata.md.
   *
   * Since: 1.0
   */
  LabelMap label_map = LabelMap::kNone;

  /**
   * GstCudaCcl:post-messages:
   *
   * Posts an element message named `cudaccl` for every frame, with `source` and `backend` (#gchararray),
   * `frame`, `timestamp`, `stream-time`, `running-time` and `duration` (#guint64), and the frame's counts
   * such as `n-components` (#guint); with `records` also with all fields of GstCudaCclMeta: see
   * docs/metadata.md. With #GstCudaCcl:track also one named `cudaccl-event` for every event: see
   * docs/events.md.
   *
   * Since: 0.1
   */
  Messages post_messages = Messages::kNone;
};

/// Ids of the properties that are not in the table, which the element answers. Those of the table count
/// from 1.
enum : guint {
  /**
   * GstCudaCcl:active-backend:
   *
   * Where frames are labelled, from READY on: `cuda` or `cpu`, and `auto` before. A change is notified.
   *
   * Since: 0.1
   */
  kActiveBackendId = 1000,

  /**
   * GstCudaCcl:stats:
   *
   * A structure `application/x-cudaccl-stats`. `device` (#gchararray) and `device-id` (#gint, -1 on the CPU)
   * describe the processor in use. `frames`, `dropped` (the sum of `late` and `corrupt`), `late`, `corrupt`
   * and the sums of the frames' counts such as `components` (#guint64) are counted since the start: see
   * docs/metadata.md. So are events, in total and for each zone and line: see docs/events.md. Each of the
   * stages `upload`, `segment`, `label`, `number`, `measure`, `track`, `paint` and `download` has its time
   * per frame in microseconds, as `STAGE-us-min`, `STAGE-us-mean` and `STAGE-us-max` (#gdouble). While frames
   * flow, a change is notified at most once a second.
   *
   * Since: 0.1
   */
  kStatsId,

  /**
   * GstCudaCcl:meta-name:
   *
   * Names this element in the metadata and the messages that it makes, as `source`; with the empty text that
   * is the element's name. An element replaces metadata of the same source on a buffer, and keeps all other
   * metadata. It is read from READY to PAUSED.
   *
   * Since: 0.1
   */
  kMetaNameId,

  /**
   * GstCudaCcl:object-type:
   *
   * Names what the objects of this element are, as the type of its regions of interest and analytics objects.
   * With the empty text regions have the type `component`, and analytics objects the source, see
   * #GstCudaCcl:meta-name. It is read from READY to PAUSED.
   *
   * Since: 1.0
   */
  kObjectTypeId,

  kRegionsId,  ///< Properties::regions, a text, which the table has no kind for
};

/// Installs all properties.
void install_properties(GObjectClass* klass);

/// Writes or reads the property of the table with this id. False if there is none.
bool set_property(Properties* properties, guint id, const GValue* value);
bool get_property(const Properties& properties, guint id, GValue* value);

/// If the named property has the value that it has in `from`, and another one in `to`, sets it to that. True
/// if it did.
bool restore_property(Properties* properties, const char* name, const Properties& from, const Properties& to);

}  // namespace cudaccl
