// SPDX-License-Identifier: LGPL-2.1-or-later
/// Valid values of any property, from what GObject says of it: a new property needs no line here.
#pragma once

#include <gst/gst.h>

#include <random>
#include <utility>
#include <vector>

namespace cudaccl::test {

/// An owned GValue.
class Value {
 public:
  explicit Value(GType type) { g_value_init(&value_, type); }
  ~Value() { g_value_unset(&value_); }
  Value(Value&& other) noexcept : value_(std::exchange(other.value_, GValue G_VALUE_INIT)) {}
  Value& operator=(Value&&) = delete;
  GValue* get() { return &value_; }

 private:
  GValue value_ = G_VALUE_INIT;
};

/// The least and the largest value, the default, every choice, all flags and each alone. Texts are regions,
/// good and bad, and names.
std::vector<Value> limits_of(GParamSpec* spec);

/// Random choices of one thread.
class Choices {
 public:
  explicit Choices(uint32_t seed) : engine_(seed) {}
  uint32_t below(uint32_t n) { return engine_() % n; }
  bool one_in(uint32_t n) { return below(n) == 0; }
  template <typename Container>
  const auto& of(const Container& all) {
    return all[below(static_cast<uint32_t>(std::size(all)))];
  }

 private:
  std::minstd_rand engine_;
};

/// One of the limits, or a number between them: small ones are as frequent as large ones.
Value choose_value(GParamSpec* spec, Choices* choices);

}  // namespace cudaccl::test
