// SPDX-License-Identifier: LGPL-2.1-or-later
/// `ccl-bench track FILE.csv`: device time of frames of about 1,000 moving objects that lie on the GPU, with
/// and without the track stage, for records only and for colours; of one camera, and of eight at once. Then
/// of 30 groups of two whom tracks cut, beside the same frames where tracks do not guide cuts (`unguided`).
#pragma once

#include "ccl/status.h"

namespace ccl::bench {

Status run_track(int argc, char** argv);

/// `ccl-bench track-cpu FILE.csv`: the same frames through the host's engine with one thread.
Status run_track_engine(int argc, char** argv);

/// `ccl-bench track-noise FILE.csv`: 1080p noise of single pixels, with tables of many lengths.
Status run_track_noise(int argc, char** argv);

/// `ccl-bench track-noise-cpu FILE.csv`: likewise, through the host's engine with one thread.
Status run_track_noise_engine(int argc, char** argv);

}  // namespace ccl::bench
