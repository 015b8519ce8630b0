// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/stages/segment/mixture_light.h"

namespace ccl::host {

namespace {

mixture::Color<WordLane> color_at(const MixtureLightRow& row, uint32_t x) {
  return {row.pixels[x], row.u[x], row.v[x]};
}

mixture::Mode<WordLane> mode_at(const MixtureLightRow& row, uint32_t k, uint32_t x) {
  return {row.state.weight[k][x], row.state.mean[k][x], row.state.variance[k][x], row.state.chroma[k][x]};
}

void store(const mixture::Pixel<WordLane>& pixel, const MixtureRow& state, uint32_t x) {
  for (uint32_t k = 0; k < mixture::kModes; ++k) {
    state.weight[k][x] = static_cast<uint16_t>(pixel.modes[k].weight);
    state.mean[k][x] = static_cast<uint16_t>(pixel.modes[k].mean);
    state.variance[k][x] = static_cast<uint16_t>(pixel.modes[k].variance);
    state.chroma[k][x] = static_cast<uint16_t>(pixel.modes[k].chroma);
  }
}

}  // namespace

void add_light(const MixtureLightRow& row, light::ColorSums* sums) {
  for (uint32_t x = 0; x < row.width; ++x) {
    mixture::add(mode_at(row, 0, x), color_at(row, x), sums);
  }
}

uint32_t count_misfits(const light::Change& change, const MixtureLightRow& row) {
  uint32_t n = 0;
  for (uint32_t x = 0; x < row.width; ++x) {
    n += mixture::fits(change, mode_at(row, 0, x), row.pixels[x]) ? 0 : 1;
  }
  return n;
}

void relearn_light(const light::Change& change, bool keeps_misfits, const MixtureLightRow& row) {
  for (uint32_t x = 0; x < row.width; ++x) {
    const mixture::KnownModes old = {mode_at(row, 0, x), mode_at(row, 1, x)};
    store(mixture::relearn(change, keeps_misfits, old, color_at(row, x)), row.state, x);
  }
}

void begin_row(const MixtureLightRow& row, bool keeps_variance) {
  for (uint32_t x = 0; x < row.width; ++x) {
    store(mixture::initialize<WordLane>(color_at(row, x), row.state.variance[0][x], keeps_variance),
          row.state, x);
  }
}

}  // namespace ccl::host
