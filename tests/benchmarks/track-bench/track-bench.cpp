// SPDX-License-Identifier: LGPL-2.1-or-later
/// Follows the objects of planted binary video, whose identities are known exactly, with the track stage, and
/// writes CSV files: the truth, the tracks, the boxes of all components, and the component of each object.
/// evaluate.py compares them, and lets other trackers work on the same boxes.
///
///     track-bench --out tracks
///     track-bench --out tracks --video clip.i420 --size 768x576 --rate 10 --strip
///
/// A video from outside is followed with foreground=motion and the settings of the README; it has no truth.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "ccl/devices.h"
#include "commit.h"
#include "follower.h"
#include "machine.h"
#include "options.h"
#include "picture.h"
#include "protocol.h"
#include "scene.h"
#include "strip.h"
#include "writer.h"

namespace ccl::bench {

namespace {

std::string file_name(std::string name) {
  std::erase(name, ',');
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

void run_scene(const Options& options, const Scene& scene, std::FILE* index) {
  const std::string name = file_name(scene.name);
  Painter painter(scene);
  Follower follower(options, {static_cast<uint32_t>(scene.width), static_cast<uint32_t>(scene.height)});
  ResultWriter results(options.out, name);
  TruthWriter truth(options.out, name);
  FrameJob& job = follower.job();
  job.settings.filter.min_area = scene.min_area;
  for (int frame = 0; frame < kFrames; ++frame) {
    const Picture& picture = painter.next();
    job.input = {.pixels = picture.image.pixels(), .stride = picture.image.stride};
    const FrameResult& result = follower.follow(scene.time(frame));
    results.add(frame, result.components, result.tracks);
    truth.add(picture, follower.record_map(), result.components);
  }
  std::fprintf(index, "%s,\"%s\",%d,%d,%d,%d,%d,%zu,%zu\n", name.c_str(), scene.name.c_str(),
               scene.has_merges ? 1 : 0, scene.frames_per_second, kFrames, scene.width, scene.height,
               scene.actors.size(), size_t{truth.n_merged()});
  if (!scene.has_merges && truth.n_merged() > 0) {
    fail("track-bench: objects of the scene " + scene.name + " merge");
  }
}

bool is_wanted(const Options& options, const std::string& name) {
  return options.scenes.empty() ||
         std::any_of(options.scenes.begin(), options.scenes.end(),
                     [&](const std::string& wanted) { return name.starts_with(wanted); });
}

void run_scenes(const Options& options, const Facts& facts) {
  const CsvFile index(options.out + "/scenes.csv",
                      "file,scene,merges,fps,frames,width,height,objects,merged_objects");
  for (const auto& [key, value] : facts) {
    std::fprintf(index.get(), "# %s: %s\n", key.c_str(), value.c_str());
  }
  for (const Scene& scene : make_scenes(options.seed)) {
    if (is_wanted(options, scene.name)) {
      run_scene(options, scene, index.get());
      std::fprintf(stderr, "%s\n", scene.name.c_str());
    }
  }
}

/// Adds the GPU that the engine takes: the first one.
void add_gpu(Facts* facts) {
  std::vector<DeviceDescription> devices;
  if (const Status status = list_devices(&devices); !status.ok()) {
    fail("track-bench: " + status.message());
  }
  const DeviceDescription& gpu = devices.front();
  facts->emplace_back("gpu", gpu.name + ", compute capability " + std::to_string(gpu.compute_major) + "." +
                                 std::to_string(gpu.compute_minor));
}

/// As the README's example does.
void set_up_motion(FrameJob* job) {
  job->settings.rule.foreground = Foreground::kMotion;
  job->settings.filter.min_area = 150;
  job->settings.overlay_alpha = 255;
  job->segmentation.morphology = {.open_radius = 1, .close_radius = 3};
}

void run_video(const Options& options) {
  const Size size = options.video_size;
  const size_t luma = size_t{size.width} * size.height;
  std::vector<uint8_t> frame(luma + luma / 2);
  std::ifstream file(options.video, std::ios::binary);
  if (!file) {
    fail("track-bench: cannot read " + options.video);
  }
  Follower follower(options, size);
  ResultWriter results(options.out, "video");
  Strip strip;
  set_up_motion(&follower.job());
  follower.job().input = {.pixels = frame.data(),
                          .stride = size.width,
                          .chroma = {.u = frame.data() + luma,
                                     .v = frame.data() + luma + luma / 4,
                                     .stride = size.width / 2,
                                     .shift_x = 1,
                                     .shift_y = 1}};
  for (int i = 0;
       file.read(reinterpret_cast<char*>(frame.data()), static_cast<std::streamsize>(frame.size())); ++i) {
    const FrameResult& result = follower.follow(i / options.video_rate);
    results.add(i, result.components, result.tracks);
    if (options.draws_strip) {
      strip.add(follower);
    }
  }
  if (options.draws_strip) {
    strip.write(options.out + "/video-strip.ppm");
  }
}

}  // namespace

}  // namespace ccl::bench

int main(int argc, char** argv) {
  ccl::bench::Facts facts = ccl::bench::machine_facts({}, argc, argv);
  const ccl::bench::Options options = ccl::bench::parse_options(argc, argv);
  if (options.is_cuda) {
    ccl::bench::add_gpu(&facts);
  }
  std::filesystem::create_directories(options.out);
  if (options.video.empty()) {
    ccl::bench::run_scenes(options, facts);
  } else {
    ccl::bench::run_video(options);
  }
  return EXIT_SUCCESS;
}
