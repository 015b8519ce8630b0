// SPDX-License-Identifier: LGPL-2.1-or-later
/// The images of a frame in flight: where the kernels find them, and their copies between host and GPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ccl/engine.h"
#include "device/memory.h"
#include "device/pipeline.h"
#include "device/source_frame.h"
#include "device/timeline.h"

namespace ccl::device {

/// Streams for the copies of all slots, one for each direction. On the slots' own streams a copy up would
/// wait behind copies down that other slots began before it.
struct CopyStreams {
  Stream up;
  Stream down;
};

/// Whether copies between the GPU and this host memory do not block the host.
bool is_page_locked(const void* memory);

class Transfers {
 public:
  /// Allocates memory for images that come from the host or go there according to `config`. `kernels` is the
  /// slot's stream, `copies` null if all copies use it. Both must outlive this.
  Status configure(const Config& config, const Stream& kernels, const CopyStreams* copies);

  /// Chooses where the kernels read the input and write the output, and writes it to `frame`. Allocates,
  /// once, what this frame needs and the configuration did not.
  Status place(const FrameJob& job, FrameBuffers* frame);

  /// Enqueues the upload, if the input lies on the host; the kernels' stream waits for it, and for the users
  /// of the output's memory.
  Status upload(const FrameJob& job, const Timeline& timeline) const;

  /// The input in device memory. Its luma is left to the segment stage if its pixels are not a plane of luma.
  SourceFrame source(const FrameJob& job, const FrameBuffers& frame) const;

  /// Makes the planes of chroma of a mask grey. Enqueues that if they lie on the device.
  Status fill_chroma(const OutputImage& image) const;

  /// Whether the output must be copied from where the kernels wrote it.
  bool has_download(const FrameJob& job, const FrameBuffers& frame) const;
  /// Whether the host must enqueue the download when the frame is popped: a copy to pageable memory blocks
  /// the host, which has other frames to start first.
  bool downloads_late() const { return downloads_late_; }
  /// Enqueues the download, if there is one, and records Timeline::kDownloaded behind it.
  Status download(const FrameJob& job, const FrameBuffers& frame, const Timeline& timeline) const;
  /// Copies the output once more, and waits for it.
  Status download_again(const FrameJob& job, const FrameBuffers& frame) const;

  /// Waits for all copies. A failed stream does not use memory any more, so errors are ignored.
  void wait() const;

 private:
  Status allocate_input();
  Status allocate_source(const SourcePixels& source);
  Status allocate_output();
  Status allocate_chroma(const Chroma& chroma);
  Status upload_pixels(const InputImage& image, const Stream& stream) const;
  Status upload_chroma(const Chroma& chroma, const Stream& stream) const;
  Status copy_output(const FrameJob& job, const FrameBuffers& frame) const;

  Config config_;
  size_t input_pitch_ = 0;
  bool downloads_late_ = false;
  DeviceArray<uint8_t> input_;   ///< for frames from the host
  DeviceArray<uint8_t> source_;  ///< for those that are not a plane of 8-bit luma
  size_t source_pitch_ = 0;      ///< of it
  size_t source_bytes_ = 0;      ///< of it
  DeviceArray<uint8_t> chroma_;  ///< of frames from the host: rows of U and V, or of both in turn
  DeviceArray<uint8_t> output_;  ///< for frames to the host, bytes_per_pixel(Config::output) a pixel
  const Stream* kernels_ = nullptr;
  const Stream* up_ = nullptr;
  const Stream* down_ = nullptr;
};

}  // namespace ccl::device
