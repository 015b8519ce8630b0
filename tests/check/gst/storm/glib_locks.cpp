// SPDX-License-Identifier: LGPL-2.1-or-later
/// Shows ThreadSanitizer the locks of GLib and of the references of GStreamer, which are not built for it. A
/// program that exports these functions takes them from the libraries: each calls the one that it hides.
#include <dlfcn.h>
#include <gst/gst.h>

extern "C" {

void __tsan_acquire(void* address);
void __tsan_release(void* address);

/// Texts in caps: their references are counted inside GStreamer.
const char* __tsan_default_suppressions() {
  return "race:^g_strdup$\nrace:^g_value_unset$\n";
}

}  // extern "C"

namespace {

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

#define HIDDEN(name) static auto* const hidden = next<decltype(name)>(#name)

extern "C" {

void g_mutex_lock(GMutex* mutex) {
  HIDDEN(g_mutex_lock);
  hidden(mutex);
  __tsan_acquire(mutex);
}

gboolean g_mutex_trylock(GMutex* mutex) {
  HIDDEN(g_mutex_trylock);
  const gboolean is_locked = hidden(mutex);
  if (is_locked) {
    __tsan_acquire(mutex);
  }
  return is_locked;
}

void g_mutex_unlock(GMutex* mutex) {
  HIDDEN(g_mutex_unlock);
  __tsan_release(mutex);
  hidden(mutex);
}

void g_cond_wait(GCond* condition, GMutex* mutex) {
  HIDDEN(g_cond_wait);
  __tsan_release(mutex);
  hidden(condition, mutex);
  __tsan_acquire(mutex);
}

gboolean g_cond_wait_until(GCond* condition, GMutex* mutex, gint64 end) {
  HIDDEN(g_cond_wait_until);
  __tsan_release(mutex);
  const gboolean is_in_time = hidden(condition, mutex, end);
  __tsan_acquire(mutex);
  return is_in_time;
}

GstMiniObject* gst_mini_object_ref(GstMiniObject* object) {
  HIDDEN(gst_mini_object_ref);
  __tsan_acquire(object);
  return hidden(object);
}

void gst_mini_object_unref(GstMiniObject* object) {
  HIDDEN(gst_mini_object_unref);
  __tsan_release(object);
  __tsan_acquire(object);
  hidden(object);
}

void g_object_unref(gpointer object) {
  HIDDEN(g_object_unref);
  __tsan_release(object);
  __tsan_acquire(object);
  hidden(object);
}

void gst_object_unref(gpointer object) {
  HIDDEN(gst_object_unref);
  __tsan_release(object);
  __tsan_acquire(object);
  hidden(object);
}

GstFlowReturn gst_buffer_pool_acquire_buffer(GstBufferPool* pool, GstBuffer** buffer,
                                             GstBufferPoolAcquireParams* params) {
  HIDDEN(gst_buffer_pool_acquire_buffer);
  const GstFlowReturn flow = hidden(pool, buffer, params);
  if (flow == GST_FLOW_OK) {
    __tsan_acquire(*buffer);
  }
  return flow;
}

}  // extern "C"
