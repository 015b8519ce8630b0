// SPDX-License-Identifier: LGPL-2.1-or-later
/// Storms end as they should, and leak no object that GStreamer's tracer knows.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

#include "harness.h"

namespace cudaccl::test {

namespace {

struct Outcome {
  bool succeeded = false;
  std::string out;
  std::string err;

  /// The tracer prints one line for each leaked object, and the format of such lines, which has a '%'.
  bool has_leaks() const {
    constexpr std::string_view kLine = "object-alive, type-name=(string)";
    for (size_t at = err.find(kLine); at != std::string::npos; at = err.find(kLine, at + 1)) {
      if (err[at + kLine.size()] != '%') {
        return true;
      }
    }
    return false;
  }
};

/// Runs the program of storm/storm.cpp under the leaks tracer.
Outcome run_storm(const char* elements, const char* steps, const char* leak = nullptr) {
  const gchar* argv[] = {std::getenv("CUDACCL_TEST_STORM"), elements, steps, leak, nullptr};
  EXPECT_NE(argv[0], nullptr) << "CUDACCL_TEST_STORM says where the program is";
  gchar** environment = g_get_environ();
  environment = g_environ_setenv(environment, "GST_TRACERS", "leaks", TRUE);
  environment = g_environ_setenv(environment, "GST_DEBUG", "GST_TRACER:7", TRUE);
  environment = g_environ_setenv(environment, "GST_DEBUG_NO_COLOR", "1", TRUE);
  environment = g_environ_unsetenv(environment, "GST_DEBUG_FILE");
  gchar* raw_out = nullptr;
  gchar* raw_err = nullptr;
  gint status = -1;
  const gboolean started = g_spawn_sync(nullptr, const_cast<gchar**>(argv), environment, G_SPAWN_DEFAULT,
                                        nullptr, nullptr, &raw_out, &raw_err, &status, nullptr);
  g_strfreev(environment);
  const Text out(raw_out);
  const Text err(raw_err);
  return {started && status == 0, out ? out.get() : "", err ? err.get() : ""};
}

void expect_clean(const Outcome& run) {
  EXPECT_TRUE(run.succeeded) << run.err;
  EXPECT_NE(run.out.find("done"), std::string::npos);
  EXPECT_FALSE(run.has_leaks()) << run.err;
}

}  // namespace

TEST(Storm, OfOneElement) {
  expect_clean(run_storm("1", "150"));
}

TEST(Storm, OfAHundredElements) {
  expect_clean(run_storm("100", "10"));
}

/// A buffer that is leaked on purpose is reported.
TEST(Storm, ALeakIsReported) {
  const Outcome run = run_storm("1", "0", "leak");
  EXPECT_TRUE(run.has_leaks()) << run.err;
}

}  // namespace cudaccl::test
