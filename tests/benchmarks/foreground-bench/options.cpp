// SPDX-License-Identifier: LGPL-2.1-or-later
#include "options.h"

#include "command_line.h"
#include "protocol.h"

namespace ccl::bench {

namespace {

/// As GLib's parser fills it in.
struct Arguments {
  gchar* size = nullptr;
  gint seed = 1;
  gchar** methods = nullptr;
  gchar** categories = nullptr;
  gchar* pictures = nullptr;
  gchar* csv = nullptr;
  gchar* dump = nullptr;
  gint dump_every = 25;
  gboolean is_speed = FALSE;
  gint rounds = 40;
  gint sensitivity = Motion{}.sensitivity;
  gint learning_ms = static_cast<gint>(Motion{}.learning_ms);
  gint warm_up_ms = static_cast<gint>(Motion{}.warm_up_ms);
  gint max_change = Motion{}.max_change;
  gboolean keeps_shadows = FALSE;
  gboolean ignores_chroma = FALSE;
};

void parse(int argc, char** argv, Arguments* a) {
  const GOptionEntry entries[] = {
      {"size", 's', 0, G_OPTION_ARG_STRING, &a->size, "Both even (default: 320x240; with --speed 1920x1080)",
       "WIDTHxHEIGHT"},
      {"seed", 0, 0, G_OPTION_ARG_INT, &a->seed, "Of the sequences (default: 1)", "N"},
      {"method", 'm', 0, G_OPTION_ARG_STRING_ARRAY, &a->methods,
       "Repeatable: sigma-delta, mixture, mog2, knn, cnt; mog2:RATE, knn:RATE, cnt:FRAMES", "NAME"},
      {"model", 0, 0, G_OPTION_ARG_STRING_ARRAY, &a->methods, "The same as --method", "NAME"},
      {"category", 'c', 0, G_OPTION_ARG_STRING_ARRAY, &a->categories,
       "Repeatable (default: all); with --speed a task", "NAME"},
      {"csv", 0, 0, G_OPTION_ARG_FILENAME, &a->csv, "Where to write the figures", "FILE"},
      {"dump", 0, 0, G_OPTION_ARG_FILENAME, &a->dump, "Where to write pictures: frame, truth, masks",
       "FOLDER"},
      {"dump-every", 0, 0, G_OPTION_ARG_INT, &a->dump_every, "Frames between them (default: 25)", "N"},
      {"pictures", 0, 0, G_OPTION_ARG_FILENAME, &a->pictures, "The clips and photographs of opencv-doc",
       "FOLDER"},
      {"speed", 0, 0, G_OPTION_ARG_NONE, &a->is_speed, "Time one thread instead, beside OpenCV", nullptr},
      {"rounds", 'n', 0, G_OPTION_ARG_INT, &a->rounds, "With --speed: timed frames (default: 40)", "N"},
      {"sensitivity", 0, 0, G_OPTION_ARG_INT, &a->sensitivity, "Of this library's models", "0..100"},
      {"learning-ms", 0, 0, G_OPTION_ARG_INT, &a->learning_ms, "Of this library's models", "N"},
      {"warm-up-ms", 0, 0, G_OPTION_ARG_INT, &a->warm_up_ms, "Of this library's models", "N"},
      {"max-change", 0, 0, G_OPTION_ARG_INT, &a->max_change, "Of this library's models", "0..1024"},
      {"keep-shadows", 0, 0, G_OPTION_ARG_NONE, &a->keeps_shadows,
       "Shadows are foreground to this library's models", nullptr},
      {"luma-only", 0, 0, G_OPTION_ARG_NONE, &a->ignores_chroma, "This library's models read no chroma",
       nullptr},
      {}};
  require(read_command_line(argc, argv, "- compares background models with the truth, and with OpenCV's",
                            entries));
}

Motion read_motion(const Arguments& a) {
  return {.sensitivity = static_cast<uint8_t>(a.sensitivity),
          .shadows = a.keeps_shadows == FALSE,
          .learning_ms = static_cast<uint32_t>(a.learning_ms),
          .warm_up_ms = static_cast<uint32_t>(a.warm_up_ms),
          .max_change = static_cast<uint16_t>(a.max_change)};
}

void check(const Options& options) {
  if (options.size.width % 2 != 0 || options.size.height % 2 != 0 || options.size.width < 64 ||
      options.size.height < 64) {
    fail("foreground-bench: --size: both must be even, and at least 64");
  }
  if (options.rounds < 1 || options.dump_every < 1) {
    fail("foreground-bench: --rounds and --dump-every must be at least 1");
  }
}

}  // namespace

Options parse_options(int argc, char** argv) {
  Arguments a;
  parse(argc, argv, &a);
  const Size size = require_size(text(a.size, a.is_speed != FALSE ? "1920x1080" : "320x240"));
  Options options{.size = {static_cast<int>(size.width), static_cast<int>(size.height)},
                  .seed = static_cast<uint32_t>(a.seed),
                  .methods = strings(a.methods),
                  .categories = strings(a.categories),
                  .method_options = {.motion = read_motion(a), .has_chroma = a.ignores_chroma == FALSE},
                  .pictures = text(a.pictures, kPictureFolder),
                  .csv = text(a.csv, ""),
                  .dump = text(a.dump, ""),
                  .dump_every = a.dump_every,
                  .is_speed = a.is_speed != FALSE,
                  .rounds = a.rounds};
  check(options);
  return options;
}

}  // namespace ccl::bench
