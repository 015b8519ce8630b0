// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/stages/separate/guide.h"

#include <algorithm>

#include "host/memory.h"
#include "track/geometry.h"

namespace ccl::host {

using track::kNone;

Guide::Guide(uint32_t width, uint32_t height, uint32_t max_tracks)
    : width_(width),
      height_(height),
      components_(uninitialized<Component>(size_t{width} * height)),
      members_(uninitialized<Member>(max_tracks)) {
  guides_.reserve(max_tracks);
  touched_.reserve(size_t{track::Samples::kMost} * track::Samples::kMost);
}

bool Guide::decide(const Hills& hills, const Regions& regions, const ExpectedTracks& tracks) {
  unite_parts(hills, regions);
  find_members(hills, regions, tracks);
  bool is_guided = false;
  for (const uint32_t i : guides_) {
    if (Component& component = components_[members_[i].component]; component.first_member == i) {
      choose_members(&component);
      is_guided = is_guided || component.is_cut;
    }
  }
  return is_guided;
}

void Guide::unite_parts(const Hills& hills, const Regions& regions) {
  for (uint32_t basin = 0; basin < hills.n_basins(); ++basin) {
    components_[basin].parent = basin;
  }
  for (const Link& link : regions.links()) {
    const uint32_t a = find(link.a);
    const uint32_t b = find(link.b);
    components_[std::max(a, b)].parent = std::min(a, b);
  }
  for (uint32_t basin = 0; basin < hills.n_basins(); ++basin) {
    if (regions.part_of(basin) != basin) {
      continue;
    }
    const uint32_t root = find(basin);
    if (root == basin) {  // the first one of its component
      components_[basin] = {.parent = basin};
    }
    components_[basin].parent = root;
    ++components_[root].n_parts;
    components_[root].area += regions.area(basin);
  }
}

void Guide::find_members(const Hills& hills, const Regions& regions, const ExpectedTracks& tracks) {
  guides_.clear();
  for (uint32_t i = 0; i < tracks.n_tracks; ++i) {
    if (track::can_guide(tracks.tracks[i])) {
      find_component(hills, regions, tracks, i);
    }
  }
}

/// Makes a track a member of the component that has most of its box, if that is enough.
void Guide::find_component(const Hills& hills, const Regions& regions, const ExpectedTracks& tracks,
                           uint32_t i) {
  const track::TrackState& track = tracks.tracks[i];
  const track::Box box = track::next_box(track, tracks.duration_us);
  const track::Samples samples = track::samples_of(box, width_, height_);
  touched_.clear();
  for (uint32_t k = 0; k < samples.size(); ++k) {
    const uint32_t basin = hills.basin_at(size_t{samples.y_of(k)} * width_ + samples.x_of(k));
    if (basin == 0) {
      continue;
    }
    const uint32_t c = component_of(regions.part_of(basin - 1));
    Component& component = components_[c];
    if (component.n_samples++ == 0) {
      component.first_sample = k;
      touched_.push_back(c);
    }
  }
  uint64_t best = 0;
  uint32_t best_component = kNone;
  for (const uint32_t c : touched_) {
    const uint64_t order = track::order_of_member(components_[c].n_samples, components_[c].first_sample);
    if (order > best) {
      best = order;
      best_component = c;
    }
  }
  if (best_component != kNone) {
    Component& component = components_[best_component];
    if (track::is_member(track, samples, component.n_samples, component.area)) {
      members_[i] = {.component = best_component,
                     .next = component.first_member,
                     .rank = 0,
                     .largest = kNone,
                     .ellipse = track::ellipse_in(box)};
      component.first_member = i;
      ++component.n_members;
      guides_.push_back(i);
    }
  }
  for (const uint32_t c : touched_) {
    components_[c].n_samples = 0;
  }
}

/// Decides whether a component is cut, and makes a list of the members between which it is.
void Guide::choose_members(Component* component) {
  if (component->n_members > track::kMostMembers) {
    return;
  }
  track::Members members;
  for (uint32_t i = component->first_member; i != kNone; i = members_[i].next) {
    members.add(i);
  }
  component->is_cut = members.n > component->n_parts;
  uint32_t next = kNone;
  for (uint32_t rank = members.n; rank-- > 0;) {
    const uint32_t i = members.list[rank];
    members_[i].rank = rank;
    members_[i].next = next;
    next = i;
  }
  component->first_member = next;
}

uint32_t Guide::find(uint32_t part) {
  while (components_[part].parent != part) {
    components_[part].parent = components_[components_[part].parent].parent;
    part = components_[part].parent;
  }
  return part;
}

/// Of a pixel of a component that is cut between its members. Of equally near members, the oldest.
uint8_t Guide::color_of(const Component& component, uint32_t x, uint32_t y) const {
  uint64_t nearest = UINT64_MAX;
  uint32_t rank = 0;
  for (uint32_t i = component.first_member; i != kNone; i = members_[i].next) {
    const uint64_t distance = members_[i].ellipse.squared_distance(x, y);
    if (distance < nearest) {
      nearest = distance;
      rank = members_[i].rank;
    }
  }
  return static_cast<uint8_t>(track::kFirstMemberColor + rank);
}

void Guide::paint(const Regions& regions, uint32_t y, uint8_t* row) const {
  regions.for_each_run(y, [&](const BasinRun& run) {
    const uint32_t part = regions.part_of(run.basin - 1);
    const Component& component = components_[component_of(part)];
    if (!component.is_cut) {
      std::fill(row + run.begin, row + run.end, regions.color(part));
      return;
    }
    for (uint32_t x = run.begin; x < run.end; ++x) {
      row[x] = color_of(component, x, y);
    }
  });
}

void Guide::find_origins(const Hills& hills, const Regions& regions, const uint8_t* colors,
                         const KeptRuns& runs, std::span<const CclComponent> records,
                         track::Origin* origins) {
  std::for_each_n(origins, records.size(), [](track::Origin& origin) { origin = {}; });
  for (uint32_t y = 0; y < height_; ++y) {
    const KeptRuns::Row& row = runs.row(y);
    std::for_each(runs.runs() + row.begin, runs.runs() + row.end, [&](const KeptRun& run) {
      if (track::Origin& origin = origins[run.record]; origin.track == kNone) {
        const size_t pixel = size_t{y} * width_ + run.x0;
        origin.track = member_of(regions.part_of(hills.basin_at(pixel) - 1), colors[pixel]);
      }
    });
  }
  const auto n_records = static_cast<uint32_t>(records.size());
  for (uint32_t c = 0; c < n_records; ++c) {
    if (const uint32_t i = origins[c].track; i != kNone) {
      Component& component = components_[members_[i].component];
      const track::Box box = track::part_of(records[c]).box;
      component.group = component.has_record ? track::hull(component.group, box) : box;
      component.has_record = true;
      uint32_t& largest = members_[i].largest;
      largest = largest == kNone || records[c].area > records[largest].area ? c : largest;
    }
  }
  for (uint32_t c = 0; c < n_records; ++c) {
    if (track::Origin& origin = origins[c]; origin.track != kNone) {
      origin.group = components_[members_[origin.track].component].group;
      origin.is_main = members_[origin.track].largest == c ? 1 : 0;
    }
  }
}

/// The member for which pixels of this colour of a part were cut; kNone.
uint32_t Guide::member_of(uint32_t part, uint8_t color) const {
  const Component& component = components_[component_of(part)];
  if (!component.is_cut) {
    return kNone;
  }
  uint32_t i = component.first_member;
  while (members_[i].rank != uint32_t{color} - track::kFirstMemberColor) {
    i = members_[i].next;
  }
  return i;
}

}  // namespace ccl::host
