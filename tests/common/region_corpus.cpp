// SPDX-License-Identifier: LGPL-2.1-or-later
#include "region_corpus.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace ccl::test {

namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw std::runtime_error(path + " cannot be read");
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<RegionCase> read_corpus() {
  const std::string folder = REGION_CORPUS;
  std::ifstream verdicts(folder + "/verdicts.txt");
  std::vector<RegionCase> cases;
  for (std::string line; std::getline(verdicts, line);) {
    if (line.front() == '#') {
      continue;
    }
    const std::string path = folder + "/" + line.substr(0, line.find(' '));
    const size_t blank = std::min(line.find(' '), line.size() - 1);
    cases.push_back({path, text_of(path), blank + 1 < line.size() ? line.substr(blank + 1) : ""});
  }
  if (cases.empty()) {
    throw std::runtime_error(folder + " has no verdicts");
  }
  return cases;
}

}  // namespace

const std::vector<RegionCase>& region_corpus() {
  static const std::vector<RegionCase> corpus = read_corpus();
  return corpus;
}

const RegionCase& region_case(const std::string& name) {
  for (const RegionCase& c : region_corpus()) {
    if (c.path.ends_with("/" + name)) {
      return c;
    }
  }
  throw std::runtime_error(name + " is not in the corpus");
}

}  // namespace ccl::test
