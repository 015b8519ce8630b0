// SPDX-License-Identifier: LGPL-2.1-or-later
/// Stands in where there is no OpenCV to compare with.
#include "opencv_peer.h"

namespace ccl::bench {

struct OpenCvPeer::Private {};

OpenCvPeer::OpenCvPeer() = default;
OpenCvPeer::~OpenCvPeer() = default;

bool OpenCvPeer::exists() {
  return false;
}

std::string OpenCvPeer::version() {
  return "none";
}

void OpenCvPeer::set_threads(uint32_t) {}

uint32_t OpenCvPeer::label(const uint8_t*, uint32_t, uint32_t, size_t, PeerAlgorithm) {
  return 0;
}

uint32_t OpenCvPeer::label_with_stats(const uint8_t*, uint32_t, uint32_t, size_t, PeerAlgorithm) {
  return 0;
}

void OpenCvPeer::colorize(const Palette&, uint8_t*, size_t) const {}

}  // namespace ccl::bench
