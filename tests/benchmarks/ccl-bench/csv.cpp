// SPDX-License-Identifier: LGPL-2.1-or-later
#include "csv.h"

#include <cerrno>
#include <cmath>
#include <cstring>

namespace ccl::bench {

namespace {

/// Empty where nothing was timed.
std::string microseconds(float value) {
  if (std::isnan(value)) {
    return "";
  }
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f", value);
  return text;
}

}  // namespace

CsvWriter::~CsvWriter() {
  if (out_ != stdout) {
    std::fclose(out_);
  }
}

Status CsvWriter::open(const std::string& file) {
  if (file.empty()) {
    return {};
  }
  std::FILE* opened = std::fopen(file.c_str(), "w");
  if (opened == nullptr) {
    return {StatusCode::kInvalidArgument, file + ": " + std::strerror(errno)};
  }
  out_ = opened;
  return {};
}

void CsvWriter::write_header(const std::vector<std::pair<std::string, std::string>>& facts) {
  for (const auto& [key, value] : facts) {
    std::fprintf(out_, "# %s: %s\n", key.c_str(), value.c_str());
  }
  std::fputs(
      "backend,algorithm,mode,output,features,connectivity,image,width,height,components,min_us,median_us,"
      "repetitions,iterations\n",
      out_);
}

Status CsvWriter::write(const Row& row) {
  const Times& times = row.times;
  const float minimum = times.empty() ? kNotTimed : *std::min_element(times.begin(), times.end());
  std::fprintf(out_, "%s,%s,%s,%s,%s,%u,%s,%u,%u,%s,%s,%s,%zu,%s\n", row.backend.c_str(),
               row.algorithm.c_str(), row.mode.c_str(), row.output.c_str(), row.features.c_str(),
               row.connectivity, row.image.c_str(), row.width, row.height,
               row.components < 0 ? "" : std::to_string(row.components).c_str(),
               microseconds(minimum).c_str(), microseconds(median(times)).c_str(), times.size(),
               row.iterations == 0 ? "" : std::to_string(row.iterations).c_str());
  return std::fflush(out_) == 0 ? Status{}
                                : Status{StatusCode::kInvalidArgument, "the CSV cannot be written"};
}

}  // namespace ccl::bench
