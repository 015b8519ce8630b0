// SPDX-License-Identifier: LGPL-2.1-or-later
/// The structure of GstCudaCclMeta as text, by which GStreamer sends metadata to other processes.
#include <gtest/gtest.h>

#include <cstring>

#include "harness.h"

namespace cudaccl::test {

namespace {

/// `count` components of one pixel. None is at the border: others beside it would be pieces of it.
Image dots(uint32_t count) {
  Image image = blank(44, 44);
  for (uint32_t i = 0; i < count; ++i) {
    image.at(2 + i % 20 * 2, 2 + i / 20 * 2) = 255;
  }
  return image;
}

/// Written and read again, as in another process.
Ref<GstStructure> through_text(const GstStructure* structure) {
  const Text text(gst_structure_to_string(structure));
  return Ref<GstStructure>(gst_structure_from_string(text.get(), nullptr));
}

template <typename Record>
std::vector<uint8_t> bytes(const Record* records, guint count) {
  std::vector<uint8_t> list(count * sizeof(Record));
  if (count > 0) {
    std::memcpy(list.data(), records, list.size());
  }
  return list;
}

void expect_equal(const GstCudaCclInfo& read, const GstCudaCclInfo& sent) {
  EXPECT_STREQ(read.source, sent.source);
  EXPECT_EQ(read.frame, sent.frame);
  EXPECT_EQ(read.n_components, sent.n_components);
  EXPECT_EQ(read.is_tracked, sent.is_tracked);
  EXPECT_EQ(bytes(read.records, read.n_records), bytes(sent.records, sent.n_records));
  EXPECT_EQ(bytes(read.tracks, read.n_tracks), bytes(sent.tracks, sent.n_tracks));
  EXPECT_EQ(bytes(read.events, read.n_events), bytes(sent.events, sent.n_events));
}

}  // namespace

/// Base64 has no padding for any number of records, also for none.
TEST(MetaText, KeepsEveryNumberOfRecords) {
  Harness h("output=mask track=true meta-name=\"a\\ \\\"b\\\",=\"", "GRAY8", 44, 44);
  for (uint32_t count = 0; count <= 100; ++count) {
    const Ref<GstBuffer> out = h.process(dots(count));
    const GstCudaCclInfo sent = components_of(out.get());
    ASSERT_EQ(sent.n_records, count);
    ASSERT_GE(sent.n_tracks, count);
    const Ref<GstStructure> read = through_text(structure_of(out.get()));
    ASSERT_NE(read, nullptr) << count;
    GstCudaCclInfo info{};
    ASSERT_TRUE(gst_structure_get_cudaccl_info(read.get(), &info)) << count << " records";
    expect_equal(info, sent);
  }
}

/// Names that look like numbers, and those with characters that the text form uses.
TEST(MetaText, KeepsNames) {
  Harness h("output=mask track=true");
  g_object_set(h.element(), "regions", R"({"version": 1, "zones": [
    {"name": "12", "polygon": [[0, 0], [1, 0], [1, 1]]}, {"name": "true", "polygon": [[0, 0], [1, 0], [1, 1]]},
    {"name": "a \"b\", <c>; [1, 2] = \\", "polygon": [[0, 0], [1, 0], [1, 1]]},
    {"name": "Straße", "polygon": [[0, 0], [1, 0], [1, 1]]}]})",
               nullptr);
  ASSERT_TRUE(h.send_caps("GRAY8", 44, 44));
  const Ref<GstBuffer> out = h.process(dots(1));
  const Ref<GstStructure> read = through_text(structure_of(out.get()));
  ASSERT_NE(read, nullptr);
  GstCudaCclInfo info{};
  ASSERT_TRUE(gst_structure_get_cudaccl_info(read.get(), &info));
  const char* names[] = {"12", "true", "a \"b\", <c>; [1, 2] = \\", "Straße", nullptr};
  for (uint32_t i = 0; i < std::size(names); ++i) {
    const CclEvent entered{
        .type = CCL_EVENT_ENTERED, .id = 1, .other = 0, .where = i, .time = 0, .x = 0, .y = 0};
    EXPECT_STREQ(gst_cudaccl_event_place(&info, &entered), names[i]);
    const CclEvent crossed{
        .type = CCL_EVENT_CROSSED_LEFT, .id = 1, .other = 0, .where = i, .time = 0, .x = 0, .y = 0};
    EXPECT_EQ(gst_cudaccl_event_place(&info, &crossed), nullptr) << "there are no lines";
  }
}

}  // namespace cudaccl::test
