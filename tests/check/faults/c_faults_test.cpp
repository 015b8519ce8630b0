// SPDX-License-Identifier: LGPL-2.1-or-later
/// The C interface, and the engine behind it, in lives in which memory ends at each possible place.
#include <gtest/gtest.h>

#include "c_life.h"

namespace faults {

namespace {

TEST(CFaultsTest, EachLivesOrFailsOnce) {
  CLife life(CUDACCL_BACKEND_CPU);
  sweep("lives of the C interface", "memory", [&] { return life.live(); });
}

}  // namespace

}  // namespace faults
