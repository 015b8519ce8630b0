// SPDX-License-Identifier: LGPL-2.1-or-later
/// OpenCV's labelers, where OpenCV was found at build time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace ccl::bench {

/// One of OpenCV's algorithms. The names are OpenCV's.
enum class PeerAlgorithm { kSauf, kBbdt, kSpaghetti, kDefault };

/// Labels frames as an application would that uses OpenCV; its memory is kept from frame to frame.
class OpenCvPeer {
 public:
  OpenCvPeer();
  ~OpenCvPeer();
  OpenCvPeer(const OpenCvPeer&) = delete;
  OpenCvPeer& operator=(const OpenCvPeer&) = delete;

  /// False in a build without OpenCV; nothing else may be called then.
  static bool exists();
  static std::string version();
  static void set_threads(uint32_t n_threads);

  /// connectedComponents(): returns the number of components.
  uint32_t label(const uint8_t* pixels, uint32_t width, uint32_t height, size_t stride,
                 PeerAlgorithm algorithm);

  /// connectedComponentsWithStats(): returns the number of components.
  uint32_t label_with_stats(const uint8_t* pixels, uint32_t width, uint32_t height, size_t stride,
                            PeerAlgorithm algorithm);

  /// One for each label modulo 256.
  using Palette = std::array<uint32_t, 256>;

  /// Writes the label's colour for every pixel of the last frame, 4 bytes each, on as many threads as
  /// OpenCV has.
  void colorize(const Palette& palette, uint8_t* out, size_t stride) const;

 private:
  struct Private;
  std::unique_ptr<Private> priv_;
};

}  // namespace ccl::bench
