// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device/transfers.h"

#include <algorithm>
#include <cstring>

#include "device/check.h"

namespace ccl::device {

namespace {

// Rows of the input start where a memory transaction does.
constexpr size_t kPitchAlignment = 128;

// See FrameBuffers::output.
constexpr size_t kOutputAlignment = 16;

size_t pitch_of(size_t row) {
  return (row + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
}

/// The bytes of a row, up to the last one that is read.
size_t row_of(const SourcePixels& source, uint32_t width) {
  return size_t{width - 1} * source.step + bytes_read(source);
}

/// Whether values of U and V alternate.
bool is_interleaved(const Chroma& chroma) {
  return chroma.step > 1;
}

}  // namespace

bool is_page_locked(const void* memory) {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, memory) != cudaSuccess) {
    cudaGetLastError();
    return false;
  }
  return attributes.type == cudaMemoryTypeHost;
}

Status Transfers::configure(const Config& config, const Stream& kernels, const CopyStreams* copies) {
  config_ = config;
  kernels_ = &kernels;
  up_ = copies != nullptr ? &copies->up : &kernels;
  down_ = copies != nullptr ? &copies->down : &kernels;
  input_pitch_ = pitch_of(config.width);
  if (config.input_memory == Memory::kHost) {
    CCL_RETURN_IF_ERROR(allocate_input());
  }
  return config.output_memory == Memory::kHost ? allocate_output() : Status();
}

Status Transfers::allocate_input() {
  return input_.data() != nullptr ? Status() : input_.allocate(input_pitch_ * config_.height);
}

/// The shape may change from frame to frame; the memory grows if it must.
Status Transfers::allocate_source(const SourcePixels& source) {
  source_pitch_ = pitch_of(row_of(source, config_.width));
  const size_t bytes = source_pitch_ * config_.height;
  if (bytes <= source_bytes_) {
    return {};
  }
  source_bytes_ = 0;
  source_ = {};
  CCL_RETURN_IF_ERROR(source_.allocate(bytes));
  source_bytes_ = bytes;
  return {};
}

/// Enough for chroma of any shape, because it may change from frame to frame.
Status Transfers::allocate_chroma(const Chroma& chroma) {
  if (chroma.u == nullptr || chroma_.data() != nullptr) {
    return {};
  }
  return chroma_.allocate(2 * input_pitch_ * config_.height);
}

Status Transfers::allocate_output() {
  const size_t bytes = size_t{config_.width} * config_.height * bytes_per_pixel(config_.output);
  return output_.data() != nullptr ? Status() : output_.allocate(bytes);
}

Status Transfers::place(const FrameJob& job, FrameBuffers* frame) {
  if (job.input.memory == Memory::kDevice) {
    frame->input = job.input.pixels;
    frame->input_pitch = job.input.stride;
  } else {
    const SourcePixels& source = job.input.source;
    CCL_RETURN_IF_ERROR(source.pixels != nullptr ? allocate_source(source) : allocate_input());
    CCL_RETURN_IF_ERROR(allocate_chroma(job.input.chroma));
    frame->input = input_.data();
    frame->input_pitch = input_pitch_;
  }
  const bool is_on_device = config_.output != Output::kNone && job.output.memory == Memory::kDevice;
  const size_t row = size_t{config_.width} * bytes_per_pixel(config_.output);
  const bool is_dense = job.output.stride == row || config_.height == 1;
  const bool is_aligned = reinterpret_cast<uintptr_t>(job.output.pixels) % kOutputAlignment == 0;
  if (is_on_device && is_dense && is_aligned) {
    frame->output = job.output.pixels;
  } else {
    CCL_RETURN_IF_ERROR(allocate_output());
    frame->output = output_.data();
  }
  downloads_late_ = config_.output != Output::kNone && !is_on_device && !is_page_locked(job.output.pixels);
  return {};
}

Status Transfers::upload(const FrameJob& job, const Timeline& timeline) const {
  const bool is_there = job.input.memory == Memory::kDevice;
  const Stream& stream = is_there ? *kernels_ : *up_;
  CCL_RETURN_IF_ERROR(timeline.follow_input(stream, job.input.stream));
  CCL_RETURN_IF_ERROR(timeline.record(Timeline::kStarted, stream));
  if (!is_there) {
    CCL_RETURN_IF_ERROR(upload_pixels(job.input, stream));
    if (job.input.chroma.u != nullptr) {
      CCL_RETURN_IF_ERROR(upload_chroma(job.input.chroma, stream));
    }
  }
  CCL_RETURN_IF_ERROR(timeline.follow(*kernels_, Timeline::kUploaded, stream));
  return timeline.follow_output(*kernels_, job.output.stream, job.input.stream);
}

Status Transfers::upload_pixels(const InputImage& image, const Stream& stream) const {
  if (image.source.pixels != nullptr) {
    return check(cudaMemcpy2DAsync(source_.data(), source_pitch_, image.source.pixels, image.source.stride,
                                   row_of(image.source, config_.width), config_.height,
                                   cudaMemcpyHostToDevice, stream.get()),
                 "cudaMemcpy2DAsync of the input");
  }
  return check(cudaMemcpy2DAsync(input_.data(), input_pitch_, image.pixels, image.stride, config_.width,
                                 config_.height, cudaMemcpyHostToDevice, stream.get()),
               "cudaMemcpy2DAsync of the input");
}

SourceFrame Transfers::source(const FrameJob& job, const FrameBuffers& frame) const {
  SourceFrame source{.luma = {frame.input, frame.input_pitch, config_.width, config_.height},
                     .chroma = job.input.chroma,
                     .pixels = job.input.source};
  if (job.input.memory == Memory::kDevice) {
    return source;
  }
  if (source.has_pixels()) {
    source.pixels.pixels = source_.data();
    source.pixels.stride = source_pitch_;
  }
  if (source.chroma.u != nullptr) {
    const Chroma& chroma = job.input.chroma;
    const uint8_t* first = std::min(chroma.u, chroma.v);
    const bool together = is_interleaved(chroma);
    source.chroma.u = chroma_.data() + (together ? chroma.u - first : 0);
    source.chroma.v = together ? chroma_.data() + (chroma.v - first) : chroma_.data() + input_pitch_;
    source.chroma.stride = 2 * input_pitch_;
  }
  return source;
}

/// Rows of both lie side by side. In packed formats luma lies between them, and is copied with them.
Status Transfers::upload_chroma(const Chroma& chroma, const Stream& stream) const {
  const size_t width = (config_.width + (1u << chroma.shift_x) - 1) >> chroma.shift_x;
  const size_t height = (config_.height + (1u << chroma.shift_y) - 1) >> chroma.shift_y;
  const auto copy = [&](uint8_t* to, const uint8_t* from, size_t bytes) {
    return check(cudaMemcpy2DAsync(to, 2 * input_pitch_, from, chroma.stride, bytes, height,
                                   cudaMemcpyHostToDevice, stream.get()),
                 "cudaMemcpy2DAsync of the chroma");
  };
  if (is_interleaved(chroma)) {
    const auto [first, last] = std::minmax(chroma.u, chroma.v);
    return copy(chroma_.data(), first, (width - 1) * chroma.step + static_cast<size_t>(last - first) + 1);
  }
  CCL_RETURN_IF_ERROR(copy(chroma_.data(), chroma.u, width));
  return copy(chroma_.data() + input_pitch_, chroma.v, width);
}

Status Transfers::fill_chroma(const OutputImage& image) const {
  constexpr int kGrey = 128;
  for (uint8_t* plane : image.chroma) {
    if (plane == nullptr) {
      continue;
    }
    if (image.memory == Memory::kDevice) {
      CCL_RETURN_IF_ERROR(check(cudaMemset2DAsync(plane, image.chroma_stride, kGrey, image.chroma_row,
                                                  image.chroma_rows, kernels_->get()),
                                "cudaMemset2DAsync of the chroma"));
      continue;
    }
    for (uint32_t y = 0; y < image.chroma_rows; ++y) {
      std::memset(plane + y * image.chroma_stride, kGrey, image.chroma_row);
    }
  }
  return {};
}

bool Transfers::has_download(const FrameJob& job, const FrameBuffers& frame) const {
  return config_.output != Output::kNone && frame.output != job.output.pixels;
}

Status Transfers::copy_output(const FrameJob& job, const FrameBuffers& frame) const {
  const size_t row = size_t{config_.width} * bytes_per_pixel(config_.output);
  const cudaMemcpyKind kind =
      job.output.memory == Memory::kDevice ? cudaMemcpyDeviceToDevice : cudaMemcpyDeviceToHost;
  return check(cudaMemcpy2DAsync(job.output.pixels, job.output.stride, frame.output, row, row, config_.height,
                                 kind, down_->get()),
               "cudaMemcpy2DAsync of the output");
}

Status Transfers::download(const FrameJob& job, const FrameBuffers& frame, const Timeline& timeline) const {
  if (!has_download(job, frame)) {
    return timeline.record(Timeline::kDownloaded, *kernels_);
  }
  CCL_RETURN_IF_ERROR(timeline.follow(*down_, Timeline::kProcessed, *kernels_));
  CCL_RETURN_IF_ERROR(copy_output(job, frame));
  return timeline.record(Timeline::kDownloaded, *down_);
}

Status Transfers::download_again(const FrameJob& job, const FrameBuffers& frame) const {
  CCL_RETURN_IF_ERROR(copy_output(job, frame));
  return down_->synchronize();
}

void Transfers::wait() const {
  for (const Stream* stream : {up_, kernels_, down_}) {
    if (stream != nullptr && stream->get() != nullptr) {
      static_cast<void>(stream->synchronize());
    }
  }
}

}  // namespace ccl::device
