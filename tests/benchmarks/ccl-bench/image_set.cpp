// SPDX-License-Identifier: LGPL-2.1-or-later
#include "image_set.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "pgm.h"

namespace ccl::bench {

namespace {

using test::Image;

constexpr uint32_t kSeed = 1;

using Draw = std::function<Image(uint32_t width, uint32_t height)>;

/// Discs in a grid.
template <int64_t kPitch, int64_t kRadius>
Image discs(uint32_t width, uint32_t height) {
  return test::drawn("discs", width, height, [](int64_t x, int64_t y) {
    const int64_t dx = x % kPitch - kPitch / 2;
    const int64_t dy = y % kPitch - kPitch / 2;
    return dx * dx + dy * dy <= kRadius * kRadius;
  });
}

template <typename Predicate>
Draw drawing(Predicate is_foreground) {
  return [is_foreground](uint32_t width, uint32_t height) {
    return test::drawn("", width, height, is_foreground);
  };
}

/// In no set: each overlaps its neighbours by a column and a row, 1,008 at 1920 × 1080.
constexpr char kTouching[] = "touching";

const std::map<std::string, Draw>& shapes() {
  static const std::map<std::string, Draw> kShapes = {
      {"blobs", [](uint32_t width, uint32_t height) { return test::blobs(width, height, kSeed); }},
      {"checkerboard", drawing([](uint32_t x, uint32_t y) { return (x + y) % 2 == 0; })},
      {"comb", drawing([](uint32_t x, uint32_t y) { return y == 0 || x % 2 == 0; })},
      {"discs", discs<24, 9>},
      {"empty", drawing([](uint32_t, uint32_t) { return false; })},
      {"full", drawing([](uint32_t, uint32_t) { return true; })},
      {"lines", drawing([](uint32_t, uint32_t y) { return y % 2 == 0; })},
      {"serpentine", test::serpentine},
      {"spiral", test::spiral},
  };
  return kShapes;
}

Status draw(const std::string& name, Size size, Image* image) {
  if (std::optional<Image> noise = draw_noise(name, size, kSeed)) {
    *image = std::move(*noise);
  } else if (const auto shape = shapes().find(name); shape != shapes().end()) {
    *image = shape->second(size.width, size.height);
  } else if (name == kTouching) {
    *image = discs<45, 23>(size.width, size.height);
  } else {
    return {StatusCode::kInvalidArgument, "there is no image " + name};
  }
  image->name = name;
  return {};
}

}  // namespace

Status draw_all(size_t n_images, const std::function<Status(size_t)>& draw_one) {
  std::vector<Status> statuses(n_images);
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < n_images; i = next++) {
      statuses[i] = draw_one(i);
    }
  };
  {
    std::vector<std::jthread> threads;
    for (size_t i = 1; i < std::min<size_t>(std::thread::hardware_concurrency(), n_images); ++i) {
      threads.emplace_back(work);
    }
    work();
  }
  for (const Status& status : statuses) {
    CCL_RETURN_IF_ERROR(status);
  }
  return {};
}

std::vector<std::string> image_names(const std::string& set) {
  if (set != "short" && set != "all") {
    return {set};
  }
  std::vector<std::string> names =
      noise_names(set == "short" ? std::vector<uint32_t>{10, 30, 50, 60, 70, 90}
                                 : std::vector<uint32_t>{0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100});
  for (const auto& [name, _] : shapes()) {
    names.push_back(name);
  }
  return names;
}

Status make_images(const Options& options, Size size, std::vector<Image>* images) {
  std::vector<std::string> names;
  for (const std::string& set : options.images) {
    for (const std::string& name : image_names(set)) {
      if (std::find(names.begin(), names.end(), name) == names.end()) {
        names.push_back(name);
      }
    }
  }
  images->resize(names.size());
  return draw_all(names.size(), [&](size_t i) { return draw(names[i], size, &(*images)[i]); });
}

Status dump_images(const std::string& folder, const std::vector<Image>& images) {
  for (const Image& image : images) {
    CCL_RETURN_IF_ERROR(test::write_pgm(folder + "/" + std::to_string(image.width) + "x" +
                                            std::to_string(image.height) + "-" + image.name + ".pgm",
                                        image));
  }
  return {};
}

}  // namespace ccl::bench
