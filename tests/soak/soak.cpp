// SPDX-License-Identifier: LGPL-2.1-or-later
/// Plays live pipelines for as long as is asked, to see whether anything grows or gets slower. Each minute it
/// writes a line of CSV: what the process holds, and how long frames stayed in the element where
/// nothing but the element makes them wait.
///
///     soak --minutes 60 --streams 4 > soak.csv
///     soak --minutes 25 --streams 32 --backend cuda > soak.csv
///
/// All streams find what moves, track it in zones and across a line, measure all features, post messages, and
/// write their records as JSON lines. Some lie in other memory or are drawn, one changes its size every five
/// seconds, and downstream of one stalls for two seconds now and then. tests/benchmarks/report/soak.py
/// judges.
#include <gst/gst.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "command_line.h"
#include "gpu.h"
#include "machine.h"
#include "stream.h"

namespace cudaccl::soak {

namespace {

/// What the process holds now.
struct Holdings {
  uint64_t rss_kb;
  uint64_t descriptors;
  uint64_t threads;
};

uint64_t count_entries(const char* folder) {
  const std::filesystem::directory_iterator all(folder);
  return static_cast<uint64_t>(std::distance(begin(all), end(all)));
}

Holdings holdings() {
  std::ifstream file("/proc/self/statm");
  uint64_t all = 0;
  uint64_t resident = 0;
  file >> all >> resident;
  return {.rss_kb = resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) / 1024,
          .descriptors = count_entries("/proc/self/fd"),
          .threads = count_entries("/proc/self/task")};
}

struct Options {
  gchar* backend = nullptr;
  gdouble minutes = 1;
  gint streams = 4;
  gint every = 60;
  gint leak = 0;
};

float percentile(const std::vector<float>& sorted, double part) {
  return sorted.empty() ? 0 : sorted[static_cast<size_t>(part * static_cast<double>(sorted.size() - 1))];
}

class Soak {
 public:
  Soak(const Options& options, const Gpu& gpu) : options_(options), gpu_(gpu) {
    const std::string backend = ccl::bench::text(options.backend, "cpu");
    for (uint32_t i = 0; i < static_cast<uint32_t>(options.streams); ++i) {
      streams_.push_back(std::make_unique<Stream>(i, backend, &totals_));
    }
  }

  void run() {
    std::printf("minutes,frames,p50_ms,p99_ms,p999_ms,rss_kb,gpu_kb,descriptors,threads,events,messages\n");
    const Clock::time_point start = Clock::now();
    const auto n_rows = static_cast<uint32_t>(options_.minutes * 60 / options_.every);
    for (uint32_t row = 1; row <= n_rows; ++row) {
      const Clock::time_point due = start + row * std::chrono::seconds(options_.every);
      while (Clock::now() < due) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        tick(start);
      }
      write_row(row);
    }
  }

 private:
  void tick(Clock::time_point start) {
    for (const auto& stream : streams_) {
      stream->listen();
    }
    const auto phase = static_cast<uint32_t>((Clock::now() - start) / std::chrono::seconds(5));
    if (phase != upset_phase_) {
      upset_phase_ = phase;
      for (const auto& stream : streams_) {
        stream->upset();
      }
    }
  }

  void write_row(uint32_t row) {
    uint64_t n_frames = 0;
    for (const auto& stream : streams_) {
      n_frames += stream->take_frames();
    }
    uint64_t n_messages = 0;
    totals_.take(&latencies_ms_, &n_messages);
    std::sort(latencies_ms_.begin(), latencies_ms_.end());
    leaked_.emplace_back(n_frames * static_cast<size_t>(options_.leak), 1);
    const Holdings now = holdings();
    std::printf("%.2f,%lu,%.3f,%.3f,%.3f,%lu,%lu,%lu,%lu,%lu,%lu\n", row * options_.every / 60.0, n_frames,
                percentile(latencies_ms_, 0.5), percentile(latencies_ms_, 0.99),
                percentile(latencies_ms_, 0.999), now.rss_kb, gpu_.used_kb(), now.descriptors, now.threads,
                totals_.n_events.exchange(0), n_messages);
    std::fflush(stdout);
  }

  const Options& options_;
  const Gpu& gpu_;
  Totals totals_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::vector<float> latencies_ms_;
  std::vector<std::vector<uint8_t>> leaked_;  ///< by row, so that no memory is given back
  uint32_t upset_phase_ = 0;
};

Options parse(int argc, char** argv) {
  Options options;
  const GOptionEntry entries[] = {
      {"minutes", 'm', 0, G_OPTION_ARG_DOUBLE, &options.minutes, "How long (default: 1)", "MINUTES"},
      {"streams", 's', 0, G_OPTION_ARG_INT, &options.streams, "How many (default: 4)", "N"},
      {"backend", 'b', 0, G_OPTION_ARG_STRING, &options.backend, "cpu or cuda (default: cpu)", "BACKEND"},
      {"every", 'e', 0, G_OPTION_ARG_INT, &options.every, "Time of a line (default: 60)", "SECONDS"},
      {"leak", 0, 0, G_OPTION_ARG_INT, &options.leak, "Keep so much for each frame, to see it in the result",
       "BYTES"},
      {}};
  const ccl::Status status = ccl::bench::read_command_line(
      argc, argv, "- plays live pipelines and writes what they hold", entries, gst_init_get_option_group());
  if (!status.ok()) {
    fail(status.message());
  }
  if (options.streams < 1 || options.every < 1 || options.leak < 0 || options.minutes * 60 < options.every) {
    fail("it wants one stream and one line at least; --help says more");
  }
  return options;
}

}  // namespace

}  // namespace cudaccl::soak

int main(int argc, char** argv) {
  using namespace cudaccl::soak;
  g_setenv("GST_PLUGIN_PATH_1_0", CUDACCL_PLUGIN_FOLDER, FALSE);
  const Options options = parse(argc, argv);
  const Gpu gpu;
  ccl::bench::Facts facts = ccl::bench::machine_facts("", argc, argv);
  if (ccl::bench::text(options.backend) == "cuda") {
    facts.insert(facts.end(), gpu.facts().begin(), gpu.facts().end());
  }
  for (const auto& [name, value] : facts) {
    std::printf("# %s: %s\n", name.c_str(), value.c_str());
  }
  Soak(options, gpu).run();
  return EXIT_SUCCESS;
}
