// SPDX-License-Identifier: LGPL-2.1-or-later
/// The command line of `ccl-bench paper`.
#include <cstdio>
#include <map>

#include "command_line.h"
#include "laboratory.h"

namespace ccl::bench {

namespace {

using Experiment = Status (*)(Laboratory*);

const std::map<std::string, Experiment>& experiments() {
  static const std::map<std::string, Experiment> kExperiments = {
      {"kalentev", run_kalentev}, {"oliveira", run_oliveira}, {"dlp", run_dlp}, {"stava", run_stava}};
  return kExperiments;
}

Status refuse(const std::string& message) {
  return {StatusCode::kInvalidArgument, message};
}

Status parse(int argc, char** argv, PaperOptions* options) {
  gboolean cpu_only = FALSE;
  gboolean small = FALSE;
  gint threads = static_cast<gint>(options->threads);
  gchar* natural = nullptr;
  gchar* csv = nullptr;
  gchar* commit = nullptr;
  gchar** papers = nullptr;
  const GOptionEntry entries[] = {
      {"cpu-only", 0, 0, G_OPTION_ARG_NONE, &cpu_only, "Leave out the GPU's part", nullptr},
      {"small", 0, 0, G_OPTION_ARG_NONE, &small, "Images of a sixteenth of the pixels", nullptr},
      {"threads", 0, 0, G_OPTION_ARG_INT, &threads, "Of the CPU's labelers that have several (default: 4)",
       "N"},
      {"natural", 0, 0, G_OPTION_ARG_FILENAME, &natural, "Images made by natural-images", "FOLDER"},
      {"csv", 0, 0, G_OPTION_ARG_FILENAME, &csv, "Where to write what is found", "FILE"},
      {"commit", 0, 0, G_OPTION_ARG_STRING, &commit, "The sources' commit, for the CSV", "ID"},
      {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_STRING_ARRAY, &papers, nullptr,
       "paper kalentev|oliveira|dlp|stava"},
      {}};
  CCL_RETURN_IF_ERROR(read_command_line(argc, argv, "- repeats a paper's experiments", entries));
  if (papers == nullptr || papers[1] != nullptr || !experiments().contains(papers[0])) {
    return refuse("paper wants one of kalentev, oliveira, dlp, stava");
  }
  if (threads < 1 || static_cast<uint32_t>(threads) > kMaxThreads) {
    return refuse("--threads is 1 to " + std::to_string(kMaxThreads));
  }
  *options = {.paper = papers[0],
              .on_gpu = cpu_only == FALSE,
              .small = small != FALSE,
              .threads = static_cast<uint32_t>(threads),
              .natural = text(natural),
              .csv = text(csv),
              .commit = text(commit)};
  return {};
}

}  // namespace

Status run_paper(int argc, char** argv) {
  PaperOptions options;
  CCL_RETURN_IF_ERROR(parse(argc - 1, argv + 1, &options));
  Laboratory laboratory(options);
  CCL_RETURN_IF_ERROR(laboratory.open(argc, argv));
  return experiments().at(options.paper)(&laboratory);
}

}  // namespace ccl::bench
