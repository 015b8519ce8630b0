// SPDX-License-Identifier: LGPL-2.1-or-later
/// Prints the library's table of algorithms for tests in Python: "NICK NUMBER BACKEND...", and whether this
/// build has the CUDA part.
#include <cstdio>

#include "ccl/engine.h"

int main() {
  std::printf("device: %s\n", ccl::has_device_engine() ? "yes" : "no");
  for (const ccl::AlgorithmInfo& info : ccl::algorithms()) {
    std::printf("%s %d", info.nick, static_cast<int>(info.algorithm));
    for (const ccl::Backend backend : {ccl::Backend::kCpu, ccl::Backend::kCuda}) {
      std::printf("%s%s", info.runs_on(backend) ? " " : "",
                  info.runs_on(backend) ? ccl::backend_name(backend) : "");
    }
    std::printf("\n");
  }
}
