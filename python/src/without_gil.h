// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <Python.h>

namespace cudaccl_python {

/// As PyEval_RestoreThread(). But before version 3.14, Python ends a daemon thread by pthread_exit() if the
/// interpreter ends meanwhile, which no C++ function survives: the process would abort. Here such a thread
/// waits for the end of the process, as it does in later versions.
void take_gil(PyThreadState* state);

/// Releases the GIL for its life.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  ~WithoutGil() { take_gil(state_); }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

}  // namespace cudaccl_python
