// SPDX-License-Identifier: LGPL-2.1-or-later
/// The element in a GstHarness or a pipeline, and frames to push into it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cudaccl/gstcudacclmeta.h"
#include "expectation.h"
#include "ref.h"

namespace cudaccl::test {

inline constexpr const char* kSinkFormats[] = {"GRAY8", "NV12", "NV21", "I420", "YV12", "Y42B", "Y444"};
inline constexpr const char* kRgbFormats[] = {"RGBA", "BGRA", "ARGB", "ABGR", "RGBx", "BGRx", "xRGB", "xBGR"};
inline constexpr GstClockTime kFrameDuration = GST_SECOND / 25;

/// The backend under test: CUDACCL_TEST_BACKEND, `cpu` without it.
std::string backend();

/// A new cudaccl on the backend under test. `properties` are as on a launch line, and may set another
/// backend.
Ref<GstElement> make_element(const std::string& properties = "");

/// The properties of cudaccl without those of its parents.
std::vector<GParamSpec*> own_properties(GstElement* element);

/// The value of a property as on a launch line: enumerations and flags by their nicks.
std::string text_of_property(GstElement* element, const char* name);
std::string text_of_value(const GValue* value);

/// Why backend=cuda cannot be used here: no GPU, or no CUDA in the build. Empty if it must work.
std::string why_no_cuda();

/// Fixed caps at 25 frames a second; `more` as in "colorimetry=bt709".
std::string caps_text(const std::string& format, uint32_t width, uint32_t height,
                      const std::string& more = "");

/// Where the planes of a padded frame lie: bytes before each plane, after each row.
struct Padding {
  uint32_t before = 0;
  uint32_t row = 0;
};

/// A frame whose first plane is the image. The chroma of other planes has no colour.
Ref<GstBuffer> make_frame(const Image& image, const std::string& format);
/// The same with a GstVideoMeta that describes the padding.
Ref<GstBuffer> make_padded_frame(const Image& image, const std::string& format, Padding padding);

void add_crop(GstBuffer* buffer, guint x, guint y, guint width, guint height);

/// The first plane without padding.
std::vector<uint8_t> pixels_of(GstBuffer* buffer, GstCaps* caps);
/// All bytes in the order of memory.
std::vector<uint8_t> bytes_of(GstBuffer* buffer);

/// The structure of a custom meta on the buffer; null if there is none.
GstStructure* structure_of(GstBuffer* buffer, const char* name = GST_CUDACCL_META_NAME);
/// How many GstCudaCclMeta the buffer carries.
int count_component_metas(GstBuffer* buffer);
/// The component records on a buffer. Without any, the running test fails.
GstCudaCclInfo components_of(GstBuffer* buffer);

using Words = std::vector<std::string>;

/// cudaccl between a pad that pushes and one that collects.
class Harness {
 public:
  explicit Harness(const std::string& properties = "");
  /// Also sends caps. If the element refuses them, the running test fails.
  Harness(const std::string& properties, const std::string& caps);
  Harness(const std::string& properties, const std::string& format, uint32_t width, uint32_t height,
          const std::string& more = "")
      : Harness(properties, caps_text(format, width, height, more)) {}
  /// Of GRAY8 frames of this size.
  Harness(const std::string& properties, const Image& image)
      : Harness(properties, "GRAY8", image.width, image.height) {}

  GstElement* element() const { return harness_->element; }
  GstHarness* get() const { return harness_.get(); }

  /// Sends caps and, the first time, a segment. False if the element refuses the caps.
  bool send_caps(const std::string& caps);
  bool send_caps(const std::string& format, uint32_t width, uint32_t height, const std::string& more = "");
  /// Ends the stream by a change to this state, and begins another one, which needs caps.
  void start_again(GstState from);
  /// Sends a flush, with calls of `during` in it, and a new segment.
  void flush(
      bool resets_time = true, const std::function<void()>& during = [] {});
  /// What downstream accepts from now on.
  void accept(const std::string& caps);

  /// Sets a property from its text on a launch line.
  void set(const std::string& property, const std::string& value);

  /// Pushes a buffer. If it has no timestamp, it gets the next one.
  GstFlowReturn push(Ref<GstBuffer> buffer);
  GstFlowReturn push(const Image& image, const std::string& format = "GRAY8");
  /// The next output buffer; null if there is none.
  Ref<GstBuffer> pull();
  /// Pushes a frame and pulls its output. If either fails, so does the running test.
  Ref<GstBuffer> process(Ref<GstBuffer> buffer);
  Ref<GstBuffer> process(const Image& image, const std::string& format = "GRAY8");

  Ref<GstCaps> src_caps() const;
  /// The pixels of a buffer in the negotiated source caps.
  std::vector<uint8_t> pixels(const Ref<GstBuffer>& buffer) const;

  /// The oldest message of these types; null if there is none.
  Ref<GstMessage> message(GstMessageType types);
  /// Fails the running test unless the messages are one warning with all of these words, and no error.
  /// Without words: no warning, either.
  void expect_warning(const Words& words);
  GstBus* bus() const { return bus_.get(); }
  guint64 stat(const char* field) const;

 private:
  bool send_segment();

  Ref<GstBus> bus_;
  Ref<GstHarness> harness_;
  bool has_segment_ = false;
  guint64 frames_ = 0;
};

/// A whole pipeline, between elements named `in` (appsrc) and `out` (appsink) on the launch line.
class Pipeline {
 public:
  explicit Pipeline(const std::string& description, GstState state = GST_STATE_PLAYING);
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  GstElement* get() const { return pipeline_.get(); }
  Ref<GstElement> element(const char* name) const;
  GstFlowReturn push(Ref<GstBuffer> buffer);
  /// Waits for the next sample; null at the end of the stream or after an error.
  Ref<GstSample> pull(const char* sink = "out");
  void end();
  /// The error messages that wait on the bus, which loses them.
  std::string errors() const;

 private:
  Ref<GstElement> pipeline_;
  guint64 frames_ = 0;
};

/// Collects GLib's warnings and criticals instead of printing them, while it lives.
class LogCapture {
 public:
  LogCapture();
  ~LogCapture();
  LogCapture(const LogCapture&) = delete;
  LogCapture& operator=(const LogCapture&) = delete;

  const std::vector<std::string>& lines() const { return lines_; }

 private:
  static void collect(const gchar* domain, GLogLevelFlags level, const gchar* text, gpointer self);

  GLogFunc previous_;
  std::vector<std::string> lines_;
};

/// The text of an error or warning message, with the debug text.
std::string text_of(GstMessage* message);

}  // namespace cudaccl::test
