// SPDX-License-Identifier: LGPL-2.1-or-later
#include "memory/pool_share.h"

#include <algorithm>
#include <atomic>
#include <mutex>

namespace cudaccl {

/// What belongs to a pool, and lives as long as the pool or a share of it.
struct PoolShare::Kept {
  std::mutex lock;
  guint n_buffers = 0;                ///< that all elements may keep together
  std::atomic<bool> has_pool = true;  ///< otherwise a new pool may have the same address
};

std::shared_ptr<PoolShare::Kept> PoolShare::kept_of(GstBufferPool* pool) {
  static std::mutex lock;
  const std::lock_guard guard(lock);
  const GQuark quark = g_quark_from_static_string("cudaccl-kept-buffers");
  auto* const known = static_cast<std::shared_ptr<Kept>*>(g_object_get_qdata(G_OBJECT(pool), quark));
  if (known != nullptr) {
    return *known;
  }
  auto kept = std::make_unique<std::shared_ptr<Kept>>(std::make_shared<Kept>());
  std::shared_ptr<Kept> result = *kept;
  g_object_set_qdata_full(G_OBJECT(pool), quark, kept.release(), [](gpointer data) {
    const std::unique_ptr<std::shared_ptr<Kept>> last(static_cast<std::shared_ptr<Kept>*>(data));
    (*last)->has_pool = false;
  });
  return result;
}

guint PoolShare::take(GstBufferPool* pool, guint wanted) {
  if (pool == nullptr) {
    forget();
    return wanted;
  }
  if (pool != pool_ || !kept_->has_pool) {
    forget();
    GstStructure* config = gst_buffer_pool_get_config(pool);
    gst_buffer_pool_config_get_params(config, nullptr, nullptr, nullptr, &n_buffers_);
    gst_structure_free(config);
    kept_ = kept_of(pool);
    pool_ = pool;
  }
  if (n_buffers_ == 0) {
    return wanted;  // it makes as many as are needed
  }
  constexpr guint kElsewhere = 2;  // one is being filled, one is being shown
  const std::lock_guard guard(kept_->lock);
  const guint others = kept_->n_buffers - share_ + kElsewhere;
  share_ = std::min(wanted, n_buffers_ - std::min(n_buffers_, others));
  kept_->n_buffers = others - kElsewhere + share_;
  return share_;
}

void PoolShare::forget() {
  if (kept_ != nullptr) {
    const std::lock_guard guard(kept_->lock);
    kept_->n_buffers -= share_;
  }
  kept_.reset();
  share_ = 0;
  pool_ = nullptr;
}

}  // namespace cudaccl
