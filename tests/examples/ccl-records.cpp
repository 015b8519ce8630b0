// SPDX-License-Identifier: LGPL-2.1-or-later
/// Labels a video, an image, or raw grey frames, and writes the records of every frame as CSV or as JSON
/// lines:
///
///     ccl-records --set threshold=90 --set invert=true clip.avi > records.csv
///     ccl-records --format json --set foreground=motion --set track=true clip.avi > records.jsonl
///     ccl-records --format json --launch "v4l2src ! videoconvert ! cudaccl track=true"
///     ccl-records --raw 640x480 --labels labels.u16 --set connectivity=4-way frames.gray
#include <gst/app/gstappsink.h>
#include <gst/gst.h>
#include <gst/video/video.h>

#include <clocale>
#include <memory>
#include <string>

#include "cudaccl/gstcudaccljson.h"
#include "cudaccl/gstcudacclmeta.h"
#include "examples.h"
#include "raw_frames.h"
#include "record_tables.h"

namespace {

using examples::File;

struct Options {
  gchar* raw = nullptr;  // WIDTHxHEIGHT
  gchar* launch = nullptr;
  gchar* backend = nullptr;
  gchar** settings = nullptr;  // PROPERTY=VALUE
  gchar* format = nullptr;     // csv, json
  gchar* output = nullptr;
  gchar* labels = nullptr;
  gchar** inputs = nullptr;

  bool is_json() const { return g_strcmp0(format, "json") == 0; }
};

/// Sets PROPERTY=VALUE; a name or a value that the element does not know ends the program.
void set_property(GstElement* ccl, const std::string& setting) {
  const size_t equals = setting.find('=');
  if (equals == std::string::npos) {
    examples::fail("--set wants PROPERTY=VALUE, not '" + setting + "'");
  }
  const std::string name = setting.substr(0, equals);
  const std::string text = setting.substr(equals + 1);
  GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(ccl), name.c_str());
  if (spec == nullptr || !(spec->flags & G_PARAM_WRITABLE)) {
    examples::fail("cudaccl has no property '" + name + "' to set; gst-inspect-1.0 cudaccl lists them");
  }
  GValue value = G_VALUE_INIT;
  g_value_init(&value, spec->value_type);
  const bool needs_text = spec->value_type != G_TYPE_STRING && !G_IS_PARAM_SPEC_FLAGS(spec);
  // GStreamer reads a number 0 from an empty text.
  if ((needs_text && text.empty()) || !gst_value_deserialize_with_pspec(&value, text.c_str(), spec) ||
      g_param_value_validate(spec, &value)) {
    examples::fail("'" + text + "' is no value of cudaccl's property '" + name + "'");
  }
  g_object_set_property(G_OBJECT(ccl), name.c_str(), &value);
  g_value_unset(&value);
}

/* Records and labels out */

/// The file that records go to.
class Writer {
 public:
  explicit Writer(const Options& options)
      : is_json_(options.is_json()),
        file_(examples::open_file(options.output != nullptr ? options.output : "-", "wb")) {
    if (!is_json_) {
      std::fprintf(file_.get(), "%s\n", examples::kColumns);
    }
  }
  ~Writer() { g_string_free(text_, TRUE); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// A program that reads the output while it grows sees whole frames.
  void write(const GstCudaCclInfo& info, GstClockTime running_time) {
    g_string_truncate(text_, 0);
    if (is_json_) {
      gst_cudaccl_info_append_json(&info, running_time, text_);
      g_string_append_c(text_, '\n');
    } else {
      examples::append_rows(info, running_time, text_);
    }
    const bool is_written = std::fwrite(text_->str, 1, text_->len, file_.get()) == text_->len;
    if (std::fflush(file_.get()) != 0 || !is_written) {
      examples::fail(std::string("writing failed: ") + std::strerror(errno));
    }
  }

 private:
  const bool is_json_;
  const File file_;
  GString* const text_ = g_string_new(nullptr);
};

void write_labels(FILE* file, GstSample* sample) {
  GstVideoInfo info;
  GstVideoFrame frame;
  if (!gst_video_info_from_caps(&info, gst_sample_get_caps(sample)) ||
      !gst_video_frame_map(&frame, &info, gst_sample_get_buffer(sample), GST_MAP_READ)) {
    examples::fail("cannot read the labels");
  }
  const auto* row = static_cast<const guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0));
  for (int y = 0; y < info.height; ++y) {
    if (std::fwrite(row, 2, static_cast<size_t>(info.width), file) != static_cast<size_t>(info.width)) {
      examples::fail(std::string("writing labels failed: ") + std::strerror(errno));
    }
    row += GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0);
  }
  gst_video_frame_unmap(&frame);
}

/// The next labelled frame; null at the end.
GstSample* next_sample(const examples::Pipeline& pipeline, GstAppSink* sink) {
  while (true) {
    if (GstSample* sample = gst_app_sink_try_pull_sample(sink, 100 * GST_MSECOND)) {
      return sample;
    }
    if (pipeline.ended(0) || gst_app_sink_is_eos(sink)) {
      return nullptr;
    }
  }
}

GstClockTime running_time_of(GstSample* sample) {
  const GstSegment* segment = gst_sample_get_segment(sample);
  const GstClockTime pts = GST_BUFFER_PTS(gst_sample_get_buffer(sample));
  return segment->format == GST_FORMAT_TIME ? gst_segment_to_running_time(segment, GST_FORMAT_TIME, pts)
                                            : GST_CLOCK_TIME_NONE;
}

/// What is printed about the stream at its end.
struct Totals {
  guint64 frames = 0, components = 0, overflows = 0, saturated = 0;

  void add(const GstCudaCclInfo& info) {
    components += info.n_components;
    overflows += info.overflow;
    saturated += info.labels_saturated;
  }

  /// `ccl` is null if the launch line is not ours.
  void print(GstElement* ccl) const {
    const std::string backend =
        ccl != nullptr ? ", backend " + examples::property_text(ccl, "active-backend") : "";
    g_printerr("%" G_GUINT64_FORMAT " frames, %" G_GUINT64_FORMAT " components%s\n", frames, components,
               backend.c_str());
    if (overflows > 0) {
      g_printerr("%" G_GUINT64_FORMAT " frames had more than max-components; the largest were written\n",
                 overflows);
    }
    if (saturated > 0) {
      g_printerr("%" G_GUINT64_FORMAT " frames had labels above 65535, written as 65535\n", saturated);
    }
  }
};

/// Writes the records of each element that labelled the frame.
void write_records(GstSample* sample, Writer* writer, Totals* totals) {
  GstCudaCclInfo info;
  gpointer state = nullptr;
  bool has_records = false;
  while (gst_buffer_iterate_cudaccl_info(gst_sample_get_buffer(sample), &state, &info)) {
    writer->write(info, running_time_of(sample));
    totals->add(info);
    has_records = true;
  }
  if (!has_records) {
    examples::fail("a frame came without records; is there a cudaccl whose metadata= has 'components'?");
  }
  ++totals->frames;
}

void run(const examples::Pipeline& pipeline, const Options& options) {
  Writer writer(options);
  const File labels = options.labels != nullptr ? examples::open_file(options.labels, "wb") : File();
  const examples::Object<GstElement> sink = pipeline.find("ccl-records-sink");
  Totals totals;

  gst_element_set_state(pipeline.element(), GST_STATE_PLAYING);
  while (GstSample* sample = next_sample(pipeline, GST_APP_SINK(sink.get()))) {
    write_records(sample, &writer, &totals);
    if (labels != nullptr) {
      write_labels(labels.get(), sample);
    }
    gst_sample_unref(sample);
  }
  if (labels != nullptr && std::fflush(labels.get()) != 0) {
    examples::fail(std::string("writing labels failed: ") + std::strerror(errno));
  }
  pipeline.ended(0);  // an error that ended the stream ends the program
  totals.print(options.launch == nullptr ? pipeline.find("ccl").get() : nullptr);
}

/* The command line */

/// Ends the program if options do not go together.
void check(const Options& options) {
  if (options.format != nullptr && !options.is_json() && g_strcmp0(options.format, "csv") != 0) {
    examples::fail(std::string("--format is csv or json, not ") + options.format);
  }
  if (options.launch != nullptr && (options.raw != nullptr || options.backend != nullptr ||
                                    options.settings != nullptr || options.labels != nullptr)) {
    examples::fail("--launch has all settings in its line: no --raw, --backend, --set or --labels with it");
  }
  const bool has_one_input = options.inputs != nullptr && options.inputs[1] == nullptr;
  if (options.launch != nullptr ? options.inputs != nullptr : !has_one_input) {
    examples::fail("one input, please; see --help");
  }
}

Options parse_options(int* argc, char*** argv) {
  static Options options;
  const GOptionEntry entries[] = {
      {"raw", 'r', 0, G_OPTION_ARG_STRING, &options.raw, "The input is 8-bit grey frames of this size",
       "WIDTHxHEIGHT"},
      {"launch", 'L', 0, G_OPTION_ARG_STRING, &options.launch,
       "The input is this launch line with a cudaccl, without a sink", "LINE"},
      {"backend", 'b', 0, G_OPTION_ARG_STRING, &options.backend, "auto, cuda or cpu", "BACKEND"},
      {"set", 's', 0, G_OPTION_ARG_STRING_ARRAY, &options.settings, "Set a property of cudaccl (repeatable)",
       "PROPERTY=VALUE"},
      {"format", 'f', 0, G_OPTION_ARG_STRING, &options.format,
       "csv (the default): a row for each component; json: a line for each frame, with tracks and events",
       "FORMAT"},
      {"output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output,
       "Where records go (default: -, standard output)", "FILE"},
      {"labels", 'l', 0, G_OPTION_ARG_FILENAME, &options.labels,
       "Write the labels too, 16-bit little-endian, frame after frame, dense rows", "FILE"},
      {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options.inputs, nullptr, "INPUT"},
      {}};
  examples::parse(argc, argv, "- writes the components of every frame as CSV or JSON lines", entries);
  check(options);
  return options;
}

std::string launch_line(const Options& options) {
  const std::string sink = " ! appsink name=ccl-records-sink sync=false max-buffers=4";
  if (options.launch != nullptr) {
    return options.launch + sink;
  }
  const std::string source = options.raw != nullptr ? "appsrc name=source format=time"
                                                    : "filesrc name=source ! decodebin ! videoconvert";
  const std::string output = options.labels != nullptr ? "labels" : "passthrough";
  return source + " ! cudaccl name=ccl output=" + output + sink;
}

}  // namespace

int main(int argc, char** argv) {
  std::setlocale(LC_CTYPE, "");  // texts of GLib have quotation marks that are not ASCII
  const Options options = parse_options(&argc, &argv);
  std::unique_ptr<examples::RawFrames> frames;
  if (options.raw != nullptr) {
    frames = std::make_unique<examples::RawFrames>(options.raw, options.inputs[0]);
  }
  const examples::Pipeline pipeline(launch_line(options));
  if (frames != nullptr) {
    frames->feed(GST_APP_SRC(pipeline.find("source").get()));
  } else if (options.launch == nullptr) {
    if (!g_file_test(options.inputs[0], G_FILE_TEST_EXISTS)) {
      examples::fail(std::string("there is no file ") + options.inputs[0]);
    }
    g_object_set(pipeline.find("source").get(), "location", options.inputs[0], nullptr);
  }
  if (options.launch == nullptr) {
    const examples::Object<GstElement> ccl = pipeline.find("ccl");
    if (options.backend != nullptr) {
      set_property(ccl.get(), std::string("backend=") + options.backend);
    }
    for (gchar** setting = options.settings; setting != nullptr && *setting != nullptr; ++setting) {
      set_property(ccl.get(), *setting);
    }
  }
  run(pipeline, options);
  return 0;
}
