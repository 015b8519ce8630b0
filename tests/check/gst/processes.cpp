// SPDX-License-Identifier: LGPL-2.1-or-later
#include "processes.h"

#include <glib/gstdio.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>

#include "meta_dump.h"

namespace cudaccl::test {

namespace {

constexpr uint32_t kWidth = 64;
constexpr uint32_t kHeight = 48;

constexpr const char* kRegions = R"({"version": 1,
  "zones": [{"name": "12", "polygon": [[0, 0], [1, 0], [1, 1], [0, 1]], "crowd": 7},
            {"name": "a \"b\", <c>; d = \\ Straße", "polygon": [[0, 0], [0.5, 0], [0.5, 1]]}],
  "lines": [{"name": "gate", "from": [0.5, 0], "to": [0.5, 1]}]})";

GstPadProbeReturn add_dump(GstPad*, GstPadProbeInfo* info, gpointer text) {
  *static_cast<std::string*>(text) += dump_metas(GST_PAD_PROBE_INFO_BUFFER(info));
  return GST_PAD_PROBE_OK;
}

}  // namespace

Ref<GstBuffer> make_dots(uint32_t count, const std::string& format) {
  Image image = blank(kWidth, kHeight);
  for (uint32_t i = 0; i < count; ++i) {
    for (uint32_t j = 0; j < 4; ++j) {
      image.at(i % 20 * 3 + j % 2, i / 20 * 3 + j / 2) = i % 3 == 0 ? 90 : 255;
    }
  }
  return make_frame(image, format);
}

std::string dots_line(const std::string& format, const std::string& upload, const std::string& output) {
  return "appsrc name=in format=time max-bytes=0 caps=\"" + caps_text(format, kWidth, kHeight) + "\" ! " +
         upload + "cudaccl name=tracker track=true threshold=1 output=passthrough backend=" + backend() +
         " ! cudaccl meta-name=" + kSecondName +
         " threshold=200 features=moments+grey+hull output=" + output + " backend=" + backend() + " ! ";
}

void prepare_sender(const Pipeline& pipeline, std::string* sent) {
  g_object_set(pipeline.element("tracker").get(), "regions", kRegions, nullptr);
  const Ref<GstPad> pad(gst_element_get_static_pad(pipeline.element("sink").get(), "sink"));
  gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_BUFFER, add_dump, sent, nullptr);
}

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) {
    ++n;
  }
  return n;
}

void expect_dots(const std::string& sent) {
  EXPECT_EQ(count(sent, "second \\\"one"), kMostDots + 1);
  EXPECT_EQ(count(sent, " vertices "), kMostDots + 1);
  EXPECT_GT(count(sent, " zones \"12\""), 0u);
  for (uint32_t i = 0; i <= kMostDots; ++i) {
    const std::string n = std::to_string(i);
    std::string line = "\"tracker\" frame ";
    line.append(n).append(" 64x48 ").append(n).append(" 000 0 tracked ").append(n).append(" comp");
    EXPECT_EQ(count(sent, line), 1u) << i;
  }
}

SocketFolder::SocketFolder() : folder_(g_dir_make_tmp("cudaccl-XXXXXX", nullptr)) {}

SocketFolder::~SocketFolder() {
  g_unlink(socket().c_str());
  g_rmdir(folder_.get());
}

Receiver::Receiver(const std::string& source, const char* how) {
  const gchar* program = g_getenv("CUDACCL_TEST_META_RECEIVER");
  if (program == nullptr) {
    ADD_FAILURE() << "CUDACCL_TEST_META_RECEIVER is not set: run it with meson test";
    return;
  }
  const gchar* argv[] = {program, source.c_str(), how, nullptr};
  gint output = -1;
  GError* raw = nullptr;
  const gboolean started =
      g_spawn_async_with_pipes(nullptr, const_cast<gchar**>(argv), nullptr, G_SPAWN_DO_NOT_REAP_CHILD,
                               nullptr, nullptr, &pid_, nullptr, &output, nullptr, &raw);
  const Error error(raw);
  if (!started) {
    ADD_FAILURE() << error->message;
    return;
  }
  output_ = fdopen(output, "r");
}

Receiver::~Receiver() {
  finish();
}

std::string Receiver::read(size_t n_lines) {
  std::string text;
  char* line = nullptr;
  size_t capacity = 0;
  for (size_t i = 0; output_ != nullptr && i < n_lines && getline(&line, &capacity, output_) > 0; ++i) {
    text += line;
  }
  std::free(line);
  return text;
}

bool Receiver::finish() {
  if (output_ != nullptr) {
    read_rest();  // so that it does not wait for its reader
    std::fclose(output_);
    output_ = nullptr;
    waitpid(pid_, &status_, 0);
    g_spawn_close_pid(pid_);
  }
  return status_ == 0;
}

}  // namespace cudaccl::test
