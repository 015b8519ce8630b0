// SPDX-License-Identifier: LGPL-2.1-or-later
/// The properties as the application sets them, those in force, and what happens to a value that cannot work.
#pragma once

#include <gst/base/gstbasetransform.h>

#include <bitset>
#include <initializer_list>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "properties/properties.h"

namespace cudaccl {

/// A property changes at once, and each frame uses a snapshot. If a frame shows that the new value cannot
/// work, the property gets the old value back, one warning says why, and the stream goes on. Any thread may
/// use it.
class LiveProperties {
 public:
  /// The element must outlive this.
  explicit LiveProperties(GstBaseTransform* element) : element_(element) {}

  Properties snapshot() const;
  /// Sets a property, and renegotiates and reports what depends on it. A value that cannot be
  /// used is refused: with a warning while frames flow, else by report_refusals(). False if there is no such
  /// property.
  /// A value for which there is not enough memory is lost.
  bool set(const GParamSpec* spec, const GValue* value) noexcept;
  /// False if a value was lost. Then no frame may leave, and there is no start. Setting it again restores it.
  bool has_all_values() const;
  bool get(guint id, GValue* value) const;
  /// At each start, with new caps, and with each frame: then `begins_stream` is true. False with an element
  /// error if a value was refused before the first frame: a region may be a privacy mask, and frames without
  /// it must not leave.
  bool report_refusals(bool begins_stream);
  /// The stream ends: no properties are in force.
  void end_stream();
  /// At the start of a stream: posts warnings about regions that are probably not what is meant, about
  /// filters that keep no component, and about what has no effect without `track`: zones and lines that are
  /// not drawn, ids, trails.
  void report_doubts() const;

  /// FrameIdentity::source: `meta-name`, or the element's name if that is empty.
  std::string source() const;

  /// FrameIdentity::object_type.
  std::string object_type() const { return text(object_type_); }

  /// The properties of the last frame or negotiation that worked, with the output that was written; none
  /// before the first one.
  std::optional<Properties> in_force() const;
  void set_in_force(const std::optional<Properties>& properties);

  /// Gives those of the named properties that differ between `refused` and `in_force` their old values back,
  /// and posts a warning with the reason. A value that was set meanwhile stays.
  void take_back(const Properties& refused, const Properties& in_force,
                 std::initializer_list<const char*> names, const std::string& reason);

 private:
  /// Null or an empty text is the whole frame. What is doubtful about regions that are set before a stream
  /// is left to report_doubts().
  void set_regions(const gchar* text);
  bool take(const GParamSpec* spec, const GValue* value);
  void lose_value(guint id) noexcept;
  bool refuse(const GParamSpec* spec, const GValue* value);
  /// A copy of a member below.
  std::string text(const std::string& member) const;
  void react(const Properties& before, const Properties& after) const;
  void report_unused(const Properties& set) const;
  std::string text_of(const char* name, const Properties& properties) const;
  static std::string text_of(const char* name, const GValue* value);
  void warn(const std::string& warning) const;

  GstBaseTransform* const element_;
  mutable std::mutex lock_;  ///< for those below
  Properties properties_;
  std::optional<Properties> in_force_;
  bool is_streaming_ = false;              ///< frames flow with what is set
  std::map<guint, std::string> refusals_;  ///< by id of the property: what was refused before frames flowed
  std::bitset<property_id::count> lost_;   ///< properties of which the value was lost
  std::string meta_name_;
  std::string object_type_;
};

}  // namespace cudaccl
