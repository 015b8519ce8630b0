// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/labelers/labeler.h"

namespace ccl::host {

std::unique_ptr<Labeler> make_labeler(Algorithm algorithm, uint32_t width, uint32_t height,
                                      ThreadPool& pool) {
  switch (algorithm) {
    case Algorithm::kDlp:
      return make_dlp(width, height, pool);
    case Algorithm::kHcs2Aremsp:
      return make_hcs2_aremsp(width, height, pool);
    case Algorithm::kNeighborPropagation:
      return make_neighbor_propagation(width, height, Propagation::kForwardBackward, pool);
    case Algorithm::kStefanoBulgarelli:
      return make_stefano_bulgarelli(width, height);
    default:
      return make_sauf(width, height);
  }
}

}  // namespace ccl::host
