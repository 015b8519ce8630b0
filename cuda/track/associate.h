// SPDX-License-Identifier: LGPL-2.1-or-later
/// The rules of the track stage: which component shows which track. docs/tracking.md has them in words.
#pragma once

#include "track/step.h"
#include "track/tables.h"
#include "track/team.h"

namespace ccl::track {

/// Moves all tracks to the next frame, and gives the frame's components their ids. Called by all threads of a
/// team with equal arguments, which see each other's writes when it returns. The tracks, ascending by id, are
/// in frame.tracks, TrackHeader::n_tracks of them.
template <typename Team>
constexpr void associate(const Team& team, const TrackStep& step, const TrackFrame& frame,
                         const TrackTables& tables);

}  // namespace ccl::track
