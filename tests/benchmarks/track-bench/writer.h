// SPDX-License-Identifier: LGPL-2.1-or-later
/// The CSV files of a sequence, in the format of the MOT challenge (Leal-Taixé et al. 2015) where it has one:
/// frames and ids from 1 on, boxes as left, top, width, height.
#pragma once

#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "ccl/component.h"
#include "ccl/track.h"
#include "picture.h"

namespace ccl::bench {

class CsvFile {
 public:
  /// Replaces the file. Ends the program if it cannot be written.
  CsvFile(const std::string& file, const char* header);
  CsvFile(const CsvFile&) = delete;
  CsvFile& operator=(const CsvFile&) = delete;
  ~CsvFile();

  std::FILE* get() const { return file_; }

 private:
  std::string name_;
  std::FILE* file_;
};

/// `frame` counts from 0.
///
/// Whether a track is among the results (confidence 1, else 0): it must be confirmed, and either be seen in
/// this frame or be part of a component with others. So a track that is merely predicted is not: a place
/// where nothing is seen is no result, and the other trackers report none either.
bool is_result(const CclTrack& track);

/// Tracks, components and ids of one sequence.
class ResultWriter {
 public:
  ResultWriter(const std::string& folder, const std::string& name);

  void add(int frame, std::span<const CclComponent> components, std::span<const CclTrack> tracks);

 private:
  CsvFile tracks_, boxes_;
};

/// What was really there, and in which component each actor was seen.
class TruthWriter {
 public:
  TruthWriter(const std::string& folder, const std::string& name);

  /// `record_map`: see Follower.
  void add(const Picture& picture, const std::vector<uint32_t>& record_map,
           std::span<const CclComponent> components);

  /// Actors in a component with others, summed over the frames.
  uint64_t n_merged() const { return n_merged_; }

 private:
  CsvFile truth_, colors_;
  uint64_t n_merged_ = 0;
};

/// PPM. `rgba`: dense rows.
void write_still(const std::string& file, uint32_t width, uint32_t height, const std::vector<uint8_t>& rgba);

}  // namespace ccl::bench
