// SPDX-License-Identifier: LGPL-2.1-or-later
/// A stream through the host's engine and a device's, frame by frame compared to the byte.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ccl/engine.h"
#include "ccl/events.h"
#include "fixture.h"
#include "images.h"

namespace ccl::test {

/// A frame in flight in both engines.
struct PairedFrame {
  Image image;
  std::vector<uint8_t> chroma;
  std::vector<uint8_t> pixels[2];
  std::vector<uint32_t> labels[2];
  int64_t time = kNoTime;
  std::vector<uint32_t> planes[2];  ///< of labels, ids and distances, if the configuration has them
};

/// A stream through a host engine and a device engine.
class EnginePair {
 public:
  explicit EnginePair(const Config& config) : config_(config) {
    engines_[0] = make_host_engine();
    EXPECT_TRUE(make_engine(&engines_[1]).ok());
    EXPECT_EQ(engines_[1]->backend(), Backend::kCuda);
    configure(config);
  }

  FrameJob job = {};  ///< of the next frame, except its images
  bool has_chroma = false;
  bool asks_for_labels = false;

  /// The host's engine has one labeler of its own.
  void configure(const Config& config) {
    config_ = config;
    Config of_host = config;
    of_host.algorithm = Algorithm::kRuns;
    for (const auto& [engine, its] : {std::pair{engines_[0].get(), of_host}, {engines_[1].get(), config}}) {
      const Status status = engine->configure(its);
      ASSERT_TRUE(status.ok()) << status.message();
    }
    if (config.max_tracks > 0) {
      configure_events();
    }
  }

  void push(Image image) {
    PairedFrame& frame = frames_.emplace_back();
    frame.image = std::move(image);
    frame.time = job.time;
    const size_t n_pixels = size_t{config_.width} * config_.height;
    frame.chroma.assign(n_pixels, 90);
    for (size_t i = 0; i < 2; ++i) {
      frame.pixels[i].assign(n_pixels * bytes_per_pixel(config_.output), 0);
      frame.labels[i].assign(asks_for_labels ? n_pixels : 0, 0);
      job.input.pixels = frame.image.pixels();
      job.input.stride = frame.image.stride;
      job.input.chroma = has_chroma ? Chroma{.u = frame.chroma.data(),
                                             .v = frame.chroma.data(),
                                             .stride = config_.width,
                                             .shift_x = 1,
                                             .shift_y = 1}
                                    : Chroma{};
      job.output.pixels = frame.pixels[i].data();
      job.output.stride = size_t{config_.width} * bytes_per_pixel(config_.output);
      frame.planes[i].assign(3 * n_pixels, 0);
      job.label_plane = {frame.planes[i].data(), config_.width * sizeof(uint32_t)};
      job.id_plane = {frame.planes[i].data() + n_pixels, config_.width * sizeof(uint32_t)};
      job.distance_plane = {frame.planes[i].data() + 2 * n_pixels, config_.width * sizeof(uint32_t)};
      job.labels = asks_for_labels ? frame.labels[i].data() : nullptr;
      const Status status = engines_[i]->push(job);
      ASSERT_TRUE(status.ok()) << status.message();
    }
    job.resets_tracks = false;
  }

  /// Compares the oldest frame in flight.
  void pop(const std::string& what) {
    FrameResult results[2];
    for (size_t i = 0; i < 2; ++i) {
      const Status status = engines_[i]->pop(&results[i]);
      ASSERT_TRUE(status.ok()) << status.message();
    }
    const PairedFrame& frame = frames_.front();
    ASSERT_EQ(results[1].overflow, results[0].overflow) << what;
    FrameCounts counts = results[1].counts;
    counts.n_iterations = results[0].counts.n_iterations;
    ASSERT_TRUE(counts == results[0].counts) << what;
    expect_same(results[1].components, results[0].components, what + ": records");
    expect_same(results[1].tracks, results[0].tracks, what + ": tracks");
    expect_same(results[1].grey, results[0].grey, what + ": grey statistics");
    if (config_.max_tracks > 0) {
      compare_events(results, frame.time, what);
    }
    ASSERT_EQ(frame.labels[1], frame.labels[0]) << what;
    ASSERT_EQ(frame.planes[1], frame.planes[0]) << what;
    const auto different =
        std::mismatch(frame.pixels[0].begin(), frame.pixels[0].end(), frame.pixels[1].begin());
    ASSERT_EQ(different.first, frame.pixels[0].end())
        << what << ": byte " << different.first - frame.pixels[0].begin() << " of the output";
    n_tracks_ += results[0].tracks.size();
    most_records_ = std::max(most_records_, results[0].components.size());
    n_grey_ += results[0].grey.size();
    n_overflows_ += results[0].overflow ? 1 : 0;
    n_without_ids_ += std::any_of(results[0].components.begin(), results[0].components.end(),
                                  [](const CclComponent& record) { return record.id == 0; })
                          ? 1
                          : 0;
    frames_.pop_front();
    ++n_compared_;
  }

  size_t n_in_flight() const { return frames_.size(); }
  uint32_t n_compared() const { return n_compared_; }      ///< frames
  size_t n_events() const { return n_events_; }            ///< of all frames
  size_t n_tracks() const { return n_tracks_; }            ///< of all frames
  size_t most_records() const { return most_records_; }    ///< of one frame
  size_t n_grey() const { return n_grey_; }                ///< records with grey statistics, of all frames
  size_t n_overflows() const { return n_overflows_; }      ///< of all frames
  size_t n_without_ids() const { return n_without_ids_; }  ///< frames with components without a track

 private:
  /// Two zones that overlap and a line.
  void configure_events() {
    const auto at = [this](double x, double y) { return Point{x * config_.width, y * config_.height}; };
    Regions regions;
    regions.is_relative = false;
    regions.zones = {{.name = "left", .polygon = {at(0, 0), at(0.5, 0), at(0.6, 1), at(0, 1)}},
                     {.name = "middle",
                      .polygon = {at(0.3, 0.2), at(0.8, 0.3), at(0.5, 0.9)},
                      .anchor = Anchor::kCentroid,
                      .margin = 0,
                      .dwell_ns = 200'000'000,
                      .crowd = 2}};
    regions.lines = {{.name = "across", .from = at(0.1, 0.9), .to = at(0.9, 0.2)}};
    for (EventMaker& maker : makers_) {
      const Status status = maker.configure(
          {.width = config_.width, .height = config_.height, .max_tracks = config_.max_tracks}, regions);
      ASSERT_TRUE(status.ok()) << status.message();
    }
  }

  void compare_events(const FrameResult (&results)[2], int64_t time, const std::string& what) {
    for (size_t i = 0; i < 2; ++i) {
      makers_[i].update({.tracks = results[i].tracks,
                         .n_components = results[i].counts.n_components,
                         .relearning = results[i].counts.relearning != 0,
                         .time = time,
                         .hold_ns = 100'000'000});
    }
    expect_same(makers_[1].events(), makers_[0].events(), what + ": events");
    n_events_ += makers_[0].events().size();
  }

  template <typename T>
  static void expect_same(std::span<const T> got, std::span<const T> want, const std::string& what) {
    ASSERT_EQ(got.size(), want.size()) << what;
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(std::memcmp(&got[i], &want[i], sizeof(T)), 0) << what << ": " << i;
    }
  }

  Config config_;
  std::unique_ptr<Engine> engines_[2];
  std::deque<PairedFrame> frames_;
  EventMaker makers_[2];
  uint32_t n_compared_ = 0;
  size_t n_events_ = 0;
  size_t n_tracks_ = 0;
  size_t most_records_ = 0;
  size_t n_grey_ = 0;
  size_t n_overflows_ = 0;
  size_t n_without_ids_ = 0;
};

}  // namespace ccl::test
