// SPDX-License-Identifier: LGPL-2.1-or-later
#include "memory/pinned_allocator.h"

#include <cstring>
#include <optional>

#include "ccl/checked.h"
#include "element/debug.h"

namespace {

struct GstCudaCclAllocator {
  GstAllocator parent;
  std::shared_ptr<ccl::Device>* device;
};

struct GstCudaCclAllocatorClass {
  GstAllocatorClass parent_class;
};

G_DEFINE_TYPE(GstCudaCclAllocator, gst_cuda_ccl_allocator, GST_TYPE_ALLOCATOR)

/// Wraps the memory as system memory, so that it is mapped, shared and copied like that. Pages satisfy any
/// alignment.
GstMemory* gst_cuda_ccl_allocator_alloc(GstAllocator* allocator, gsize size, GstAllocationParams* params) {
  auto* self = reinterpret_cast<GstCudaCclAllocator*>(allocator);
  const std::optional<gsize> whole = ccl::checked_sum(params->prefix, size, params->padding);
  if (!whole) {
    GST_WARNING_OBJECT(allocator, "more prefix or padding than there is memory");
    return nullptr;
  }
  std::shared_ptr<uint8_t> memory;
  if (const ccl::Status status = (*self->device)->allocate_host(MAX(*whole, 1), &memory); !status.ok()) {
    GST_WARNING_OBJECT(allocator, "%s", status.message().c_str());
    return nullptr;
  }
  if (params->prefix > 0 && (params->flags & GST_MEMORY_FLAG_ZERO_PREFIXED)) {
    std::memset(memory.get(), 0, params->prefix);
  }
  if (params->padding > 0 && (params->flags & GST_MEMORY_FLAG_ZERO_PADDED)) {
    std::memset(memory.get() + params->prefix + size, 0, params->padding);
  }
  uint8_t* bytes = memory.get();
  return gst_memory_new_wrapped(params->flags, bytes, *whole, params->prefix, size,
                                new std::shared_ptr<uint8_t>(std::move(memory)),
                                [](gpointer kept) { delete static_cast<std::shared_ptr<uint8_t>*>(kept); });
}

/// Never called, because the memory is system memory and frees itself.
void gst_cuda_ccl_allocator_free(GstAllocator*, GstMemory*) {
  g_assert_not_reached();
}

void gst_cuda_ccl_allocator_finalize(GObject* object) {
  delete reinterpret_cast<GstCudaCclAllocator*>(object)->device;
  G_OBJECT_CLASS(gst_cuda_ccl_allocator_parent_class)->finalize(object);
}

void gst_cuda_ccl_allocator_class_init(GstCudaCclAllocatorClass* klass) {
  G_OBJECT_CLASS(klass)->finalize = gst_cuda_ccl_allocator_finalize;
  klass->parent_class.alloc = gst_cuda_ccl_allocator_alloc;
  klass->parent_class.free = gst_cuda_ccl_allocator_free;
}

void gst_cuda_ccl_allocator_init(GstCudaCclAllocator* self) {
  GST_ALLOCATOR(self)->mem_type = "CudaCclPinnedMemory";
}

}  // namespace

namespace cudaccl {

GstAllocator* new_pinned_allocator(std::shared_ptr<ccl::Device> device) {
  auto* self =
      reinterpret_cast<GstCudaCclAllocator*>(g_object_new(gst_cuda_ccl_allocator_get_type(), nullptr));
  self->device = new std::shared_ptr<ccl::Device>(std::move(device));
  gst_object_ref_sink(self);
  return GST_ALLOCATOR(self);
}

}  // namespace cudaccl
