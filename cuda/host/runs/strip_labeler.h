// SPDX-License-Identifier: LGPL-2.1-or-later
/// The labelling stage of the CPU's `runs`: a strip's rows become runs, and its runs get local labels.
#pragma once

#include <cstdint>

#include "host/runs/frame_needs.h"
#include "host/runs/pair_lister.h"
#include "host/runs/row_source.h"
#include "host/runs/run_list.h"
#include "host/runs/table.h"

namespace ccl::host {

/// One way to do so: row by row (row_labeler.h) or two rows at a time (pair_labeler.h). The pipeline chooses
/// once per frame. Threads may each use another strip.
class StripLabeler {
 public:
  StripLabeler() = default;
  virtual ~StripLabeler() = default;
  StripLabeler(const StripLabeler&) = delete;
  StripLabeler& operator=(const StripLabeler&) = delete;

  /// Finds and links the strip's runs and gives them their local labels. If the frame needs areas, adds up
  /// those of the local labels.
  virtual void label(const RowSource& source, const FrameNeeds& needs, Strip& strip) const = 0;

  /// Unites in `parents`, which is indexed by local label, the labels on both sides of a strip's upper
  /// border.
  virtual void merge_upper_border(const FrameNeeds& needs, const Strip& strip, uint32_t* parents) const = 0;

  /// Lists the runs of labelled strips. Null if the table has all of them.
  virtual const PairLister* lister() const = 0;
};

/// Calls visit(runs) for all runs of a labelled strip, in order. `runs` is a RectangleList or, only without
/// features, a PairList. Both have the same functions, so one generic visitor serves all labelers.
template <uint32_t kFeatures, typename Visit>
void for_each_run_list(const RunTable& table, const StripLabeler& labeler, const FrameNeeds& needs,
                       const Strip& strip, Visit visit) {
  const PairLister* lister = labeler.lister();
  table.for_each_band(strip, [&](Band band) {
    if (lister == nullptr) {
      visit(RectangleList(list_band(table, band)));
      return;
    }
    for (uint32_t y = band.y; y < band.y_end;) {
      const RunList list = lister->list(needs, strip, band, y);
      y = list.y_end;
      if constexpr (kFeatures == 0) {
        if (list.n_pixels != nullptr) {
          visit(PairList(list));
          continue;
        }
      }
      visit(RectangleList(list));
    }
  });
}

/// Calls visit(list) for the runs of all rows of a labelled strip, in order. Rows with equal pixels share a
/// list; rows of a pair that differ have one each, whatever the frame needs. Lists have no shapes.
template <typename Visit>
void for_each_row_list(const RunTable& table, const StripLabeler& labeler, const FrameNeeds& needs,
                       const Strip& strip, Visit visit) {
  FrameNeeds rows = needs;
  rows.moments = true;  // as if: so that pairs of rows are listed row by row
  rows.shapes = false;
  const PairLister* lister = labeler.lister();
  table.for_each_band(strip, [&](Band band) {
    if (lister == nullptr) {
      visit(list_band(table, band));
      return;
    }
    for (uint32_t y = band.y; y < band.y_end;) {
      const RunList list = lister->list(rows, strip, band, y);
      visit(list);
      y = list.y_end;
    }
  });
}

}  // namespace ccl::host
