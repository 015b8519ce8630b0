// SPDX-License-Identifier: LGPL-2.1-or-later
/// Rows of measurements as CSV, beneath comment lines that say where they come from.
#pragma once

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "ccl/status.h"
#include "measurement.h"

namespace ccl::bench {

class CsvWriter {
 public:
  CsvWriter() = default;
  CsvWriter(const CsvWriter&) = delete;
  CsvWriter& operator=(const CsvWriter&) = delete;
  ~CsvWriter();

  /// To `file`, or to standard output where it is empty.
  Status open(const std::string& file);
  /// `# key: value` for each of `facts`, then the names of the columns.
  void write_header(const std::vector<std::pair<std::string, std::string>>& facts);
  /// Reaches the file at once: a run that ends early leaves what it has measured.
  Status write(const Row& row);

 private:
  std::FILE* out_ = stdout;
};

}  // namespace ccl::bench
