// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ccl/engine.h"
#include "method.h"
#include "protocol.h"

namespace ccl::bench {

namespace {

/// This library's engine on the CPU.
class EngineMethod final : public Method {
 public:
  EngineMethod(BackgroundModel model, const MethodOptions& options) : has_chroma_(options.has_chroma) {
    job_.settings.rule.foreground = Foreground::kMotion;
    job_.segmentation.motion = options.motion;
    job_.segmentation.motion.model = model;
    job_.segmentation.morphology = {.open_radius = kOpenRadius, .close_radius = kCloseRadius};
  }

  void begin(cv::Size size) override {
    engine_ = make_host_engine();  // an engine keeps its model
    const auto width = static_cast<uint32_t>(size.width);
    const auto height = static_cast<uint32_t>(size.height);
    require(engine_->configure(
        {.width = width, .height = height, .output = Output::kMask, .layout = {}, .threads = 1}));
  }

  void apply(const Frame& frame, cv::Mat* mask) override {
    mask->create(frame.bgr.size(), CV_8UC1);
    job_.input = {.pixels = frame.i420.ptr(), .stride = frame.i420.step, .chroma = chroma(frame)};
    job_.output = {.pixels = mask->ptr(), .stride = mask->step};
    job_.time = int64_t{frame.number} * 1'000'000'000 / kFramesPerSecond;
    FrameResult result;
    require(engine_->push(job_));
    require(engine_->pop(&result));
  }

 private:
  Chroma chroma(const Frame& frame) const {
    if (!has_chroma_) {
      return {};
    }
    // OpenCV's I420: the planes lie behind one another, without padding.
    const uint8_t* u = frame.i420.ptr() + frame.bgr.total();
    return {.u = u,
            .v = u + frame.bgr.total() / 4,
            .stride = static_cast<size_t>(frame.bgr.cols) / 2,
            .shift_x = 1,
            .shift_y = 1};
  }

  std::unique_ptr<Engine> engine_;
  bool has_chroma_;
  FrameJob job_;
};

}  // namespace

std::unique_ptr<Method> make_engine_method(BackgroundModel model, const MethodOptions& options) {
  return std::make_unique<EngineMethod>(model, options);
}

}  // namespace ccl::bench
