// SPDX-License-Identifier: LGPL-2.1-or-later
// Compiled without exceptions: only so is the handler called in place of the unwinder, and not by it.
#include "without_gil.h"

#include <pthread.h>
#include <unistd.h>

namespace cudaccl_python {

namespace {

void wait_for_the_end(void*) {
  for (;;) {
    pause();
  }
}

}  // namespace

void take_gil(PyThreadState* state) {
  pthread_cleanup_push(wait_for_the_end, nullptr);
  PyEval_RestoreThread(state);
  pthread_cleanup_pop(0);
}

}  // namespace cudaccl_python
