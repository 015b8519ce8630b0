// SPDX-License-Identifier: LGPL-2.1-or-later
/// Buffers that are too small for their frame: the element warns and counts, and the stream goes on.
#include <gtest/gtest.h>

#include <future>

#include "harness.h"

namespace cudaccl::test {

namespace {

struct Case {
  const char* name;
  const char* format;
  Ref<GstBuffer> (*make)();
  const char* words;  ///< of the warning
};

/// A frame of 32×24 whose GstVideoMeta describes another first plane.
Ref<GstBuffer> with_meta(gsize offset, gint stride, guint width = 32, guint height = 24,
                         const char* format = "GRAY8") {
  Ref<GstBuffer> buffer = make_frame(noise(32, 24, 1), format);
  gsize offsets[GST_VIDEO_MAX_PLANES] = {offset};
  gint strides[GST_VIDEO_MAX_PLANES] = {stride};
  gst_buffer_add_video_meta_full(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE,
                                 gst_video_format_from_string(format), width, height, 1, offsets, strides);
  return buffer;
}

/// A frame of 32×24 in a picture of this width, from column x on.
Ref<GstBuffer> with_crop(guint x, guint width) {
  Ref<GstBuffer> buffer = make_frame(noise(width, 24, 1), "GRAY8");
  gst_buffer_add_video_meta(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, width, 24);
  add_crop(buffer.get(), x, 0, 32, 24);
  return buffer;
}

Ref<GstBuffer> of_size(gsize size) {
  return Ref<GstBuffer>(gst_buffer_new_allocate(nullptr, size, nullptr));
}

const Case kCases[] = {
    {"NoMemory", "GRAY8", [] { return Ref<GstBuffer>(gst_buffer_new()); },
     "of 0 bytes without video meta; by the caps"},
    {"OneByteShort", "GRAY8", [] { return of_size(32 * 24 - 1); },
     "of 767 bytes without video meta; by the caps, GRAY8 32x24 has a stride of 32 bytes and needs 768 "
     "bytes"},
    {"LumaShort", "NV12", [] { return of_size(32 * 12); }, "needs 1152 bytes"},
    {"ChromaMissing", "I420", [] { return of_size(32 * 24); },
     "of 768 bytes without video meta; by the caps, I420 32x24 has a stride of 32 bytes and needs 1152 "
     "bytes"},
    {"OffsetPastTheEnd", "GRAY8", [] { return with_meta(1 << 20, 32); }, "begins at byte 1048576"},
    // The last row would end 759 bytes behind the last address.
    {"OffsetAtTheEndOfAllAddresses", "GRAY8", [] { return with_meta(G_MAXSIZE - 8, 32); },
     "and needs more bytes than there are"},
    {"OffsetALittleTooFar", "GRAY8", [] { return with_meta(1, 32); }, "begins at byte 1 and needs 769 bytes"},
    {"StrideTooLong", "GRAY8", [] { return with_meta(0, 33); },
     "of 768 bytes; according to its video meta, GRAY8 32x24 has a stride of 33 bytes, begins at byte 0 and "
     "needs 791 "
     "bytes"},
    {"StrideFarTooLong", "GRAY8", [] { return with_meta(0, G_MAXINT); }, "stride of 2147483647 bytes"},
    {"StrideShorterThanARow", "GRAY8", [] { return with_meta(0, 31); },
     "whose video meta has a stride of 31 bytes; a row of GRAY8 32x24 needs 32 bytes"},
    {"StrideZero", "GRAY8", [] { return with_meta(0, 0); }, "stride of 0 bytes"},
    {"StrideNegative", "GRAY8", [] { return with_meta(0, -32); }, "stride of -32 bytes"},
    {"MetaOfASmallerFrame", "GRAY8", [] { return with_meta(0, 16, 16, 12); },
     "whose video meta says GRAY8 16x12; the caps say GRAY8 32x24"},
    {"MetaOfANarrowerFrame", "GRAY8", [] { return with_meta(0, 16, 16, 48); },
     "whose video meta says GRAY8 16x48; the caps say GRAY8 32x24"},
    // 4 bytes for each pixel of a row are 2^32 + 4.
    {"MetaOfAFarTooWideFrame", "RGBA", [] { return with_meta(0, 4, 0x40000001, 24, "RGBA"); },
     "a stride of 4 bytes; a row of RGBA 1073741825x24 needs 4294967300 bytes; the caps say RGBA 32x24"},
    {"MetaOfALargerFrame", "GRAY8", [] { return with_meta(0, 64, 64, 48); },
     "according to its video meta, GRAY8 64x48 has a stride of 64 bytes, begins at byte 0 and needs 3072 "
     "bytes; the "
     "caps "
     "say GRAY8 32x24"},
    {"MetaOfAnotherFormat", "NV12", [] { return with_meta(0, 32); },
     "whose video meta says GRAY8 32x24; the caps say NV12 32x24"},
    {"MetaOfAFormatWithMorePlanes", "GRAY8", [] { return with_meta(0, 32, 32, 24, "NV12"); },
     "whose video meta says NV12 32x24; the caps say GRAY8 32x24"},
    {"CropOutside", "GRAY8", [] { return with_crop(17, 48); },
     "whose crop rectangle begins at 17, 0: GRAY8 32x24 is not all in GRAY8 48x24"},
    {"CropFarOutside", "GRAY8", [] { return with_crop(G_MAXUINT - 15, 48); }, "begins at 4294967280, 0"},
    {"CropWithoutRoom", "GRAY8", [] { return with_crop(1, 32); }, "is not all in GRAY8 32x24"},
    {"MetaWithoutChroma", "NV12", [] { return with_meta(0, 32, 32, 24, "NV12"); },
     "whose video meta has 1 planes; NV12 32x24 has 2"},
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name << " in " << c.format;
}

class CorruptFrames : public testing::TestWithParam<std::tuple<Case, const char*>> {};

}  // namespace

TEST_P(CorruptFrames, AreDroppedAndCounted) {
  const auto& [c, output] = GetParam();
  const LogCapture log;
  Harness h(std::string("threshold=128 output=") + output, c.format, 32, 24);
  const Image image = noise(32, 24, 2);
  const Ref<GstBuffer> before = h.process(image, c.format);
  for (guint64 i = 1; i <= 2; ++i) {
    EXPECT_EQ(h.push(c.make()), GST_FLOW_OK);
    EXPECT_EQ(h.pull(), nullptr);
    EXPECT_EQ(h.stat("dropped"), i);
    EXPECT_EQ(h.stat("corrupt"), i);
    EXPECT_EQ(h.stat("late"), 0u);
    // One for each cause.
    h.expect_warning(i == 1 ? Words{c.words, "orrupt", "32x24"} : Words{});
  }
  EXPECT_EQ(h.stat("frames"), 1u);
  EXPECT_EQ(h.message(GST_MESSAGE_ERROR), nullptr);
  const Ref<GstBuffer> next = h.process(image, c.format);
  const GstCudaCclInfo info = components_of(next.get());
  const GstCudaCclInfo expected = components_of(before.get());
  expect_records(info.records, info.n_records, {expected.records, expected.records + expected.n_records});
  EXPECT_TRUE(GST_BUFFER_FLAG_IS_SET(next.get(), GST_BUFFER_FLAG_DISCONT));
  EXPECT_EQ(log.lines(), std::vector<std::string>()) << "the warning says all";
}

INSTANTIATE_TEST_SUITE_P(All, CorruptFrames,
                         testing::Combine(testing::ValuesIn(kCases),
                                          testing::Values("colorized", "mask", "passthrough")),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) + "_" + std::get<1>(info.param);
                         });

/// A source that breaks every frame does not fill the bus; a second cause is reported too.
TEST(Warnings, AreCountedPerCause) {
  const LogCapture quiet;
  Harness h("output=mask", "GRAY8", 32, 24);
  std::vector<std::string> texts;
  for (int frame = 1; frame <= 250; ++frame) {
    ASSERT_EQ(h.push(of_size(static_cast<gsize>(frame))), GST_FLOW_OK);
    if (frame % 50 == 0) {
      ASSERT_EQ(h.push(with_meta(0, 33)), GST_FLOW_OK);
    }
  }
  while (const Ref<GstMessage> warning = h.message(GST_MESSAGE_WARNING)) {
    texts.push_back(text_of(warning.get()));
  }
  ASSERT_EQ(texts.size(), 4u);
  EXPECT_NE(texts[0].find("Dropped a corrupt frame: a buffer of 1 bytes"), std::string::npos) << texts[0];
  EXPECT_NE(texts[1].find("Dropped 10 corrupt frames: a buffer of 10 bytes"), std::string::npos) << texts[1];
  EXPECT_NE(texts[2].find("according to its video meta"), std::string::npos) << texts[2];
  EXPECT_NE(texts[3].find("Dropped 100 corrupt frames"), std::string::npos) << texts[3];
  EXPECT_EQ(h.stat("corrupt"), 255u);
}

/// An application may read properties in its bus handler.
TEST(Warnings, ArePostedWithNoLockHeld) {
  Harness h("output=mask", "GRAY8", 32, 24);
  bool answered = false;
  struct Context {
    GstElement* element;
    bool* answered;
    std::future<void> read;
  } context{h.element(), &answered, {}};
  gst_bus_set_sync_handler(
      h.bus(),
      [](GstBus*, GstMessage* message, gpointer data) {
        if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_WARNING) {
          return GST_BUS_PASS;
        }
        auto* context = static_cast<Context*>(data);
        // In another thread, so that a held lock is a failure and not a hang.
        context->read = std::async(std::launch::async, [element = context->element] {
          GstStructure* stats = nullptr;
          g_object_get(element, "stats", &stats, nullptr);
          gst_structure_free(stats);
        });
        *context->answered = context->read.wait_for(std::chrono::seconds(10)) == std::future_status::ready;
        return GST_BUS_PASS;
      },
      &context, nullptr);
  EXPECT_EQ(h.push(of_size(5)), GST_FLOW_OK);
  EXPECT_TRUE(answered);
  gst_bus_set_sync_handler(h.bus(), nullptr, nullptr, nullptr);
}

}  // namespace cudaccl::test
