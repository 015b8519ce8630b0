// SPDX-License-Identifier: LGPL-2.1-or-later
#include "region_corpus.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace ccl::test {

namespace {

namespace fs = std::filesystem;

/// The documents of regions.txt, each in a file of its own as long as the program runs.
struct Corpus {
  Corpus() : folder(fs::temp_directory_path() / ("cudaccl-regions-" + std::to_string(getpid()))) {
    std::ifstream file(REGION_CORPUS);
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with("= ")) {
        const size_t blank = std::min(line.find(' ', 2), line.size());
        cases.push_back(
            {folder / line.substr(2, blank - 2), "", blank < line.size() ? line.substr(blank + 1) : ""});
      } else if (!cases.empty()) {
        std::string* text = &cases.back().text;
        *text += (text->empty() ? "" : "\n") + line;
      }
    }
    if (cases.empty()) {
      throw std::runtime_error(REGION_CORPUS " has no documents");
    }
    fs::create_directory(folder);
    for (RegionCase& c : cases) {
      const std::string stand_in = "\xef\xbf\xbd";  // of a byte that is not UTF-8
      if (const size_t at = c.text.find(stand_in); at != std::string::npos) {
        c.text.replace(at, stand_in.size(), "\xc3");
      }
      std::ofstream(c.path, std::ios::binary) << c.text;
    }
  }
  ~Corpus() { fs::remove_all(folder); }

  fs::path folder;
  std::vector<RegionCase> cases;
};

}  // namespace

const std::vector<RegionCase>& region_corpus() {
  static const Corpus corpus;
  return corpus.cases;
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
