// SPDX-License-Identifier: LGPL-2.1-or-later
#include "machine.h"

#include <ctime>
#include <filesystem>

#include "commit.h"
#include "common.h"

namespace ccl::bench {

namespace {

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%d", std::gmtime(&now));
  return text;
}

std::string command_line(int argc, const char* const* argv) {
  std::string line;
  for (int i = 0; i < argc; ++i) {
    const std::string word = argv[i];
    const bool is_path = word.find('/') != std::string::npos;
    line += (i > 0 ? " " : "");
    line += (is_path ? std::filesystem::path(word).filename().string() : word);
  }
  return line;
}

}  // namespace

Facts machine_facts(const std::string& commit, int argc, const char* const* argv) {
  return {
      {"command", command_line(argc, argv)},
      {"date", today()},
      {"commit", commit.empty() ? kCommit : commit},
      {"cpu", processor_name()},
      {"compiler", "C++ " __VERSION__},
  };
}

}  // namespace ccl::bench
