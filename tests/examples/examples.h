// SPDX-License-Identifier: LGPL-2.1-or-later
/// What the C++ examples share: a pipeline that is cleaned up, and errors that say what to do.
#pragma once

#include <fcntl.h>
#include <gst/gst.h>
#include <gst/pbutils/pbutils.h>
#include <gst/video/video.h>

#include <cstdlib>
#include <memory>
#include <string>

namespace examples {

struct Unref {
  void operator()(gpointer object) const { gst_object_unref(object); }
};

template <typename Type>
using Object = std::unique_ptr<Type, Unref>;

[[noreturn]] inline void fail(const std::string& message) {
  g_printerr("error: %s\n", message.c_str());
  std::exit(1);
}

/// Reads the command line, GStreamer's own options included, and initialises GStreamer.
inline void parse(int* argc, char*** argv, const char* what, const GOptionEntry* options) {
  for (const int descriptor :
       {0, 1, 2}) {  // else a file of GStreamer's own gets the number of one that is closed
    if (fcntl(descriptor, F_GETFD) == -1 && open("/dev/null", O_RDONLY) != descriptor) {
      fail("/dev/null cannot be opened");
    }
  }
  GOptionContext* context = g_option_context_new(what);
  GError* error = nullptr;
  g_option_context_add_main_entries(context, options, nullptr);
  g_option_context_add_group(context, gst_init_get_option_group());
  if (!g_option_context_parse(context, argc, argv, &error)) {
    fail(error->message);
  }
  g_option_context_free(context);
  gst_pb_utils_init();
}

/// Debian's package that most likely has what is missing.
inline const char* package_of(const std::string& what) {
  for (const char* name : {"png", "jpeg", "JPEG", "avi", "AVI", "matroska"}) {
    if (what.find(name) != std::string::npos) {
      return "gstreamer1.0-plugins-good";
    }
  }
  for (const char* name : {"decodebin", "videoconvert"}) {
    if (what.find(name) != std::string::npos) {
      return "gstreamer1.0-plugins-base";
    }
  }
  return "gstreamer1.0-libav";
}

/// A pipeline from a launch line; stopped when it goes out of scope.
class Pipeline {
 public:
  explicit Pipeline(const std::string& launch) {
    GError* error = nullptr;
    pipeline_.reset(gst_parse_launch_full(launch.c_str(), nullptr, GST_PARSE_FLAG_FATAL_ERRORS, &error));
    if (error != nullptr) {
      const std::string message = error->message;
      const bool no_element = g_error_matches(error, GST_PARSE_ERROR, GST_PARSE_ERROR_NO_SUCH_ELEMENT);
      const bool is_ours = message.find("\"cudaccl\"") != std::string::npos;
      if (no_element && is_ours) {
        fail(message + "; is GST_PLUGIN_PATH the folder of libgstcudaccl.so?");
      }
      if (is_ours) {
        fail(message + "; gst-inspect-1.0 cudaccl lists properties and their values");
      }
      fail(no_element ? message + "; install " + package_of(message) : message);
    }
    bus_.reset(gst_element_get_bus(element()));
  }
  ~Pipeline() { gst_element_set_state(element(), GST_STATE_NULL); }
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  GstElement* element() const { return pipeline_.get(); }
  Object<GstElement> find(const char* name) const {
    return Object<GstElement>(gst_bin_get_by_name(GST_BIN(element()), name));
  }

  /// Waits up to `timeout` for the end. Prints warnings; an error on the bus ends the program.
  bool ended(GstClockTime timeout) const {
    constexpr auto kTypes = static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR |
                                                        GST_MESSAGE_WARNING | GST_MESSAGE_ELEMENT);
    while (GstMessage* message = gst_bus_timed_pop_filtered(bus_.get(), timeout, kTypes)) {
      const GstMessageType type = GST_MESSAGE_TYPE(message);
      if (gst_is_missing_plugin_message(message)) {
        gchar* what = gst_missing_plugin_message_get_description(message);
        fail(std::string("GStreamer has no ") + what + "; is " + package_of(what) + " installed?");
      }
      if (type == GST_MESSAGE_ERROR) {
        GError* error = nullptr;
        gst_message_parse_error(message, &error, nullptr);
        fail(std::string(GST_MESSAGE_SRC_NAME(message)) + ": " + error->message);
      }
      if (type == GST_MESSAGE_WARNING) {
        GError* warning = nullptr;
        gst_message_parse_warning(message, &warning, nullptr);
        g_printerr("warning: %s: %s\n", GST_MESSAGE_SRC_NAME(message), warning->message);
        g_error_free(warning);
      }
      gst_message_unref(message);
      if (type == GST_MESSAGE_EOS) {
        return true;
      }
      timeout = 0;
    }
    return false;
  }

 private:
  Object<GstElement> pipeline_;
  Object<GstBus> bus_;
};

inline void add_buffer_probe(GstElement* element, const char* pad_name, GstPadProbeCallback probe,
                             gpointer data) {
  const Object<GstPad> pad(gst_element_get_static_pad(element, pad_name));
  gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_BUFFER, probe, data, nullptr);
}

/// A property as it would stand on a launch line.
inline std::string property_text(GstElement* element, const char* name) {
  GValue value = G_VALUE_INIT;
  g_object_get_property(G_OBJECT(element), name, &value);
  gchar* text = gst_value_serialize(&value);
  std::string result = text;
  g_free(text);
  g_value_unset(&value);
  return result;
}

/// The processor that cudaccl runs on, if it reports one.
inline std::string device(GstElement* ccl) {
  GstStructure* stats = nullptr;
  g_object_get(ccl, "stats", &stats, nullptr);
  const gchar* name = stats != nullptr ? gst_structure_get_string(stats, "device") : nullptr;
  std::string result = name != nullptr ? name : "";
  gst_clear_structure(&stats);
  return result;
}

inline void write_png(GstBuffer* buffer, GstCaps* caps, const std::string& path) {
  GError* error = nullptr;
  GstSample* raw = gst_sample_new(buffer, caps, nullptr, nullptr);
  GstCaps* png_caps = gst_caps_new_empty_simple("image/png");
  GstSample* png = gst_video_convert_sample(raw, png_caps, 10 * GST_SECOND, &error);
  if (png == nullptr) {
    fail("cannot make a PNG: " + std::string(error->message) + "; install gstreamer1.0-plugins-good");
  }
  GstMapInfo map;
  gst_buffer_map(gst_sample_get_buffer(png), &map, GST_MAP_READ);
  if (!g_file_set_contents(path.c_str(), reinterpret_cast<const gchar*>(map.data),
                           static_cast<gssize>(map.size), &error)) {
    fail(error->message);
  }
  gst_buffer_unmap(gst_sample_get_buffer(png), &map);
  gst_caps_unref(png_caps);
  gst_sample_unref(png);
  gst_sample_unref(raw);
}

}  // namespace examples
