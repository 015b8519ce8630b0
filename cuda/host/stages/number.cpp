// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/stages/number.h"

namespace ccl::host {

uint32_t number(const uint32_t* root_map, uint32_t n_pixels, uint32_t* labels, uint32_t* areas) {
  uint32_t n_labels = 0;
  areas[0] = 0;
  for (uint32_t begin = 0; begin < n_pixels;) {
    const uint32_t root = root_map[begin];
    uint32_t label = 0;
    if (root == begin + 1) {
      label = ++n_labels;
      areas[label] = 0;
    } else if (root != 0) {
      // The root is the component's first pixel, which already has its label.
      label = labels[root - 1];
    }
    uint32_t end = begin;
    do {
      labels[end++] = label;
    } while (end < n_pixels && root_map[end] == root);
    areas[label] += end - begin;
    begin = end;
  }
  return n_labels;
}

}  // namespace ccl::host
