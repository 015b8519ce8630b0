// SPDX-License-Identifier: LGPL-2.1-or-later
#include "names.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "ccl/choices.h"
#include "ccl/setting_names.h"

namespace ccl {

namespace {

/// As users write it.
const char* nick_of(std::string_view type, uint32_t value) {
  const auto* choice = std::find_if(std::begin(kLibraryChoices), std::end(kLibraryChoices),
                                    [&](const Choice& c) { return c.type == type && c.value == value; });
  return choice != std::end(kLibraryChoices) ? choice->nick : "unknown";
}

}  // namespace

const char* name_of(Connectivity connectivity) {
  return nick_of("Connectivity", static_cast<uint32_t>(connectivity));
}

const char* name_of(Foreground foreground) {
  return nick_of("Foreground", static_cast<uint32_t>(foreground));
}

const char* name_of(Palette palette) {
  return nick_of("Palette", static_cast<uint32_t>(palette));
}

const char* name_of(Output output) {
  switch (output) {
    case Output::kNone:
      return "none";
    case Output::kColorized:
      return "colorized";
    case Output::kOverlay:
      return "overlay";
    case Output::kLabels:
      return "labels";
    case Output::kMask:
      return "mask";
    case Output::kBackground:
      return "background";
    case Output::kForeground:
      return "foreground";
    case Output::kDistance:
      return "distance";
    case Output::kDistance8:
      return "distance8";
  }
  return "unknown output";
}

void PrintTo(Backend backend, std::ostream* out) {
  *out << (backend == Backend::kCpu ? "CPU" : "CUDA");
}

void PrintTo(Connectivity connectivity, std::ostream* out) {
  *out << name_of(connectivity);
}

void PrintTo(Foreground foreground, std::ostream* out) {
  *out << name_of(foreground);
}

void PrintTo(Palette palette, std::ostream* out) {
  *out << name_of(palette);
}

void PrintTo(Output output, std::ostream* out) {
  *out << name_of(output);
}

void PrintTo(const AlgorithmInfo& info, std::ostream* out) {
  *out << info.nick;
}

void PrintTo(const FrameCounts& counts, std::ostream* out) {
  // A new field does not compile before it is here.
  const auto& [n_labels, n_components, n_iterations, level, relearning, n_removed] = counts;
  *out << "n_labels " << n_labels << ", n_components " << n_components << ", n_iterations " << n_iterations
       << ", level " << level << ", relearning " << relearning << ", ";
  for (uint32_t condition = 0; condition < kFilterConditions; ++condition) {
    *out << "n_removed by " << kFilterConditionNames[condition] << " " << n_removed[condition] << ", ";
  }
}

}  // namespace ccl
