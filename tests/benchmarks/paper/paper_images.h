// SPDX-License-Identifier: LGPL-2.1-or-later
/// The images of the papers' experiments that no other benchmark has. All are drawn from seeds by
/// MT19937, so that they are the same everywhere.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ccl/status.h"
#include "common.h"
#include "images.h"

namespace ccl::bench {

/// Kalentev et al.'s "blob with random": discs of one radius until a quarter of the pixels is occupied,
/// then single pixels until half of them are.
test::Image blobs_with_noise(const std::string& name, uint32_t length, uint32_t radius, uint32_t seed);

/// Šťava and Beneš's spheres, fig. 35.11 c and d: a tile of 1024 × 1024 pixels with so many discs of 18
/// pixels' radius, each of another value except every 255th, repeated over the canvas.
test::Image spheres(uint32_t length, uint32_t n_per_tile, uint32_t seed);

/// Fig. 35.11 b: two dozen large discs, each of its own value, which cover most of the canvas at any
/// size.
test::Image large_objects(uint32_t length, uint32_t seed);

/// Fig. 35.11 a, synthesised: a slice of a log as computed tomography shows it, segmented. The wood is
/// background; segments are the pith, knots that grow from it, cracks, bark, and specks of noise.
test::Image log_slice(uint32_t length, uint32_t seed);

/// A grey image made as large as asked for by linear interpolation, and binarized by Otsu's threshold
/// (IEEE Transactions on Systems, Man, and Cybernetics 9(1), 1979): the side with fewer pixels is
/// foreground.
test::Image enlarge_and_binarize(const test::Image& grey, Size size);

/// The files of `folder` whose names end in .pgm, by name.
Status read_folder(const std::string& folder, std::vector<test::Image>* images);

}  // namespace ccl::bench
