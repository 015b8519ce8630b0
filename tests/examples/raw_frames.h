// SPDX-License-Identifier: LGPL-2.1-or-later
/// Files, and raw grey frames in them as the buffers of an appsrc.
#pragma once

#include <gst/app/gstappsrc.h>
#include <gst/video/video.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "examples.h"

namespace examples {

struct CloseFile {
  void operator()(FILE* file) const {
    if (file != stdout && file != stdin && std::fclose(file) != 0) {
      fail(std::string("writing failed: ") + std::strerror(errno));
    }
  }
};
using File = std::unique_ptr<FILE, CloseFile>;

/// "-" is standard input or output.
inline File open_file(const std::string& path, const char* mode) {
  if (path == "-") {
    return File(*mode == 'r' ? stdin : stdout);
  }
  File file(std::fopen(path.c_str(), mode));
  if (file == nullptr) {
    fail(path + ": " + std::strerror(errno));
  }
  return file;
}

/// Dense rows in the file, GStreamer's own stride in the buffer.
class RawFrames {
 public:
  /// `size` is WIDTHxHEIGHT.
  RawFrames(const char* size, const char* path) : file_(open_file(path, "rb")) {
    guint width = 0, height = 0;
    if (std::sscanf(size, "%ux%u", &width, &height) != 2 ||
        !gst_video_info_set_format(&info_, GST_VIDEO_FORMAT_GRAY8, width, height)) {
      fail(std::string("--raw wants WIDTHxHEIGHT, not ") + size);
    }
    info_.fps_n = 25;
  }

  /// Pushes the frames into the appsrc while it runs. This must outlive it.
  void feed(GstAppSrc* source) {
    GstCaps* caps = gst_video_info_to_caps(&info_);
    gst_app_src_set_caps(source, caps);
    gst_caps_unref(caps);
    GstAppSrcCallbacks callbacks{};
    callbacks.need_data = push_frame;
    gst_app_src_set_callbacks(source, &callbacks, this, nullptr);
  }

 private:
  /// The next frame; null at the end of the file.
  GstBuffer* read() {
    const auto width = static_cast<size_t>(info_.width);
    GstBuffer* buffer = gst_buffer_new_allocate(nullptr, info_.size, nullptr);
    GstVideoFrame frame;
    gst_video_frame_map(&frame, &info_, buffer, GST_MAP_WRITE);
    auto* row = static_cast<guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0));
    size_t got = width;
    int y = 0;
    for (; y < info_.height && got == width; ++y) {
      got = std::fread(row, 1, width, file_.get());
      row += GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0);
    }
    gst_video_frame_unmap(&frame);
    if (got == width) {
      return buffer;
    }
    if (y > 1 || got > 0) {
      fail("the file ends within a frame");
    }
    gst_buffer_unref(buffer);
    return nullptr;
  }

  static void push_frame(GstAppSrc* source, guint, gpointer self) {
    if (GstBuffer* buffer = static_cast<RawFrames*>(self)->read()) {
      gst_app_src_push_buffer(source, buffer);
    } else {
      gst_app_src_end_of_stream(source);
    }
  }

  File file_;
  GstVideoInfo info_;
};

}  // namespace examples
