// SPDX-License-Identifier: LGPL-2.1-or-later
#include "options.h"

#include "command_line.h"
#include "protocol.h"

namespace ccl::bench {

namespace {

/// As GLib's parser fills it in.
struct Arguments {
  gchar* out = nullptr;
  gchar* backend = nullptr;
  gint seed = 1;
  gchar** scenes = nullptr;
  gint max_tracks = 1024;
  gboolean strip = FALSE;
  gchar* video = nullptr;
  gchar* size = nullptr;
  gdouble rate = 30;
};

void parse(int argc, char** argv, Arguments* a) {
  const GOptionEntry entries[] = {
      {"out", 'o', 0, G_OPTION_ARG_FILENAME, &a->out, "Where to write the CSV files", "FOLDER"},
      {"backend", 'b', 0, G_OPTION_ARG_STRING, &a->backend, "cpu (default) or cuda", "NAME"},
      {"seed", 0, 0, G_OPTION_ARG_INT, &a->seed, "Of the sequences (default: 1)", "N"},
      {"scene", 's', 0, G_OPTION_ARG_STRING_ARRAY, &a->scenes,
       "Repeatable (default: all); names that begin so", "NAME"},
      {"max-tracks", 0, 0, G_OPTION_ARG_INT, &a->max_tracks,
       "Length of the table (default: 1024; 0: no tracking)", "N"},
      {"strip", 0, 0, G_OPTION_ARG_NONE, &a->strip, "Draw places and colours over time (PPM)", nullptr},
      {"video", 0, 0, G_OPTION_ARG_FILENAME, &a->video, "Follow what moves in a file of I420 frames", "FILE"},
      {"size", 0, 0, G_OPTION_ARG_STRING, &a->size, "Of the video", "WIDTHxHEIGHT"},
      {"rate", 0, 0, G_OPTION_ARG_DOUBLE, &a->rate, "Of the video (default: 30)", "FPS"},
      {}};
  require(read_command_line(argc, argv, "- follows planted objects, and writes what was found", entries));
}

void check(const Arguments& a) {
  if (a.out == nullptr) {
    fail("track-bench: --out is missing");
  }
  if (a.backend != nullptr && text(a.backend) != "cpu" && text(a.backend) != "cuda") {
    fail("track-bench: --backend is cpu or cuda");
  }
  if (a.max_tracks < 0 || a.rate <= 0) {
    fail("track-bench: --max-tracks must not be negative, --rate must be more than 0");
  }
  if ((a.video != nullptr) != (a.size != nullptr)) {
    fail("track-bench: --video and --size belong together");
  }
}

}  // namespace

Options parse_options(int argc, char** argv) {
  Arguments a;
  parse(argc, argv, &a);
  check(a);
  Options options{.out = a.out,
                  .is_cuda = text(a.backend) == "cuda",
                  .seed = static_cast<uint32_t>(a.seed),
                  .scenes = strings(a.scenes),
                  .max_tracks = static_cast<uint32_t>(a.max_tracks),
                  .draws_strip = a.strip != FALSE,
                  .video = text(a.video),
                  .video_size = {},
                  .video_rate = a.rate};
  if (a.size != nullptr) {
    options.video_size = require_size(a.size);
  }
  return options;
}

}  // namespace ccl::bench
