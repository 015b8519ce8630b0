// SPDX-License-Identifier: LGPL-2.1-or-later
/// Frames whose metadata is sent to a second process, and that process.
#pragma once

#include <glib.h>

#include <cstdio>
#include <string>

#include "harness.h"

namespace cudaccl::test {

/// The number of components of the last frame of send_dots(); the first one has none.
inline constexpr uint32_t kMostDots = 100;
/// The lines that the receiver prints for each frame: one, and one for each of two elements.
inline constexpr size_t kLinesPerFrame = 3;

/// The name that the second element gives itself, on a launch line.
inline constexpr const char* kSecondName = "\"second\\ \\\"one\\\"\"";

/// A frame of so many components of four pixels; every third one is dark.
Ref<GstBuffer> make_dots(uint32_t count, const std::string& format);

/// The start of a launch line, from appsrc to the second element: the first one, `tracker`, tracks; the
/// second one measures all and has `output`. `upload` is between appsrc and the first one.
std::string dots_line(const std::string& format, const std::string& upload, const std::string& output);

/// Gives the first element its zones and its line. Collects in `sent` what the buffers carry that arrive at
/// the element `sink`; it may be read when the pipeline has stopped.
void prepare_sender(const Pipeline& pipeline, std::string* sent);

/// Expects that `sent` is what both elements say about frames of 0 to kMostDots components.
void expect_dots(const std::string& sent);

/// How often `part` is in `text`.
size_t count(const std::string& text, const std::string& part);

/// A folder for a socket, which is removed with it.
class SocketFolder {
 public:
  SocketFolder();
  ~SocketFolder();
  SocketFolder(const SocketFolder&) = delete;
  SocketFolder& operator=(const SocketFolder&) = delete;

  std::string socket() const { return std::string(folder_.get()) + "/socket"; }

 private:
  Text folder_;
};

/// A process that prints what the buffers carry that it receives: meta_receiver.cpp. It ends with the stream,
/// or ten seconds after the last buffer.
class Receiver {
 public:
  /// `source` is an element with its properties, as on a launch line.
  Receiver(const std::string& source, const char* how);
  ~Receiver();
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;

  /// The next lines that it prints; fewer if it ends before.
  std::string read(size_t n_lines);
  /// All lines that follow. Waits for its end.
  std::string read_rest() { return read(G_MAXSIZE); }
  /// Waits for its end. False if it failed.
  bool finish();

 private:
  GPid pid_ = 0;
  FILE* output_ = nullptr;
  int status_ = -1;
};

}  // namespace cudaccl::test
