// SPDX-License-Identifier: LGPL-2.1-or-later
/// The entry of the targets that read their input as choices.
#include "bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Bytes bytes(data, size);
  fuzz::try_input(&bytes);
  return 0;
}
