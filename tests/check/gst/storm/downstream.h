// SPDX-License-Identifier: LGPL-2.1-or-later
/// What stands behind the element in a storm: a pad that blocks, refuses, holds buffers, and looks at each.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "ref.h"

namespace cudaccl::test {

/// Any thread may call it.
class Downstream {
 public:
  /// `fail` is called with what is wrong.
  Downstream(GstPad* src, std::function<void(const std::string&)> fail);
  ~Downstream();
  Downstream(const Downstream&) = delete;
  Downstream& operator=(const Downstream&) = delete;

  GstPad* pad() const { return pad_.get(); }

  /// The next buffer waits until it is let go, or this is flushing.
  void block();
  void let_go();
  /// As a sink that goes to READY: buffers are refused, and none waits.
  void stop();
  /// Takes buffers again.
  void start();
  /// All frames up to this one are gone.
  void forget(guint64 offset);
  /// What the element may send from now on: null for anything.
  void accept(const char* caps);
  /// The length of the pools that ALLOCATION queries get; 0: none is offered.
  void offer_pools(guint length) { pool_length_ = length; }
  /// The next buffer gets this answer.
  void answer_once(GstFlowReturn flow) { answer_ = flow; }
  /// Whether an answer was given that is not OK, since the last start().
  bool has_refused() const { return has_refused_; }
  /// Whether only some formats are accepted.
  bool is_choosy() const { return is_choosy_; }

  /// Keeps texts of what arrives; false: no more.
  void keep_texts(bool keeps);
  std::vector<std::string> take_texts();

 private:
  GstFlowReturn take(GstBuffer* buffer);
  void check(GstBuffer* buffer);
  void take_event(GstEvent* event);
  bool answer_query(GstQuery* query);
  void answer_caps(GstQuery* query);
  void offer_pool(GstQuery* query);
  Ref<GstCaps> accepted() const;

  Ref<GstPad> pad_;
  std::function<void(const std::string&)> fail_;
  mutable std::mutex lock_;
  std::condition_variable changed_;
  bool is_blocked_ = false;
  bool is_stopped_ = false;
  bool keeps_texts_ = false;
  bool is_at_end_ = false;
  Ref<GstCaps> accepted_;
  Ref<GstBuffer> held_;  ///< as a sink that shows it
  guint64 last_offset_ = 0;
  std::vector<std::string> texts_;
  std::atomic<guint> pool_length_ = 0;
  std::atomic<GstFlowReturn> answer_ = GST_FLOW_OK;
  std::atomic<bool> has_refused_ = false;
  std::atomic<bool> is_choosy_ = false;
};

}  // namespace cudaccl::test
