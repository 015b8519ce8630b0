// SPDX-License-Identifier: LGPL-2.1-or-later
#include <chrono>
#include <vector>

#include "poison.h"
#include "subject.h"

namespace ccl::bench {

namespace {

class EngineSubject final : public Subject {
 public:
  EngineSubject(std::unique_ptr<Engine> engine, const Config& config)
      : engine_(std::move(engine)), config_(config), pixels_(n_pixels() * bytes_per_pixel(config.output)) {}

  Status configure() { return engine_->configure(config_); }

  Status load(const test::Image& image) override {
    image_ = &image;
    std::fill(pixels_.begin(), pixels_.end(), test::kPoison);
    test::poison(&result_.counts);
    return {};
  }

  Status time(const Settings& settings, const Repetitions& repetitions, Times* times) override {
    float first_us = 0;
    CCL_RETURN_IF_ERROR(run(job(settings), &first_us));
    const int n = repetitions.of(first_us);
    for (int i = 0; i < n; ++i) {
      float us = 0;
      CCL_RETURN_IF_ERROR(run(job(settings), &us));
      times->push_back(us);
    }
    return {};
  }

  /// The engine writes maps only when it is asked to, so this runs one more frame for them.
  Status digests(const Settings& settings, bool with_maps, Digests* digests) override {
    if (with_maps) {
      root_map_.resize(n_pixels());
      labels_.resize(n_pixels());
      FrameJob with = job(settings);
      with.root_map = root_map_.data();
      with.labels = labels_.data();
      float us = 0;
      CCL_RETURN_IF_ERROR(run(with, &us));
      digests->root_map = digest_of(root_map_.data(), root_map_.size() * sizeof(uint32_t));
      digests->labels = digest_of(labels_.data(), labels_.size() * sizeof(uint32_t));
    }
    digests->counts = result_.counts;
    digests->records = digest_of(result_.components.data(), result_.components.size_bytes());
    digests->pixels = digest_of(pixels_.data(), pixels_.size());
    return {};
  }

 private:
  size_t n_pixels() const { return size_t{config_.width} * config_.height; }

  FrameJob job(const Settings& settings) {
    return {.input = {image_->pixels(), image_->stride},
            .output = {pixels_.data(), size_t{config_.width} * bytes_per_pixel(config_.output)},
            .settings = settings};
  }

  Status run(const FrameJob& job, float* microseconds) {
    const auto start = std::chrono::steady_clock::now();
    CCL_RETURN_IF_ERROR(engine_->push(job));
    CCL_RETURN_IF_ERROR(engine_->pop(&result_));
    *microseconds =
        std::chrono::duration<float, std::micro>(std::chrono::steady_clock::now() - start).count();
    return {};
  }

  std::unique_ptr<Engine> engine_;
  Config config_;
  const test::Image* image_ = nullptr;
  FrameResult result_;
  std::vector<uint8_t> pixels_;
  std::vector<uint32_t> root_map_;
  std::vector<uint32_t> labels_;
};

}  // namespace

Status make_engine_subject(std::unique_ptr<Engine> engine, const Config& config,
                           std::unique_ptr<Subject>* subject) {
  auto made = std::make_unique<EngineSubject>(std::move(engine), config);
  CCL_RETURN_IF_ERROR(made->configure());
  *subject = std::move(made);
  return {};
}

}  // namespace ccl::bench
