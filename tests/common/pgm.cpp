// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pgm.h"

#include <fstream>
#include <istream>

#include "ccl/config.h"

namespace ccl::test {

namespace {

Status fault(const std::string& file, const std::string& what) {
  return {StatusCode::kInvalidArgument, file + ": " + what};
}

/// The header's next number; 0 where there is none. A comment goes from # to the end of its line.
uint32_t next_number(std::istream& in) {
  std::string line;
  while ((in >> std::ws).peek() == '#') {
    std::getline(in, line);
  }
  uint32_t number = 0;
  in >> number;
  return in ? number : 0;
}

}  // namespace

Status read_pgm(const std::string& file, Image* image) {
  std::ifstream in(file, std::ios::binary);
  std::string magic;
  if (!(in >> magic) || magic != "P5") {
    return fault(file, "not a binary PGM file");
  }
  const uint32_t width = next_number(in);
  const uint32_t height = next_number(in);
  const uint32_t maximum = next_number(in);
  in.get();
  if (maximum != 255) {
    return fault(file, "a PGM file of 8 bits a pixel is wanted");
  }
  if (const Status status = validate(Config{.width = width, .height = height, .layout = {}}); !status.ok()) {
    return fault(file, status.message());
  }
  *image = test::plain(file, width, height);
  if (!in.read(reinterpret_cast<char*>(image->memory.data()),
               static_cast<std::streamsize>(image->memory.size()))) {
    return fault(file, "ends early");
  }
  return {};
}

Status write_pgm(const std::string& file, const Image& image) {
  std::ofstream out(file, std::ios::binary);
  out << "P5\n" << image.width << ' ' << image.height << "\n255\n";
  for (uint32_t y = 0; y < image.height; ++y) {
    out.write(reinterpret_cast<const char*>(image.pixels() + y * image.stride), image.width);
  }
  out.flush();
  return out ? Status{} : fault(file, "cannot be written");
}

}  // namespace ccl::test
