// SPDX-License-Identifier: LGPL-2.1-or-later
/// How many buffers of upstream's pool an element may keep.
#pragma once

#include <gst/gst.h>

#include <memory>

namespace cudaccl {

/// An element's share of a pool. All elements that keep buffers of one pool count them together, because
/// the element that fills the buffers waits for all of them. Only the streaming thread uses a share, or a
/// state change while that thread does not run.
class PoolShare {
 public:
  PoolShare() = default;
  ~PoolShare() { forget(); }
  PoolShare(const PoolShare&) = delete;
  PoolShare& operator=(const PoolShare&) = delete;

  /// How many buffers may be kept, at most `wanted`, if the last buffer came from this pool (null: from
  /// none).
  guint take(GstBufferPool* pool, guint wanted);

  /// Gives the share back. The pool is looked at again, because it may have another number of buffers by now.
  void forget();

 private:
  struct Kept;
  static std::shared_ptr<Kept> kept_of(GstBufferPool* pool);

  GstBufferPool* pool_ = nullptr;  ///< only to compare with
  std::shared_ptr<Kept> kept_;     ///< null: there is no pool
  guint n_buffers_ = 0;            ///< that the pool has; 0: any number
  guint share_ = 0;
};

}  // namespace cudaccl
