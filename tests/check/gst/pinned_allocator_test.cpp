// SPDX-License-Identifier: LGPL-2.1-or-later
/// The allocator of page-locked memory, whose sizes come from other elements.
#include "memory/pinned_allocator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "element/debug.h"

GST_DEBUG_CATEGORY(gst_cuda_ccl_debug);

namespace cudaccl::test {

namespace {

/// Memory that is not page-locked, and filled.
class FakeDevice : public ccl::Device {
 public:
  int id() const override { return 0; }
  void* context() const override { return nullptr; }
  ccl::Status allocate_host(size_t bytes, std::shared_ptr<uint8_t>* memory) override {
    sizes.push_back(bytes);
    memory->reset(new uint8_t[bytes], std::default_delete<uint8_t[]>());
    std::fill_n(memory->get(), bytes, uint8_t{0x5a});
    return {};
  }
  ccl::Status allocate(size_t, std::shared_ptr<uint8_t>*) override {
    return {ccl::StatusCode::kUnsupported, ""};
  }

  std::vector<size_t> sizes;
};

class PinnedAllocator : public testing::Test {
 protected:
  PinnedAllocator() {
    gst_init(nullptr, nullptr);
    allocator_ = new_pinned_allocator(device_);
    gst_allocation_params_init(&params_);
    params_.flags = static_cast<GstMemoryFlags>(GST_MEMORY_FLAG_ZERO_PREFIXED | GST_MEMORY_FLAG_ZERO_PADDED);
  }
  ~PinnedAllocator() override { gst_object_unref(allocator_); }

  std::shared_ptr<FakeDevice> device_ = std::make_shared<FakeDevice>();
  GstAllocator* allocator_;
  GstAllocationParams params_;
};

}  // namespace

TEST_F(PinnedAllocator, HasPrefixAndPadding) {
  params_.prefix = 3;
  params_.padding = 5;
  GstMemory* memory = gst_allocator_alloc(allocator_, 10, &params_);
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(device_->sizes, std::vector<size_t>{18});
  gsize offset = 0;
  gsize whole = 0;
  EXPECT_EQ(gst_memory_get_sizes(memory, &offset, &whole), 10u);
  EXPECT_EQ(offset, 3u);
  EXPECT_EQ(whole, 18u);
  ASSERT_TRUE(gst_memory_is_writable(memory));
  gst_memory_resize(memory, -3, 18);
  GstMapInfo map;
  ASSERT_TRUE(gst_memory_map(memory, &map, GST_MAP_READ));
  const std::vector<uint8_t> bytes(map.data, map.data + map.size);
  const std::vector<uint8_t> expected = {0,    0,    0,    0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a,
                                         0x5a, 0x5a, 0x5a, 0x5a, 0,    0,    0,    0,    0};
  EXPECT_EQ(bytes, expected);
  gst_memory_unmap(memory, &map);
  gst_memory_unref(memory);
}

/// Downstream chooses prefix and padding.
TEST_F(PinnedAllocator, RefusesMoreThanThereIs) {
  params_.padding = G_MAXSIZE;
  EXPECT_EQ(gst_allocator_alloc(allocator_, 10, &params_), nullptr);
  params_.padding = 0;
  params_.prefix = G_MAXSIZE - 9;
  EXPECT_EQ(gst_allocator_alloc(allocator_, 10, &params_), nullptr);
  EXPECT_TRUE(device_->sizes.empty());
}

}  // namespace cudaccl::test
