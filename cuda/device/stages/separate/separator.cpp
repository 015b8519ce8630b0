// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device/stages/separate/separator.h"

#include "device/check.h"
#include "device/stages/separate/hills.h"
#include "device/stages/separate/regions.h"

namespace ccl::device {

namespace {

constexpr size_t kWordArrays = 5;      ///< of RegionTable
constexpr uint32_t kPixelsOfLink = 8;  ///< ordinary frames have fewer links; for more, rounds take longer

}  // namespace

/// Of two neighbours of a component at most one is a summit.
size_t Separator::max_basins(Neighbours neighbours) const {
  switch (neighbours) {
    case kEight:
      return size_t{(width_ + 1) / 2} * ((height_ + 1) / 2);
    case kFour:
      return (size_t{width_} * height_ + 1) / 2;
    default:
      return size_t{width_} * height_;
  }
}

Separator::Neighbours Separator::neighbours_of(const Settings& settings) {
  return settings.rule.foreground == Foreground::kValues ? kOfOneValue
         : settings.connectivity == Connectivity::k8     ? kEight
                                                         : kFour;
}

Status Separator::prepare(const Settings& settings, uint32_t width, uint32_t height, Guide* guide) {
  const size_t n_pixels = size_t{width} * height;
  if (width_ == 0) {
    width_ = width;
    height_ = height;
    CCL_RETURN_IF_ERROR(distance_.configure(width, height));
    CCL_RETURN_IF_ERROR(raw_heights_.allocate(n_pixels));
    CCL_RETURN_IF_ERROR(heights_.allocate(n_pixels));
    CCL_RETURN_IF_ERROR(basins_.allocate(n_pixels));
    CCL_RETURN_IF_ERROR(links_.allocate(n_pixels * kLinkDirections));
    CCL_RETURN_IF_ERROR(expanded_.allocate(n_pixels / kPixelsOfLink + 1));
    CCL_RETURN_IF_ERROR(counts_.allocate(1));
    CCL_RETURN_IF_ERROR(arrivals_.allocate(1));
    Stream stream;
    CCL_RETURN_IF_ERROR(stream.create());
    CCL_RETURN_IF_ERROR(check(cudaMemsetAsync(arrivals_.data(), 0, sizeof(uint32_t), stream.get()),
                              "cudaMemsetAsync of the arrivals"));
    CCL_RETURN_IF_ERROR(stream.synchronize());
  }
  if (guide != nullptr) {
    CCL_RETURN_IF_ERROR(guide->prepare(width_, height_));
  }
  BasinArrays& arrays = arrays_[neighbours_of(settings)];
  if (arrays.n > 0) {
    return {};
  }
  const size_t n = max_basins(neighbours_of(settings));
  CCL_RETURN_IF_ERROR(arrays.sums.allocate(n));
  CCL_RETURN_IF_ERROR(arrays.best.allocate(n));
  CCL_RETURN_IF_ERROR(arrays.words.allocate(kWordArrays * n));
  arrays.n = n;
  return {};
}

RegionTable Separator::table(const Settings& settings) const {
  const BasinArrays& arrays = arrays_[neighbours_of(settings)];
  const auto words = [&](size_t i) { return arrays.words.data() + i * arrays.n; };
  return {.width = width_,
          .height = height_,
          .heights = heights_.data(),
          .basins = basins_.data(),
          .links = links_.data(),
          .expanded = expanded_.data(),
          .n_expanded = width_ * height_ / kPixelsOfLink + 1,
          .counts = counts_.data(),
          .sums = arrays.sums.data(),
          .best = arrays.best.data(),
          .summits = words(0),
          .first_pixels = words(1),
          .parents = words(2),
          .regions = words(3),
          .joined = words(4)};
}

template <typename RootsOf>
Status Separator::find_basins(const Settings& settings, const RootsOf& roots, cudaStream_t stream) {
  CCL_RETURN_IF_ERROR(
      check(cudaMemsetAsync(counts_.data(), 0, sizeof(SeparationCounts), stream), "cudaMemsetAsync"));
  CCL_RETURN_IF_ERROR(
      distance_.measure_heights(roots, settings.separation.aspect, raw_heights_.data(), stream));
  return device::find_basins(table(settings), roots, raw_heights_.data(), heights_.data(),
                             settings.connectivity, stream);
}

Status Separator::run(const Settings& settings, uint32_t* root_map, cudaStream_t stream) {
  CCL_RETURN_IF_ERROR(find_basins(settings, RootMap{root_map, width_}, stream));
  return join_to_roots(table(settings), settings, arrivals_.data(), root_map, stream);
}

template <typename RootsOf>
Status Separator::run(const Settings& settings, const RootsOf& roots, size_t pitch, uint8_t* values,
                      Guide* guide, cudaStream_t stream) {
  CCL_RETURN_IF_ERROR(find_basins(settings, roots, stream));
  if (guide == nullptr) {
    return join_to_values(table(settings), settings, arrivals_.data(), pitch, values, stream);
  }
  CCL_RETURN_IF_ERROR(join_to_colors(table(settings), settings, arrivals_.data(), stream));
  CCL_RETURN_IF_ERROR(guide->decide(table(settings), stream));
  return guide->write_parts(table(settings), pitch, values, stream);
}

template Status Separator::run(const Settings&, const Mask&, size_t, uint8_t*, Guide*, cudaStream_t);
template Status Separator::run(const Settings&, const RootMap&, size_t, uint8_t*, Guide*, cudaStream_t);

}  // namespace ccl::device
