// SPDX-License-Identifier: LGPL-2.1-or-later
#include "scenes.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <opencv2/imgproc.hpp>

namespace ccl::bench {

namespace {

/// Objects of a sequence. Lengths and speeds are for a height of 240 pixels.
struct Cast {
  int count = 11;
  std::vector<double> contrasts = {30, 45,
                                   70};  ///< grey levels between an object's colours and what is around
  double chroma = 25;                    ///< and in the colours' differences
  double texture = 0.3;                  ///< of a photograph's contrast
  double hurry = 1;                      ///< factor of their speeds
  bool casts_shadow = false;
};

class Director {
 public:
  Director(Pictures* pictures, cv::Size size, uint32_t seed)
      : pictures_(pictures), size_(size), seed_(seed), random_(seed) {}

  Sequence begin(const std::string& category, Plate plate) {
    seed_ += 1;
    random_ = Random(seed_);
    Sequence sequence;
    sequence.category = category;
    sequence.name = plate_name(plate);
    sequence.plate = plate;
    sequence.seed = seed_;
    return sequence;
  }

  /// Objects that cross the frame, one after the other.
  void add_crossing(Sequence* sequence, const Cast& cast) {
    for (int i = 0; i < cast.count; ++i) {
      Actor actor = make_actor(i);
      const double speed =
          (0.012 * actor.height / scale() + random_.between(0.5, 1.4)) * cast.hurry * scale();
      const double margin = 1.5 * actor.height;
      const double start = (kFrames + 60.0) * i / cast.count - 60 + random_.between(-8, 8);
      const double from = -margin;
      const double to = size_.width + margin;
      const double y = foot_line(actor);
      const double drift = random_.between(-0.08, 0.08) * size_.height;
      actor.path = {{start, {from, y}}, {start + (to - from) / speed, {to, y + drift}}};
      if (random_.coin()) {
        std::swap(actor.path[0].foot, actor.path[1].foot);
      }
      dress(&actor, *sequence, cast);
      sequence->actors.push_back(actor);
    }
  }

  /// An object that comes, stands for a while, and leaves. Without an arrival it is there from the first
  /// frame on.
  void add_standing(Sequence* sequence, const Cast& cast, std::optional<double> arrival, double departure,
                    double place) {
    Actor actor = make_actor(static_cast<int>(sequence->actors.size()) + 1);
    const double y = foot_line(actor);
    const double speed = 1.8 * scale();
    const double margin = 1.5 * actor.height;
    const double x = place * size_.width;
    if (arrival) {
      actor.path = {{*arrival - (x + margin) / speed, {-margin, y}}, {*arrival, {x, y}}};
    } else {
      actor.path = {{-1, {x, y}}};
      actor.unknown_until = departure;
    }
    actor.path.push_back({departure, {x, y}});
    actor.path.push_back({departure + (size_.width + margin - x) / speed, {size_.width + margin, y}});
    dress(&actor, *sequence, cast);
    sequence->actors.push_back(actor);
  }

 private:
  double scale() const { return size_.height / 240.0; }

  /// Small, medium and large ones in turn.
  Actor make_actor(int i) {
    constexpr double kHeights[][2] = {{18, 26}, {34, 50}, {62, 92}};
    constexpr Shape kShapes[] = {Shape::kWalker, Shape::kWalker, Shape::kCar, Shape::kWalker, Shape::kBall};
    Actor actor;
    actor.shape = kShapes[random_.below(5)];
    const auto [low, high] = kHeights[i % 3];
    const double area = actor.shape == Shape::kWalker ? 1 : 0.6;
    actor.height = random_.between(low, high) * area * scale();
    return actor;
  }

  /// Larger objects are nearer: lower in the frame.
  double foot_line(const Actor& actor) {
    const double nearness = actor.height / (90 * scale());
    return size_.height * std::min(0.97, 0.42 + 0.42 * nearness + random_.between(0, 0.3));
  }

  /// The colours follow from what is behind the object's path.
  void dress(Actor* actor, const Sequence& sequence, const Cast& cast) {
    actor->casts_shadow = cast.casts_shadow;
    const cv::Scalar around = mean_behind(*actor, sequence.plate);
    const double contrast = cast.contrasts[random_.below(static_cast<uint32_t>(cast.contrasts.size()))];
    const double grey = (around[0] + around[1] + around[2]) / 3;
    const bool must_be_darker = grey + contrast > 235;
    const bool must_be_lighter = grey - contrast < 15;
    for (cv::Vec3f& color : actor->colors) {
      const bool is_darker = must_be_darker || (!must_be_lighter && random_.coin());
      const double step = (is_darker ? -1 : 1) * contrast * random_.between(0.8, 1.2);
      for (int c = 0; c < 3; ++c) {
        const double tint = random_.between(-cast.chroma, cast.chroma);
        color[c] = static_cast<float>(std::clamp(around[c] + step + tint, 5.0, 250.0));
      }
    }
    actor->texture = cut_texture(cast.texture);
  }

  cv::Scalar mean_behind(const Actor& actor, Plate plate) {
    cv::Rect box;
    for (const Waypoint& point : actor.path) {
      const cv::Point foot(cvRound(point.foot.x), cvRound(point.foot.y));
      box |= cv::Rect(foot.x - 4, foot.y - cvRound(actor.height), 8, cvRound(actor.height));
    }
    box &= cv::Rect(cv::Point(), size_);
    return cv::mean(pictures_->frames(plate, size_)[0](box));
  }

  /// Zero on average.
  cv::Mat cut_texture(double share) {
    const std::vector<cv::Mat>& textures = pictures_->textures();
    const cv::Mat& from = textures[random_.below(static_cast<uint32_t>(textures.size()))];
    constexpr int kSide = 160;
    const cv::Rect cut(static_cast<int>(random_.below(static_cast<uint32_t>(from.cols - kSide))),
                       static_cast<int>(random_.below(static_cast<uint32_t>(from.rows - kSide))), kSide,
                       kSide);
    cv::Mat texture;
    from(cut).convertTo(texture, CV_32F);
    texture -= cv::mean(texture);
    return texture * share;
  }

  Pictures* pictures_;
  cv::Size size_;
  uint32_t seed_;
  Random random_;
};

cv::Vec3f grey_light(double factor) {
  const auto f = static_cast<float>(factor);
  return {f, f, f};
}

/// Removes the objects that are in the frame at one of these times.
void remove_visible(Sequence* sequence, const std::vector<int>& frames) {
  std::erase_if(sequence->actors, [&](const Actor& actor) {
    return std::any_of(frames.begin(), frames.end(), [&](int frame) { return actor.is_present(frame); });
  });
}

/// Even light, then a ramp of twelve seconds, then even light again.
std::function<cv::Vec3f(int)> ramp(double from, double to) {
  return [from, to](int frame) {
    return grey_light(from + (to - from) * std::clamp((frame - 80) / 300.0, 0.0, 1.0));
  };
}

/// From `first` on another light, from `second` on the first one again.
std::function<cv::Vec3f(int)> lamp(int first, int second, cv::Vec3f other) {
  return [=](int frame) { return frame >= first && frame < second ? other : grey_light(1); };
}

void add_still_light(Director* director, std::vector<Sequence>* all) {
  for (const Plate plate : {Plate::kLawn, Plate::kStreet}) {
    director->add_crossing(&all->emplace_back(director->begin("baseline", plate)), {});
  }
  for (const Plate plate : {Plate::kStreet, Plate::kDesk}) {
    Sequence& sequence = all->emplace_back(director->begin("stopping", plate));
    director->add_crossing(&sequence, {.count = 4});
    director->add_standing(&sequence, {}, 110, 230, 0.3);
    director->add_standing(&sequence, {}, 190, 320, 0.6);
    director->add_standing(&sequence, {}, 240, 340, 0.8);
  }
  for (const Plate plate : {Plate::kLawn, Plate::kHotel}) {
    Sequence& sequence = all->emplace_back(director->begin("starting", plate));
    director->add_crossing(&sequence, {.count = 6});
    director->add_standing(&sequence, {}, {}, 120, 0.25);
    director->add_standing(&sequence, {}, {}, 170, 0.7);
  }
  for (const auto& [plate, deviation] : {std::pair{Plate::kStreet, 7.0}, std::pair{Plate::kDesk, 12.0}}) {
    Sequence& sequence = all->emplace_back(director->begin("noise", plate));
    director->add_crossing(&sequence, {});
    sequence.noise = deviation;
  }
}

void add_changing_light(Director* director, std::vector<Sequence>* all) {
  for (const auto& [plate, from, to] : {std::tuple{Plate::kLawn, 1.0, 0.6}, {Plate::kHotel, 0.7, 1.0}}) {
    Sequence& sequence = all->emplace_back(director->begin("light ramp", plate));
    director->add_crossing(&sequence, {});
    sequence.light = ramp(from, to);
  }
  // Objects in view when the light changes may leave ghosts. First without any:
  Sequence& empty = all->emplace_back(director->begin("light switch", Plate::kLawn));
  empty.switches = {140, 270};
  empty.light = lamp(empty.switches[0], empty.switches[1], cv::Vec3f(0.5F, 0.55F, 0.6F));
  director->add_crossing(&empty, {.count = 20, .hurry = 2.2});
  remove_visible(&empty, empty.switches);
  for (const auto& [plate, other] : {std::pair{Plate::kDesk, cv::Vec3f(0.35F, 0.42F, 0.5F)},
                                     {Plate::kStreet, cv::Vec3f(1.5F, 1.6F, 1.6F)}}) {
    Sequence& sequence = all->emplace_back(director->begin("light switch", plate));
    director->add_crossing(&sequence, {});
    sequence.switches = {140, 270};
    sequence.light = lamp(sequence.switches[0], sequence.switches[1], other);
  }
}

void add_moving_background(Director* director, std::vector<Sequence>* all) {
  director->add_crossing(&all->emplace_back(director->begin("swaying", Plate::kTree)),
                         {.contrasts = {60, 90}});
  Sequence& swaying = all->emplace_back(director->begin("swaying", Plate::kHotel));
  director->add_crossing(&swaying, {});
  swaying.sway = 2;
  for (const Plate plate : {Plate::kLawn, Plate::kHotel}) {
    Sequence& sequence = all->emplace_back(director->begin("jitter", plate));
    director->add_crossing(&sequence, {});
    sequence.jitter = 1;
  }
}

void add_difficult_objects(Director* director, std::vector<Sequence>* all) {
  for (const Plate plate : {Plate::kLawn, Plate::kDesk}) {
    director->add_crossing(&all->emplace_back(director->begin("camouflage", plate)),
                           {.contrasts = {12, 16, 20}, .chroma = 5, .texture = 0.1});
  }
  for (const Plate plate : {Plate::kLawn, Plate::kStreet}) {
    director->add_crossing(&all->emplace_back(director->begin("shadow", plate)), {.casts_shadow = true});
  }
}

}  // namespace

std::vector<Sequence> make_sequences(Pictures* pictures, cv::Size size, uint32_t seed) {
  Director director(pictures, size, seed * 1000);
  std::vector<Sequence> all;
  add_still_light(&director, &all);
  add_changing_light(&director, &all);
  add_moving_background(&director, &all);
  add_difficult_objects(&director, &all);
  return all;
}

}  // namespace ccl::bench
