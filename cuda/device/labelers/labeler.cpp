// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device/labelers/labeler.h"

namespace ccl::device {

std::unique_ptr<Labeler> make_labeler(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::kBlockEquivalence:
      return make_block_equivalence();
    case Algorithm::kDlp:
      return make_dlp();
    case Algorithm::kLabelEquivalence:
      return make_label_equivalence();
    case Algorithm::kLabelEquivalence2:
      return make_label_equivalence_2();
    case Algorithm::kNeighborPropagation:
      return make_neighbor_propagation();
    case Algorithm::kRowColUnify:
      return make_row_col_unify();
    case Algorithm::kTileMerge:
      return make_tile_merge();
    default:
      return make_union_find();
  }
}

}  // namespace ccl::device
