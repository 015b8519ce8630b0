// SPDX-License-Identifier: LGPL-2.1-or-later
#include "regions.h"

#include <memory>

#include "engine.h"

namespace cudaccl_python {

namespace {

using OwnedRegions = std::unique_ptr<CudacclRegions, decltype(&cudaccl_regions_free)>;

OwnedRegions read(const nb::bytes& source) {
  CudacclRegions* regions = nullptr;
  if (const CudacclStatus status = cudaccl_regions_read(source.c_str(), source.size(), &regions);
      status != CUDACCL_OK) {
    raise_status(status, cudaccl_last_error(nullptr));
  }
  return {regions, cudaccl_regions_free};
}

}  // namespace

CudacclStatus set_regions(CudacclEngine* engine, const nb::bytes& source) {
  const OwnedRegions regions = read(source);
  return cudaccl_engine_set_regions(engine, regions.get());
}

nb::tuple region_names(const nb::bytes& source) {
  const OwnedRegions regions = read(source);
  nb::list zones;
  for (size_t i = 0; i < regions->n_zones; ++i) {
    zones.append(regions->zones[i].polygon.name);
  }
  nb::list lines;
  for (size_t i = 0; i < regions->n_lines; ++i) {
    lines.append(regions->lines[i].name);
  }
  return nb::make_tuple(nb::tuple(zones), nb::tuple(lines));
}

}  // namespace cudaccl_python
