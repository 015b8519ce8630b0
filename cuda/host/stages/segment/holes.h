// SPDX-License-Identifier: LGPL-2.1-or-later
/// Fills holes: small components of the background that do not touch the frame's border. They are labelled by
/// the first two stages of `runs`, from the complement of the bits.
#pragma once

#include <cstdint>
#include <memory>

#include "ccl/segment/morphology.h"
#include "host/runs/row_labeler.h"
#include "host/runs/strip_merger.h"
#include "host/runs/table.h"
#include "host/stages/segment/bit_image.h"
#include "host/thread_pool.h"

namespace ccl::host {

class HoleFiller {
 public:
  /// Takes all memory for frames of this size.
  HoleFiller(uint32_t width, uint32_t height, ThreadPool& pool, const Kernels& kernels);

  /// `connectivity` is that of foreground. `complement` is an image of the same size whose contents are lost.
  void fill(const Morphology& morphology, Connectivity connectivity, BitImage* bits, BitImage* complement);

 private:
  template <typename Work>
  void for_each_strip(Work work);
  void label(Connectivity connectivity, const BitImage& bits, BitImage* complement);
  void mark_holes(const Morphology& morphology);
  void keep_border_components();
  void fill_strip(const Strip& strip, BitImage* bits) const;

  ThreadPool& pool_;
  RunTable table_;
  StripMerger merger_;
  /// Per local label: the area; then 1 for holes to fill, 0 for all others.
  std::unique_ptr<uint32_t[]> marks_;
  RowLabeler labeler_;
};

}  // namespace ccl::host
