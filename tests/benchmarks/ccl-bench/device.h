// SPDX-License-Identifier: LGPL-2.1-or-later
/// The CUDA side of ccl-bench, in terms that need no CUDA header.
#pragma once

#include <memory>
#include <vector>

#include "csv.h"
#include "images.h"
#include "machine.h"
#include "measurement.h"
#include "paper/label_subject.h"
#include "subject.h"

namespace ccl::bench {

/// A GPU, current from open() on for the thread that opened it.
class Device {
 public:
  /// kNoDevice where there is none, kUnsupported in a build without CUDA.
  static Status open(std::unique_ptr<Device>* device);

  virtual ~Device() = default;

  /// The GPU, its driver and the toolkit.
  virtual Facts facts() const = 0;

  /// Frames through a pipeline, in device memory: Mode::kGraph.
  virtual Status make_subject(const Config& config, std::unique_ptr<Subject>* subject) = 0;

  /// The labelling stage alone of a labeler by its nick; `label-equivalence` may be followed by `+sizes`, by
  /// `/` and the size of its blocks, or by both, and `dlp-without-sr` is that without its SR and first R.
  /// kUnsupported where there is no such labeler.
  virtual Status make_label_subject(const std::string& nick, Size size,
                                    std::unique_ptr<LabelSubject>* subject) = 0;

  /// How many cycles all cores together have in a microsecond.
  virtual double core_cycles_per_us() const = 0;

  /// What no labeler can beat: reading and writing the pixels of a frame of this size.
  virtual Status time_floor(Size size, const Repetitions& repetitions, Row* row) = 0;

  /// Others' labelers on this image; adds no rows, and says why on standard error, where there are none.
  virtual Status time_peers(const test::Image& image, Connectivity connectivity,
                            const Repetitions& repetitions, std::vector<Row>* rows) = 0;
};

/// For `ccl-bench COMMAND FILE.csv`: opens the GPU and the file, and writes where the figures come from. The
/// environment variable COMMIT replaces what the build found.
Status open_device_csv(int argc, char** argv, std::unique_ptr<Device>* device, CsvWriter* csv);

}  // namespace ccl::bench
