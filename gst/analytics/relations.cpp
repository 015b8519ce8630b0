// SPDX-License-Identifier: LGPL-2.1-or-later
#include "analytics/relations.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "memory/owned.h"

namespace cudaccl {

namespace {

/// What the library stores with each entry, a little more than it needs.
constexpr gsize kHeadBytes = 64;

bool is_key_of(const std::string& source, std::string_view text) {
  if (!text.starts_with(source) || text.size() < source.size() + 2 || text[source.size()] != '#') {
    return false;
  }
  const std::string_view label = text.substr(source.size() + 1);
  return std::all_of(label.begin(), label.end(), [](char c) { return g_ascii_isdigit(c); });
}

/// The entries of a meta, with the id of each.
class Entries {
 public:
  explicit Entries(GstAnalyticsRelationMeta* meta)
      : meta_(meta), is_kept_(gst_analytics_relation_get_length(meta), true) {
    for (guint id = 0; id < is_kept_.size(); ++id) {
      // What a transformation dropped has no type, and cannot be got.
      GstAnalyticsMtd entry;
      is_kept_[id] = gst_analytics_relation_meta_get_mtd(meta, id, GST_ANALYTICS_MTD_TYPE_ANY, &entry);
    }
  }

  /// Leaves out what the source has added: its keys, what they belong to, and what else belongs to that.
  void leave_out(const std::string& source);

  gsize count() const { return static_cast<gsize>(std::count(is_kept_.begin(), is_kept_.end(), true)); }
  gsize bytes() const;
  /// Copies what is kept, and the relations of it.
  void copy_to(GstBuffer* from, GstBuffer* to, GstAnalyticsRelationMeta* meta) const;

 private:
  GstAnalyticsMtd entry(guint id) const { return {id, meta_}; }
  guint size() const { return static_cast<guint>(is_kept_.size()); }
  bool has_key(guint id, const std::string& source) const;
  bool is_related(guint from, guint to, GstAnalyticsRelTypes type) const {
    return (gst_analytics_relation_meta_get_relation(meta_, from, to) & type) != 0;
  }
  template <typename Function>
  void for_each(GstAnalyticsMtdType type, Function function) const;

  GstAnalyticsRelationMeta* const meta_;
  std::vector<bool> is_kept_;
};

template <typename Function>
void Entries::for_each(GstAnalyticsMtdType type, Function function) const {
  for (guint id = 0; id < size(); ++id) {
    const GstAnalyticsMtd found = entry(id);
    if (gst_analytics_mtd_get_mtd_type(&found) == type) {
      function(id);
    }
  }
}

/// A list of keys may begin with another word; its last entry is a key.
bool Entries::has_key(guint id, const std::string& source) const {
  const GstAnalyticsMtd classes = entry(id);
  const gsize length = gst_analytics_cls_mtd_get_length(&classes);
  const gchar* last =
      length > 0 ? g_quark_to_string(gst_analytics_cls_mtd_get_quark(&classes, length - 1)) : nullptr;
  return last != nullptr && is_key_of(source, last);
}

void Entries::leave_out(const std::string& source) {
  std::vector<guint> keys;
  for_each(gst_analytics_cls_mtd_get_mtd_type(), [&](guint id) {
    if (has_key(id, source)) {
      keys.push_back(id);
      is_kept_[id] = false;
    }
  });
  if (keys.empty()) {
    return;
  }
  const auto has_own_key = [&](guint id, GstAnalyticsRelTypes type) {
    return std::any_of(keys.begin(), keys.end(), [&](guint key) { return is_related(id, key, type); });
  };
  const auto leave_out_with = [&](guint owner, GstAnalyticsMtdType type, GstAnalyticsRelTypes relation) {
    is_kept_[owner] = false;
    for_each(type, [&](guint id) { is_kept_[id] = is_kept_[id] && !is_related(owner, id, relation); });
  };
  for_each(gst_analytics_od_mtd_get_mtd_type(), [&](guint id) {
    if (has_own_key(id, GST_ANALYTICS_REL_TYPE_CONTAIN)) {
      leave_out_with(id, gst_analytics_tracking_mtd_get_mtd_type(), GST_ANALYTICS_REL_TYPE_RELATE_TO);
    }
  });
  if (kHasSegmentation) {
    for_each(segmentation_type(), [&](guint id) {
      if (has_own_key(id, kEntryByEntry)) {
        leave_out_with(id, gst_analytics_cls_mtd_get_mtd_type(), kEntryByEntry);
      }
    });
  }
}

gsize Entries::bytes() const {
  gsize sum = 0;
  for (guint id = 0; id < size(); ++id) {
    const GstAnalyticsMtd kept = entry(id);
    sum += is_kept_[id] ? gst_analytics_mtd_get_size(&kept) + kHeadBytes : 0;
  }
  return sum;
}

void Entries::copy_to(GstBuffer* from, GstBuffer* to, GstAnalyticsRelationMeta* meta) const {
  std::vector<guint> old_ids;  // by new id
  GstMetaTransformCopy whole{FALSE, 0, static_cast<gsize>(-1)};
  for (guint id = 0; id < size(); ++id) {
    if (!is_kept_[id]) {
      continue;
    }
    const GstAnalyticsMtd old = entry(id);
    const auto* kind = reinterpret_cast<const GstAnalyticsMtdImpl*>(gst_analytics_mtd_get_mtd_type(&old));
    const gsize bytes = gst_analytics_mtd_get_size(&old);
    GstAnalyticsMtd copy;
    void* data = gst_analytics_relation_meta_add_mtd(meta, kind, bytes, &copy);
    std::memcpy(data, gst_analytics_relation_meta_get_mtd_data(meta_, id), bytes);
    copy_tag(old, &copy);
    if (kind->mtd_meta_transform != nullptr) {
      kind->mtd_meta_transform(to, &copy, from, _gst_meta_transform_copy, &whole);
    }
    old_ids.push_back(id);
  }
  for (guint first = 0; first < old_ids.size(); ++first) {
    for (guint second = 0; second < old_ids.size(); ++second) {
      const GstAnalyticsRelTypes types =
          gst_analytics_relation_meta_get_relation(meta_, old_ids[first], old_ids[second]);
      if (types != GST_ANALYTICS_REL_TYPE_NONE) {
        gst_analytics_relation_meta_set_relation(meta, types, first, second);
      }
    }
  }
}

/// A pool shall not keep the matrix of the frame with the most objects in each of its buffers.
void leave_pool(GstAnalyticsRelationMeta* relations) {
  auto* meta = reinterpret_cast<GstMeta*>(relations);
  meta->flags = static_cast<GstMetaFlags>(meta->flags & ~GST_META_FLAG_POOLED);
}

GstAnalyticsRelationMeta* add_relations(GstBuffer* buffer, RelationRoom room) {
  GstAnalyticsRelationMetaInitParams sizes{room.entries, room.bytes};
  GstAnalyticsRelationMeta* meta = gst_buffer_add_analytics_relation_meta_full(buffer, &sizes);
  leave_pool(meta);
  return meta;
}

}  // namespace

std::string record_key(const std::string& source, uint32_t label) {
  return source + "#" + std::to_string(label <= kMaxNamedLabel ? label : 0);
}

GstAnalyticsRelationMeta* renew_relations(GstBuffer* buffer, const std::string& source, RelationRoom room) {
  const gsize bytes = room.bytes + room.entries * kHeadBytes;
  GstAnalyticsRelationMeta* old = gst_buffer_get_analytics_relation_meta(buffer);
  if (old == nullptr) {
    return room.entries > 0 ? add_relations(buffer, {room.entries, bytes}) : nullptr;
  }
  Entries entries(old);
  entries.leave_out(source);
  const gsize n_kept = entries.count();
  const Owned<GstBuffer> between(gst_buffer_new());
  if (n_kept > 0) {
    const RelationRoom all{n_kept + room.entries, entries.bytes() + bytes};
    entries.copy_to(buffer, between.get(), add_relations(between.get(), all));
  }
  gst_buffer_remove_meta(buffer, reinterpret_cast<GstMeta*>(old));
  GstAnalyticsRelationMeta* meta = nullptr;
  if (n_kept > 0) {
    // The copy has the room of its original.
    GstMetaTransformCopy whole{FALSE, 0, static_cast<gsize>(-1)};
    GstMeta* moved = gst_buffer_get_meta(between.get(), GST_ANALYTICS_RELATION_META_API_TYPE);
    moved->info->transform_func(buffer, moved, between.get(), _gst_meta_transform_copy, &whole);
    meta = gst_buffer_get_analytics_relation_meta(buffer);
    leave_pool(meta);
  } else if (room.entries > 0) {
    meta = add_relations(buffer, {room.entries, bytes});
  }
  return meta;
}

}  // namespace cudaccl
