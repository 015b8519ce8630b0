// SPDX-License-Identifier: LGPL-2.1-or-later
/// The documents in regions.txt, good and bad.
#pragma once

#include <string>
#include <vector>

namespace ccl::test {

struct RegionCase {
  std::string path;
  std::string text;
  std::string reason;  ///< a part of the reason why it is refused; empty: it is good
};

const std::vector<RegionCase>& region_corpus();
/// The document with this file name.
const RegionCase& region_case(const std::string& name);

}  // namespace ccl::test
