// SPDX-License-Identifier: LGPL-2.1-or-later
/// Labels a video, an image, or raw grey frames, and writes every component of every frame as CSV:
///
///     ccl-records --set threshold=90 --set invert=true clip.avi > records.csv
///     ccl-records --raw 640x480 --labels labels.u16 --set connectivity=4-way frames.gray
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/gst.h>
#include <gst/video/video.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "cudaccl/gstcudacclmeta.h"
#include "examples.h"

namespace {

struct Options {
  gchar* raw = nullptr;  // WIDTHxHEIGHT
  gchar* backend = nullptr;
  gchar** settings = nullptr;  // PROPERTY=VALUE
  gchar* csv = nullptr;
  gchar* labels = nullptr;
  gchar** inputs = nullptr;
};

struct CloseFile {
  void operator()(FILE* file) const {
    if (file != stdout && file != stdin && std::fclose(file) != 0) {
      examples::fail(std::string("writing failed: ") + std::strerror(errno));
    }
  }
};
using File = std::unique_ptr<FILE, CloseFile>;

/// "-" is standard input or output.
File open_file(const std::string& path, const char* mode) {
  if (path == "-") {
    return File(*mode == 'r' ? stdin : stdout);
  }
  File file(std::fopen(path.c_str(), mode));
  if (file == nullptr) {
    examples::fail(path + ": " + std::strerror(errno));
  }
  return file;
}

/* Raw frames in: dense rows in the file, GStreamer's own stride in the buffer */

struct RawFrames {
  File file;
  GstVideoInfo info;
};

RawFrames open_raw(const char* size, const char* path) {
  RawFrames frames{open_file(path, "rb"), {}};
  guint width = 0, height = 0;
  if (std::sscanf(size, "%ux%u", &width, &height) != 2 ||
      !gst_video_info_set_format(&frames.info, GST_VIDEO_FORMAT_GRAY8, width, height)) {
    examples::fail(std::string("--raw wants WIDTHxHEIGHT, not ") + size);
  }
  frames.info.fps_n = 25;
  return frames;
}

/// The next frame; null at the end of the file.
GstBuffer* read_frame(RawFrames* frames) {
  const auto width = static_cast<size_t>(frames->info.width);
  GstBuffer* buffer = gst_buffer_new_allocate(nullptr, frames->info.size, nullptr);
  GstVideoFrame frame;
  gst_video_frame_map(&frame, &frames->info, buffer, GST_MAP_WRITE);
  auto* row = static_cast<guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0));
  size_t got = width;
  int y = 0;
  for (; y < frames->info.height && got == width; ++y) {
    got = std::fread(row, 1, width, frames->file.get());
    row += GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0);
  }
  gst_video_frame_unmap(&frame);
  if (got == width) {
    return buffer;
  }
  if (y > 1 || got > 0) {
    examples::fail("the file ends within a frame");
  }
  gst_buffer_unref(buffer);
  return nullptr;
}

void push_frame(GstAppSrc* source, guint, gpointer data) {
  if (GstBuffer* buffer = read_frame(static_cast<RawFrames*>(data))) {
    gst_app_src_push_buffer(source, buffer);
  } else {
    gst_app_src_end_of_stream(source);
  }
}

void feed(GstAppSrc* source, RawFrames* frames) {
  GstCaps* caps = gst_video_info_to_caps(&frames->info);
  gst_app_src_set_caps(source, caps);
  gst_caps_unref(caps);
  GstAppSrcCallbacks callbacks{};
  callbacks.need_data = push_frame;
  gst_app_src_set_callbacks(source, &callbacks, frames, nullptr);
}

/* Properties */

/// Sets PROPERTY=VALUE; a name or a value that the element does not know ends the program.
void set_property(GstElement* ccl, const std::string& setting) {
  const size_t equals = setting.find('=');
  const std::string name = setting.substr(0, equals);
  const std::string text = equals == std::string::npos ? "" : setting.substr(equals + 1);
  GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(ccl), name.c_str());
  if (spec == nullptr || !(spec->flags & G_PARAM_WRITABLE)) {
    examples::fail("cudaccl has no property '" + name + "' to set; gst-inspect-1.0 cudaccl lists them");
  }
  GValue value = G_VALUE_INIT;
  g_value_init(&value, spec->value_type);
  if (!gst_value_deserialize_with_pspec(&value, text.c_str(), spec)) {
    examples::fail("'" + text + "' is no value of cudaccl's property '" + name + "'");
  }
  g_object_set_property(G_OBJECT(ccl), name.c_str(), &value);
  g_value_unset(&value);
}

/* Records and labels out */

/// Nine digits bring a float back exactly.
void write_records(FILE* csv, guint64 frame, const GstCudaCclInfo& info) {
  for (guint i = 0; i < info.n_records; ++i) {
    const CclComponent& c = info.records[i];
    std::fprintf(csv, "%llu,%u,%u,%u,%u,%u,%u,%u,%.9g,%.9g,%.9g,%.9g,%.9g,%u,%d,%u,%u,%u\n",
                 static_cast<unsigned long long>(frame), c.label, c.id, c.area, c.x, c.y, c.width, c.height,
                 c.cx, c.cy, c.mxx, c.mxy, c.myy, c.perimeter, c.euler, c.flags, c.value, c.age);
  }
}

void write_labels(FILE* file, GstSample* sample) {
  GstVideoInfo info;
  GstVideoFrame frame;
  if (!gst_video_info_from_caps(&info, gst_sample_get_caps(sample)) ||
      !gst_video_frame_map(&frame, &info, gst_sample_get_buffer(sample), GST_MAP_READ)) {
    examples::fail("cannot read the labels");
  }
  const auto* row = static_cast<const guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0));
  for (int y = 0; y < info.height; ++y) {
    std::fwrite(row, 2, static_cast<size_t>(info.width), file);
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

void run(const examples::Pipeline& pipeline, const Options& options) {
  const File csv = open_file(options.csv != nullptr ? options.csv : "-", "wb");
  const File labels = options.labels != nullptr ? open_file(options.labels, "wb") : File();
  const examples::Object<GstElement> ccl = pipeline.find("ccl");
  const examples::Object<GstElement> sink = pipeline.find("sink");
  guint64 frames = 0, components = 0, overflows = 0, saturated = 0;

  std::fprintf(csv.get(),
               "frame,label,id,area,x,y,width,height,cx,cy,mxx,mxy,myy,perimeter,euler,flags,value,age\n");
  gst_element_set_state(pipeline.element(), GST_STATE_PLAYING);
  while (GstSample* sample = next_sample(pipeline, GST_APP_SINK(sink.get()))) {
    GstCudaCclInfo info;
    if (!gst_buffer_get_cudaccl_info(gst_sample_get_buffer(sample), &info)) {
      examples::fail("a frame came without records; does metadata= have 'components'?");
    }
    write_records(csv.get(), frames, info);
    if (labels != nullptr) {
      write_labels(labels.get(), sample);
    }
    ++frames;
    components += info.n_components;
    overflows += info.overflow;
    saturated += info.labels_saturated;
    gst_sample_unref(sample);
  }
  pipeline.ended(0);  // an error that ended the stream ends the program
  g_printerr("%" G_GUINT64_FORMAT " frames, %" G_GUINT64_FORMAT " components, backend %s\n", frames,
             components, examples::property_text(ccl.get(), "active-backend").c_str());
  if (overflows > 0) {
    g_printerr("%" G_GUINT64_FORMAT " frames had more than max-components; the largest were written\n",
               overflows);
  }
  if (saturated > 0) {
    g_printerr("%" G_GUINT64_FORMAT " frames had labels above 65535, written as 65535\n", saturated);
  }
}

Options parse_options(int* argc, char*** argv) {
  static Options options;
  const GOptionEntry entries[] = {
      {"raw", 'r', 0, G_OPTION_ARG_STRING, &options.raw, "The input is 8-bit grey frames of this size",
       "WIDTHxHEIGHT"},
      {"backend", 'b', 0, G_OPTION_ARG_STRING, &options.backend, "auto, cuda or cpu", "BACKEND"},
      {"set", 's', 0, G_OPTION_ARG_STRING_ARRAY, &options.settings, "Set a property of cudaccl (repeatable)",
       "PROPERTY=VALUE"},
      {"csv", 'c', 0, G_OPTION_ARG_FILENAME, &options.csv, "Where records go (default: -, standard output)",
       "FILE"},
      {"labels", 'l', 0, G_OPTION_ARG_FILENAME, &options.labels,
       "Write the labels too, 16-bit little-endian, frame after frame, dense rows", "FILE"},
      {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options.inputs, nullptr, "INPUT"},
      {}};
  examples::parse(argc, argv, "- writes the components of every frame as CSV", entries);
  if (options.inputs == nullptr || options.inputs[1] != nullptr) {
    examples::fail("one input, please; see --help");
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse_options(&argc, &argv);
  const char* source = options.raw != nullptr ? "appsrc name=source format=time"
                                              : "filesrc name=source ! decodebin ! videoconvert";
  const char* output = options.labels != nullptr ? "labels" : "passthrough";
  const examples::Pipeline pipeline(std::string(source) + " ! cudaccl name=ccl output=" + output +
                                    " ! appsink name=sink sync=false max-buffers=4");

  const examples::Object<GstElement> input = pipeline.find("source");
  RawFrames frames;
  if (options.raw != nullptr) {
    frames = open_raw(options.raw, options.inputs[0]);
    feed(GST_APP_SRC(input.get()), &frames);
  } else {
    g_object_set(input.get(), "location", options.inputs[0], nullptr);
  }
  const examples::Object<GstElement> ccl = pipeline.find("ccl");
  if (options.backend != nullptr) {
    set_property(ccl.get(), std::string("backend=") + options.backend);
  }
  for (gchar** setting = options.settings; setting != nullptr && *setting != nullptr; ++setting) {
    set_property(ccl.get(), *setting);
  }
  run(pipeline, options);
  return 0;
}
