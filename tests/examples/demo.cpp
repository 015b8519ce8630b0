// SPDX-License-Identifier: LGPL-2.1-or-later
/// Labels a clip and reports what it found. The first pass only decodes and labels, for the speed and the
/// records; the second pass writes a video and stills:
///
///     demo clip.avi foreground=motion open-radius=1 close-radius=3 min-area=150
///
/// What follows the clip are properties of cudaccl, as on a launch line.
#include <gst/app/gstappsink.h>
#include <gst/gst.h>
#include <gst/pbutils/pbutils.h>
#include <gst/video/video.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "cudaccl/gstcudacclmeta.h"
#include "examples.h"

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// What the first pass finds out.
struct Findings {
  int width = 0, height = 0;
  guint64 frames = 0, components = 0;
  double wall_seconds = 0;     // decoding and labelling
  double element_seconds = 0;  // inside cudaccl alone: from its sink pad to its source pad
  std::string backend, device;
  GstCudaCclInfo last{};              // of the last frame, except its records, which are
  std::vector<CclComponent> records;  // copied here
  guint64 best_frame = 0;             // the one with the most components: it makes the best still
  guint best_count = 0;

  Clock::time_point entered;  // when the frame in hand came to the sink pad
};

GstPadProbeReturn frame_enters(GstPad*, GstPadProbeInfo*, gpointer data) {
  static_cast<Findings*>(data)->entered = Clock::now();
  return GST_PAD_PROBE_OK;
}

GstPadProbeReturn frame_leaves(GstPad*, GstPadProbeInfo* probe, gpointer data) {
  auto* findings = static_cast<Findings*>(data);
  findings->element_seconds += seconds_since(findings->entered);
  if (GstCudaCclInfo info; gst_buffer_get_cudaccl_info(GST_PAD_PROBE_INFO_BUFFER(probe), &info)) {
    findings->last = info;
    findings->records.assign(info.records, info.records + info.n_records);
    findings->components += info.n_components;
    if (info.n_components > findings->best_count) {
      findings->best_count = info.n_components;
      findings->best_frame = findings->frames;
    }
  }
  ++findings->frames;
  return GST_PAD_PROBE_OK;
}

/// Runs the pipeline to its end, with a line of progress on a terminal.
void run_to_end(const examples::Pipeline& pipeline, const char* what, const guint64& frames) {
  const bool terminal = isatty(STDERR_FILENO);
  gst_element_set_state(pipeline.element(), GST_STATE_PLAYING);
  while (!pipeline.ended(200 * GST_MSECOND)) {
    if (terminal) {
      std::fprintf(stderr, "\r%s: frame %llu ", what, static_cast<unsigned long long>(frames));
    }
  }
  if (terminal) {
    std::fprintf(stderr, "\r\033[K");
  }
}

Findings label(const std::string& source, const std::string& element) {
  Findings findings;
  const examples::Pipeline pipeline(source + " ! " + element + " name=ccl ! fakesink sync=false");
  const examples::Object<GstElement> ccl = pipeline.find("ccl");
  examples::add_buffer_probe(ccl.get(), "sink", frame_enters, &findings);
  examples::add_buffer_probe(ccl.get(), "src", frame_leaves, &findings);

  const Clock::time_point start = Clock::now();
  run_to_end(pipeline, "labelling", findings.frames);
  findings.wall_seconds = seconds_since(start);

  findings.backend = examples::property_text(ccl.get(), "active-backend");
  findings.device = examples::device(ccl.get());
  findings.width = static_cast<int>(findings.last.width);
  findings.height = static_cast<int>(findings.last.height);
  return findings;
}

/// One picture of the clip, taken as it leaves an element, written as PNG.
struct Still {
  std::string path;
  guint64 wanted;
  guint64 frame = 0;
};

GstPadProbeReturn take_still(GstPad* pad, GstPadProbeInfo* probe, gpointer data) {
  auto* still = static_cast<Still*>(data);
  if (still->frame++ == still->wanted) {
    GstCaps* caps = gst_pad_get_current_caps(pad);
    examples::write_png(GST_PAD_PROBE_INFO_BUFFER(probe), caps, still->path);
    gst_caps_unref(caps);
  }
  return GST_PAD_PROBE_OK;
}

/// Spares an element the frames after the one that a still is taken of. It needs those before, to learn the
/// background.
GstPadProbeReturn drop_later(GstPad*, GstPadProbeInfo*, gpointer data) {
  const auto* still = static_cast<const Still*>(data);
  return still->frame > still->wanted ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK;
}

/// The clip in colours as a video and a still, and a still with colours and boxes laid over the picture.
std::vector<std::string> write_pictures(const std::string& source, const std::string& element,
                                        const std::string& folder, guint64 still_frame) {
  const std::string video = folder + "/colorized.mkv";
  Still colorized{folder + "/colorized.png", still_frame};
  Still overlay{folder + "/overlay.png", still_frame};
  // Motion JPEG: every frame stands for itself, so that a player can step to any of them.
  const examples::Pipeline pipeline(
      source + " ! tee name=t t. ! queue ! " + element + " output=colorized name=colorized ! queue" +
      " ! videoconvert ! jpegenc quality=70 ! matroskamux ! filesink location=\"" + video +
      "\" t. ! queue ! " + element +
      " output=overlay overlay-alpha=0.7 draw-boxes=true draw-ids=true "
      "draw-trails=true name=overlay ! fakesink async=false");
  examples::add_buffer_probe(pipeline.find("colorized").get(), "src", take_still, &colorized);
  examples::add_buffer_probe(pipeline.find("overlay").get(), "sink", drop_later, &overlay);
  examples::add_buffer_probe(pipeline.find("overlay").get(), "src", take_still, &overlay);
  run_to_end(pipeline, "writing", colorized.frame);
  return {video, colorized.path, overlay.path};
}

void print_findings(const char* clip, const Findings& f) {
  const auto fps = [&f](double seconds) { return static_cast<double>(f.frames) / seconds; };
  g_print("\n  clip        %s\n", clip);
  g_print("  size        %dx%d\n", f.width, f.height);
  g_print("  frames      %" G_GUINT64_FORMAT "\n", f.frames);
  g_print("  backend     %s%s%s\n", f.backend.c_str(), f.device.empty() ? "" : ": ", f.device.c_str());
  g_print("  labelling   %.0f fps, in cudaccl alone: %.2f ms a frame from its input to its output\n",
          fps(f.element_seconds), 1e3 * f.element_seconds / static_cast<double>(f.frames));
  g_print("  pipeline    %.0f fps, decoding and labelling, by the wall clock\n", fps(f.wall_seconds));
  g_print("  components  %u in the last frame, %.1f in the mean frame\n", f.last.n_components,
          static_cast<double>(f.components) / static_cast<double>(f.frames));
}

void print_largest(std::vector<CclComponent> records, size_t count) {
  count = std::min(count, records.size());
  std::partial_sort(records.begin(), records.begin() + static_cast<ptrdiff_t>(count), records.end(),
                    [](const CclComponent& a, const CclComponent& b) { return a.area > b.area; });
  g_print("\n  The %zu largest of the last frame\n", count);
  g_print("   label    area             box         centroid  perimeter  holes  degrees\n");
  for (size_t i = 0; i < count; ++i) {
    const CclComponent& c = records[i];
    const std::string box = std::to_string(c.width) + "x" + std::to_string(c.height) + "+" +
                            std::to_string(c.x) + "+" + std::to_string(c.y);
    g_print("  %6u  %6u  %14s  (%6.1f,%6.1f)  %9u  %5d  %+7.0f\n", c.label, c.area, box.c_str(), c.cx, c.cy,
            c.perimeter, 1 - c.euler, ccl_component_orientation(&c) * 180 / G_PI);
  }
}

}  // namespace

int main(int argc, char** argv) {
  gchar* folder = nullptr;
  gchar** arguments = nullptr;
  const GOptionEntry options[] = {{"out", 'o', 0, G_OPTION_ARG_FILENAME, &folder,
                                   "Where to write the video and the stills (default: .)", "DIR"},
                                  {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &arguments, nullptr,
                                   "CLIP [PROPERTY=VALUE...]"},
                                  {}};
  examples::parse(&argc, &argv, "- labels a clip and reports what it found", options);
  if (arguments == nullptr) {
    examples::fail("which clip? See --help");
  }
  const std::string out = folder != nullptr ? folder : ".";
  g_mkdir_with_parents(out.c_str(), 0777);

  std::string element = "cudaccl";
  for (gchar** setting = arguments + 1; *setting != nullptr; ++setting) {
    element += std::string(" ") + *setting;
  }
  const std::string source =
      std::string("filesrc location=\"") + arguments[0] + "\" ! decodebin ! videoconvert";

  const Findings findings = label(source, element);
  if (findings.frames == 0) {
    examples::fail(std::string(arguments[0]) + " has no frames");
  }
  print_findings(arguments[0], findings);
  print_largest(findings.records, 5);

  g_print("\n  Written (the stills show frame %" G_GUINT64_FORMAT ", which has the most components: %u)\n",
          findings.best_frame, findings.best_count);
  for (const std::string& file : write_pictures(source, element, out, findings.best_frame)) {
    g_print("  %s\n", file.c_str());
  }
  g_strfreev(arguments);
  g_free(folder);
  return 0;
}
