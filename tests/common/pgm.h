// SPDX-License-Identifier: LGPL-2.1-or-later
/// Binary PGM files of 8 bits a pixel.
#pragma once

#include <string>

#include "ccl/status.h"
#include "images.h"

namespace ccl::test {

Status read_pgm(const std::string& file, Image* image);
Status write_pgm(const std::string& file, const Image& image);

}  // namespace ccl::test
