// SPDX-License-Identifier: LGPL-2.1-or-later
#include "writer.h"

#include <algorithm>
#include <map>

#include "follower.h"
#include "protocol.h"

namespace ccl::bench {

CsvFile::CsvFile(const std::string& file, const char* header)
    : name_(file), file_(std::fopen(file.c_str(), "w")) {
  if (file_ == nullptr) {
    fail("track-bench: " + file + " cannot be written");
  }
  std::fprintf(file_, "%s\n", header);
}

CsvFile::~CsvFile() {
  if (std::fclose(file_) != 0) {
    fail("track-bench: " + name_ + " cannot be written");
  }
}

bool is_result(const CclTrack& track) {
  return (track.flags & CCL_TRACK_CONFIRMED) != 0 && (track.flags & CCL_TRACK_PREDICTED) == 0;
}

ResultWriter::ResultWriter(const std::string& folder, const std::string& name)
    : tracks_(folder + "/" + name + "-tracks.csv", "frame,id,x,y,width,height,confidence,flags,vx,vy"),
      boxes_(folder + "/" + name + "-boxes.csv", "frame,component,x,y,width,height,confidence,id,area") {}

void ResultWriter::add(int frame, std::span<const CclComponent> components,
                       std::span<const CclTrack> tracks) {
  for (const CclTrack& track : tracks) {
    std::fprintf(tracks_.get(), "%d,%u,%u,%u,%u,%u,%d,%u,%.1f,%.1f\n", frame + 1, track.id, track.x, track.y,
                 track.width, track.height, is_result(track) ? 1 : 0, track.flags, double{track.vx},
                 double{track.vy});
  }
  for (size_t i = 0; i < components.size(); ++i) {
    const CclComponent& c = components[i];
    std::fprintf(boxes_.get(), "%d,%zu,%u,%u,%u,%u,1,%u,%u\n", frame + 1, i + 1, c.x, c.y, c.width, c.height,
                 c.id, c.area);
  }
}

TruthWriter::TruthWriter(const std::string& folder, const std::string& name)
    : truth_(folder + "/" + name + "-truth.csv", "frame,id,x,y,width,height,confidence,visible"),
      colors_(folder + "/" + name + "-colors.csv", "frame,object,component,id") {}

void TruthWriter::add(const Picture& picture, const std::vector<uint32_t>& record_map,
                      std::span<const CclComponent> components) {
  std::map<uint32_t, int> actors_in;  // by record
  for (const TruthBox& truth : picture.truth) {
    const Rectangle& box = truth.box;
    std::fprintf(truth_.get(), "%d,%u,%d,%d,%d,%d,1,%.3f\n", picture.frame + 1, truth.id, box.left, box.top,
                 box.right - box.left, box.bottom - box.top, truth.visible);
    std::map<uint32_t, int> votes;
    for (const uint32_t pixel : truth.pixels) {
      if (record_map[pixel] != Follower::kNone) {
        ++votes[record_map[pixel]];
      }
    }
    if (votes.empty()) {
      continue;
    }
    const auto most = std::max_element(votes.begin(), votes.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    ++actors_in[most->first];
    std::fprintf(colors_.get(), "%d,%u,%u,%u\n", picture.frame + 1, truth.id, most->first + 1,
                 components[most->first].id);
  }
  for (const auto& [record, count] : actors_in) {
    n_merged_ += count > 1 ? static_cast<uint64_t>(count) : 0;
  }
}

void write_still(const std::string& file, uint32_t width, uint32_t height, const std::vector<uint8_t>& rgba) {
  std::FILE* out = std::fopen(file.c_str(), "wb");
  if (out == nullptr) {
    fail("track-bench: " + file + " cannot be written");
  }
  std::fprintf(out, "P6\n%u %u\n255\n", width, height);
  for (size_t pixel = 0; pixel < size_t{width} * height; ++pixel) {
    std::fwrite(&rgba[4 * pixel], 1, 3, out);
  }
  if (std::fclose(out) != 0) {
    fail("track-bench: " + file + " cannot be written");
  }
}

}  // namespace ccl::bench
