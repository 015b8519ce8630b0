// SPDX-License-Identifier: LGPL-2.1-or-later
#include "protocol.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <utility>

namespace ccl::bench {

namespace {

/// The name without the size behind it, with hyphens.
std::string csv_name(const std::string& name) {
  std::string text;
  for (const char c : name.substr(0, name.find_first_of("0123456789"))) {
    if (c == ' ' || c == ',') {
      text += text.empty() || text.back() == '-' ? "" : "-";
    } else {
      text += c;
    }
  }
  while (!text.empty() && text.back() == '-') {
    text.pop_back();
  }
  return text.substr(0, text.find("-seed"));
}

double processor_time_us() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

}  // namespace

std::vector<test::Image> protocol_images(uint32_t width, uint32_t height) {
  constexpr uint32_t kSeed = 1;
  std::vector<test::Image> all;
  for (const std::string& name : noise_names({10, 30, 50, 60, 70, 90})) {
    all.push_back(*draw_noise(name, {width, height}, kSeed));
  }
  for (test::Image& image : test::adversarial_set(width, height)) {
    image.name = csv_name(image.name);
    all.push_back(std::move(image));
  }
  return all;
}

Size require_size(const std::string& text) {
  const std::optional<Size> size = parse_size(text);
  if (!size) {
    fail("a size is WIDTHxHEIGHT, not " + text);
  }
  return *size;
}

void fail(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::exit(EXIT_FAILURE);
}

void require(const Status& status) {
  if (!status.ok()) {
    fail(status.message());
  }
}

Time time(const std::function<void()>& work) {
  const auto wall = std::chrono::steady_clock::now();
  const double cpu = processor_time_us();
  work();
  const std::chrono::duration<double, std::micro> elapsed = std::chrono::steady_clock::now() - wall;
  return {elapsed.count(), processor_time_us() - cpu};
}

Summary summarize(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return {times.front(), times[times.size() / 2]};
}

}  // namespace ccl::bench
