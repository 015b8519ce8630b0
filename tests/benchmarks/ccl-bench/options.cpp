// SPDX-License-Identifier: LGPL-2.1-or-later
#include "options.h"

#include <optional>
#include <utility>

#include "ccl/algorithm.h"
#include "ccl/engine.h"
#include "command_line.h"

namespace ccl::bench {

namespace {

template <typename T>
using Named = std::pair<const char*, T>;

constexpr Named<Size> kSizes[] = {{"720p", {1280, 720}},
                                  {"1080p", {1920, 1080}},
                                  {"2048", {2048, 2048}},
                                  {"4k", {3840, 2160}},
                                  {"8192", {8192, 8192}}};
constexpr Named<Mode> kModes[] = {
    {"graph", Mode::kGraph}, {"engine", Mode::kEngine}, {"label", Mode::kLabel}};
constexpr Named<Output> kOutputs[] = {{"none", Output::kNone},
                                      {"colorized", Output::kColorized},
                                      {"overlay", Output::kOverlay},
                                      {"labels", Output::kLabels},
                                      {"mask", Output::kMask}};
constexpr Named<uint32_t> kFeatures[] = {{"basic", 0}, {"all", kAllFeatures}};
constexpr Named<Backend> kBackends[] = {{"cpu", Backend::kCpu}, {"cuda", Backend::kCuda}};

Status refuse(const std::string& message) {
  return {StatusCode::kInvalidArgument, message};
}

template <typename Table, typename T>
Status look_up(const Table& table, const std::string& option, const std::string& name, T* value) {
  std::string known;
  for (const auto& [known_name, known_value] : table) {
    if (name == known_name) {
      *value = known_value;
      return {};
    }
    known += (known.empty() ? "" : ", ") + std::string(known_name);
  }
  return refuse(option + " knows " + known + "; not " + name);
}

template <typename Table, typename T>
const char* name_in(const Table& table, T value) {
  for (const auto& [name, known] : table) {
    if (known == value) {
      return name;
    }
  }
  return "?";
}

/// Adds what each of `names` stands for to `values`, or `defaults` where there are no names.
template <typename Table, typename T>
Status look_up_all(const Table& table, const std::string& option, gchar** names, std::vector<T> defaults,
                   std::vector<T>* values) {
  for (gchar** name = names; name != nullptr && *name != nullptr; ++name) {
    T value{};
    CCL_RETURN_IF_ERROR(look_up(table, option, *name, &value));
    values->push_back(value);
  }
  if (values->empty()) {
    *values = std::move(defaults);
  }
  return {};
}

/// The command line as GLib reads it, before anything is looked up.
struct Raw {
  gchar* backend = nullptr;
  gchar** sizes = nullptr;
  gchar** algorithms = nullptr;
  gchar** modes = nullptr;
  gchar** outputs = nullptr;
  gchar** features = nullptr;
  gint connectivity = 8;
  gdouble separate = 0;
  gchar** images = nullptr;
  gint repetitions = 30;
  gint budget = 20;
  gboolean no_floor = FALSE;
  gboolean no_peers = FALSE;
  gchar* csv = nullptr;
  gchar* dump_images = nullptr;
  gchar* commit = nullptr;
};

Status read_raw(int argc, char** argv, Raw* raw) {
  const GOptionArg kStrings = G_OPTION_ARG_STRING_ARRAY;
  const GOptionEntry entries[] = {
      {"backend", 'b', 0, G_OPTION_ARG_STRING, &raw->backend, "cpu or cuda (default: cpu)", "NAME"},
      {"size", 's', 0, kStrings, &raw->sizes, "720p, 1080p, 2048, 4k, 8192 or WxH (default: 1080p)*", "SIZE"},
      {"algorithm", 'a', 0, kStrings, &raw->algorithms, "default: all of the backend*", "NICK"},
      {"mode", 'm', 0, kStrings, &raw->modes,
       "graph, engine or label, the labelling stage alone (default: graph; on the CPU engine)*", "NAME"},
      {"output", 'o', 0, kStrings, &raw->outputs,
       "none, colorized, overlay, labels or mask (default: colorized)*", "NAME"},
      {"features", 'f', 0, kStrings, &raw->features, "basic or all (default: basic)*", "NAME"},
      {"connectivity", 'c', 0, G_OPTION_ARG_INT, &raw->connectivity, "4 or 8 (default: 8)", "N"},
      {"separate", 0, 0, G_OPTION_ARG_DOUBLE, &raw->separate,
       "Cut objects that touch, as the property separate; 0 to 1 (default: 0)", "N"},
      {"images", 'i', 0, kStrings, &raw->images, "short, all, or an image's name (default: short)*", "NAME"},
      {"repetitions", 'n', 0, G_OPTION_ARG_INT, &raw->repetitions, "At most; default: 30", "N"},
      {"budget", 0, 0, G_OPTION_ARG_INT, &raw->budget,
       "Milliseconds for one row's repetitions: slow ones get fewer, at least 1 (default: 20)", "MS"},
      {"no-floor", 0, 0, G_OPTION_ARG_NONE, &raw->no_floor, "Leave out the floor", nullptr},
      {"no-peers", 0, 0, G_OPTION_ARG_NONE, &raw->no_peers, "Leave out NVIDIA NPP", nullptr},
      {"csv", 0, 0, G_OPTION_ARG_FILENAME, &raw->csv, "Where to write (default: standard output)", "FILE"},
      {"dump-images", 0, 0, G_OPTION_ARG_FILENAME, &raw->dump_images,
       "Write the images there as PGM files, and end", "FOLDER"},
      {"commit", 0, 0, G_OPTION_ARG_STRING, &raw->commit, "The sources' commit, for the CSV", "ID"},
      {}};
  return read_command_line(argc, argv,
                           "- times the labelers\n\nOptions marked * may be given more than once.", entries);
}

Status look_up_size(const std::string& name, Size* size) {
  if (const std::optional<Size> parsed = parse_size(name)) {
    *size = *parsed;
    return validate(Config{.width = size->width, .height = size->height, .layout = {}});
  }
  return look_up(kSizes, "--size WxH, or a name: it", name, size);
}

Status look_up_sizes(const Raw& raw, Options* options) {
  for (const std::string& name : strings(raw.sizes)) {
    Size size{};
    CCL_RETURN_IF_ERROR(look_up_size(name, &size));
    options->sizes.push_back(size);
  }
  if (options->sizes.empty()) {
    options->sizes = {{1920, 1080}};
  }
  return {};
}

Status look_up_algorithms(const Raw& raw, Options* options) {
  std::vector<Named<AlgorithmInfo>> known;
  std::vector<AlgorithmInfo> all;
  for (const AlgorithmInfo& info : algorithms()) {
    if (info.runs_on(options->backend) && info.algorithm != Algorithm::kAuto) {
      known.emplace_back(info.nick, info);
      all.push_back(info);
    }
  }
  return look_up_all(known, "--algorithm", raw.algorithms, std::move(all), &options->algorithms);
}

Status check_numbers(const Raw& raw) {
  if (raw.connectivity != 4 && raw.connectivity != 8) {
    return refuse("--connectivity is 4 or 8");
  }
  if (!(raw.separate >= 0 && raw.separate <= 1)) {
    return refuse("--separate is 0 to 1");
  }
  if (raw.repetitions < 1 || raw.budget < 0) {
    return refuse("--repetitions wants at least 1, --budget at least 0");
  }
  return {};
}

void take_plain(const Raw& raw, Options* options) {
  options->connectivity = raw.connectivity == 4 ? Connectivity::k4 : Connectivity::k8;
  options->separation.neck = fixed_point(raw.separate, 1024);
  options->images = strings(raw.images);
  if (options->images.empty()) {
    options->images = {"short"};
  }
  options->repetitions = raw.repetitions;
  options->budget_us = static_cast<float>(raw.budget) * 1000;
  options->with_floor = !raw.no_floor;
  options->with_peers = !raw.no_peers;
  options->csv = text(raw.csv);
  options->dump_images = text(raw.dump_images);
  options->commit = text(raw.commit);
}

}  // namespace

Status parse_options(int argc, char** argv, Options* options) {
  Raw raw;
  CCL_RETURN_IF_ERROR(read_raw(argc, argv, &raw));
  CCL_RETURN_IF_ERROR(check_numbers(raw));
  take_plain(raw, options);
  if (raw.backend != nullptr) {
    CCL_RETURN_IF_ERROR(look_up(kBackends, "--backend", raw.backend, &options->backend));
  }
  const bool is_cpu = options->backend == Backend::kCpu;
  const std::vector<Mode> modes{is_cpu ? Mode::kEngine : Mode::kGraph};
  CCL_RETURN_IF_ERROR(look_up_sizes(raw, options));
  CCL_RETURN_IF_ERROR(look_up_algorithms(raw, options));
  CCL_RETURN_IF_ERROR(look_up_all(kModes, "--mode", raw.modes, modes, &options->modes));
  CCL_RETURN_IF_ERROR(
      look_up_all(kOutputs, "--output", raw.outputs, {Output::kColorized}, &options->outputs));
  CCL_RETURN_IF_ERROR(look_up_all(kFeatures, "--features", raw.features, {0}, &options->features));
  if (is_cpu && options->modes != modes) {
    return refuse("--mode on the CPU is engine");
  }
  return {};
}

const char* mode_name(Mode mode) {
  return name_in(kModes, mode);
}

const char* output_name(Output output) {
  return name_in(kOutputs, output);
}

const char* features_name(uint32_t features) {
  return name_in(kFeatures, features);
}

Config config_of(const Size& size, Output output) {
  return {.width = size.width,
          .height = size.height,
          .algorithm = Algorithm::kRuns,
          .output = output,
          .layout = {}};
}

Row row_of(const Config& config, const std::string& backend, const std::string& algorithm,
           const std::string& mode, const std::string& image) {
  return {.backend = backend,
          .algorithm = algorithm,
          .mode = mode,
          .output = output_name(config.output),
          .features = features_name(kAllFeatures),
          .connectivity = 8,
          .image = image,
          .width = config.width,
          .height = config.height};
}

}  // namespace ccl::bench
