// SPDX-License-Identifier: LGPL-2.1-or-later
#include "contestants.h"

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/video/video.h>

#include <utility>

#include "opencv_peer.h"
#include "protocol.h"

namespace ccl::bench {

namespace {

GstContext* the_cuda_context = nullptr;

std::string video_caps(const char* format, const Task& task, const std::string& memory = "system") {
  return std::string("video/x-raw") + (memory == "cuda" ? "(memory:CUDAMemory)" : "") + ",format=" + format +
         ",width=" + std::to_string(task.width) + ",height=" + std::to_string(task.height) +
         ",framerate=60/1";
}

/// An appsrc that holds a few frames, so that its feeder need not wake up for each.
std::string source(const std::string& caps) {
  return "appsrc name=source format=time block=true max-bytes=0 max-buffers=16 caps=" + caps;
}

/// A running pipeline from a launch line; frames are pushed into its element named "source", if it has one.
class Line {
 public:
  explicit Line(const std::string& text) {
    GError* error = nullptr;
    pipeline_ = gst_parse_launch(text.c_str(), &error);
    if (error != nullptr) {
      fail("pipeline-bench: " + text + ": " + error->message);
    }
    source_ = element("source");
  }

  ~Line() {
    gst_element_set_state(pipeline_, GST_STATE_NULL);
    gst_clear_object(&source_);
    gst_object_unref(pipeline_);
  }

  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  GstElement* pipeline() const { return pipeline_; }
  /// The caller's reference.
  GstElement* element(const char* name) { return gst_bin_get_by_name(GST_BIN(pipeline_), name); }

  /// Calls `passed` for every buffer that passes this pad of this element.
  void watch(const char* name, const char* pad_name, const std::function<void(GstClockTime)>* passed) {
    GstElement* watched = element(name);
    GstPad* pad = gst_element_get_static_pad(watched, pad_name);
    gst_pad_add_probe(
        pad, GST_PAD_PROBE_TYPE_BUFFER,
        [](GstPad*, GstPadProbeInfo* info, gpointer data) {
          (*static_cast<const std::function<void(GstClockTime)>*>(data))(
              GST_BUFFER_PTS(GST_PAD_PROBE_INFO_BUFFER(info)));
          return GST_PAD_PROBE_OK;
        },
        const_cast<std::function<void(GstClockTime)>*>(passed), nullptr);
    gst_object_unref(pad);
    gst_object_unref(watched);
  }

  void play() {
    if (the_cuda_context != nullptr) {
      gst_element_set_context(pipeline_, the_cuda_context);
    }
    gst_element_set_state(pipeline_, GST_STATE_PLAYING);
  }
  void push(GstBuffer* buffer) { gst_app_src_push_buffer(GST_APP_SRC(source_), buffer); }
  void end() { gst_app_src_end_of_stream(GST_APP_SRC(source_)); }

  void wait_for_end() {
    GstBus* bus = gst_element_get_bus(pipeline_);
    GstMessage* message = gst_bus_timed_pop_filtered(
        bus, GST_CLOCK_TIME_NONE, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
      GError* error = nullptr;
      gst_message_parse_error(message, &error, nullptr);
      fail(std::string("pipeline-bench: ") + error->message);
    }
    gst_message_unref(message);
    gst_object_unref(bus);
  }

 private:
  GstElement* pipeline_ = nullptr;
  GstElement* source_ = nullptr;
};

/// The context that the pipeline's elements announced on the bus; null if there is none. The caller owns it.
GstContext* announced_context(GstElement* pipeline) {
  GstBus* bus = gst_element_get_bus(pipeline);
  GstContext* context = nullptr;
  while (GstMessage* message = gst_bus_pop_filtered(bus, GST_MESSAGE_HAVE_CONTEXT)) {
    if (context == nullptr) {
      gst_message_parse_have_context(message, &context);
    }
    gst_message_unref(message);
  }
  gst_object_unref(bus);
  return context;
}

class ElementPipeline final : public Contestant {
 public:
  ElementPipeline(const Task& task, Watch watch)
      : watch_(std::move(watch)),
        line_(source(video_caps(source_format(task), task, task.from)) +
              " ! cudaccl backend=" + task.backend + " threads=" + std::to_string(task.threads) +
              " pipeline-depth=" + std::to_string(task.depth) +
              (task.is_colorized ? " output=colorized ! " + video_caps("RGBA", task, task.to)
                                 : " output=passthrough") +
              " ! fakesink name=sink sync=false") {
    line_.watch("source", "src", &watch_.left);
    line_.watch("sink", "sink", &watch_.arrived);
    line_.play();
  }

  void push(GstBuffer* frame) override { line_.push(frame); }

  void drain() override {
    line_.end();
    line_.wait_for_end();
  }

 private:
  Watch watch_;
  Line line_;
};

class OpenCvPipeline final : public Contestant {
 public:
  OpenCvPipeline(const Task& task, Watch watch)
      : task_(task),
        watch_(std::move(watch)),
        out_(source(video_caps(task.is_colorized ? "RGBA" : "GRAY8", task)) +
             " ! fakesink name=sink sync=false"),
        in_(source(video_caps("GRAY8", task)) + " ! appsink name=taker sync=false max-buffers=2") {
    for (uint32_t i = 0; i < palette_.size(); ++i) {
      palette_[i] = 0xff000000 | i * 0x9e3779;
    }
    OpenCvPeer::set_threads(task_.threads);
    make_pool();
    in_.watch("source", "src", &watch_.left);
    out_.watch("sink", "sink", &watch_.arrived);
    GstAppSinkCallbacks callbacks{};
    callbacks.new_sample = [](GstAppSink* sink, gpointer self) {
      return static_cast<OpenCvPipeline*>(self)->take(sink);
    };
    GstElement* taker = in_.element("taker");
    gst_app_sink_set_callbacks(GST_APP_SINK(taker), &callbacks, this, nullptr);
    gst_object_unref(taker);
    out_.play();
    in_.play();
  }

  ~OpenCvPipeline() override {
    gst_buffer_pool_set_active(pool_, FALSE);
    gst_object_unref(pool_);
  }

  void push(GstBuffer* frame) override { in_.push(frame); }

  void drain() override {
    in_.end();
    in_.wait_for_end();
    out_.end();
    out_.wait_for_end();
  }

 private:
  void make_pool() {
    pool_ = gst_video_buffer_pool_new();
    GstCaps* caps = gst_caps_from_string(video_caps("RGBA", task_).c_str());
    GstStructure* config = gst_buffer_pool_get_config(pool_);
    gst_buffer_pool_config_set_params(config, caps, task_.width * task_.height * 4, 4, 0);
    gst_buffer_pool_set_config(pool_, config);
    gst_caps_unref(caps);
    gst_buffer_pool_set_active(pool_, TRUE);
  }

  GstFlowReturn take(GstAppSink* sink) {
    GstSample* sample = gst_app_sink_pull_sample(sink);
    GstBuffer* frame = gst_sample_get_buffer(sample);
    GstMapInfo in;
    gst_buffer_map(frame, &in, GST_MAP_READ);
    peer_.label_with_stats(in.data, task_.width, task_.height, GST_ROUND_UP_4(task_.width),
                           PeerAlgorithm::kDefault);
    gst_buffer_unmap(frame, &in);
    out_.push(task_.is_colorized ? colorize(frame) : gst_buffer_ref(frame));
    gst_sample_unref(sample);
    return GST_FLOW_OK;
  }

  GstBuffer* colorize(GstBuffer* frame) {
    GstBuffer* buffer = nullptr;
    gst_buffer_pool_acquire_buffer(pool_, &buffer, nullptr);
    GstMapInfo out;
    gst_buffer_map(buffer, &out, GST_MAP_WRITE);
    peer_.colorize(palette_, out.data, size_t{task_.width} * 4);
    gst_buffer_unmap(buffer, &out);
    GST_BUFFER_PTS(buffer) = GST_BUFFER_PTS(frame);
    return buffer;
  }

  Task task_;
  Watch watch_;
  OpenCvPeer peer_;
  OpenCvPeer::Palette palette_;
  GstBufferPool* pool_ = nullptr;
  Line out_;
  Line in_;  // after what its thread uses, so that it stops first
};

}  // namespace

const char* source_format(const Task& task) {
  return task.from == "cuda" ? "NV12" : "GRAY8";
}

void share_cuda_context(GstContext* context) {
  if (context != nullptr) {
    gst_context_ref(context);
  }
  if (the_cuda_context != nullptr) {
    gst_context_unref(the_cuda_context);
  }
  the_cuda_context = context;
}

std::vector<GstBuffer*> upload(const std::vector<GstBuffer*>& frames, const Task& task) {
  Line line(source(video_caps(source_format(task), task)) + " ! cudaupload ! " +
            video_caps(source_format(task), task, "cuda") + " ! appsink name=taker sync=false");
  GstElement* taker = line.element("taker");
  line.play();
  std::vector<GstBuffer*> uploaded;
  for (GstBuffer* frame : frames) {
    line.push(gst_buffer_ref(frame));
    GstSample* sample = gst_app_sink_pull_sample(GST_APP_SINK(taker));
    if (sample == nullptr) {
      fail("pipeline-bench: frames cannot be uploaded with cudaupload");
    }
    uploaded.push_back(gst_buffer_ref(gst_sample_get_buffer(sample)));
    gst_sample_unref(sample);
  }
  gst_object_unref(taker);
  if (GstContext* context = announced_context(line.pipeline())) {
    share_cuda_context(context);
    gst_context_unref(context);
  }
  return uploaded;
}

double time_line(const std::string& text) {
  uint64_t n_frames = 0;
  const std::function<void(GstClockTime)> count = [&n_frames](GstClockTime) { ++n_frames; };
  Line line(text);
  line.watch("sink", "sink", &count);
  const Time taken = time([&line] {
    line.play();
    line.wait_for_end();
  });
  return static_cast<double>(n_frames) / taken.wall_us * 1e6;
}

std::unique_ptr<Contestant> make_element_pipeline(const Task& task, Contestant::Watch watch) {
  return std::make_unique<ElementPipeline>(task, std::move(watch));
}

std::unique_ptr<Contestant> make_opencv_pipeline(const Task& task, Contestant::Watch watch) {
  return std::make_unique<OpenCvPipeline>(task, std::move(watch));
}

}  // namespace ccl::bench
