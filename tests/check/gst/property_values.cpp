// SPDX-License-Identifier: LGPL-2.1-or-later
#include "property_values.h"

#include <algorithm>

namespace cudaccl::test {

namespace {

constexpr const char* kTexts[] = {
    "",
    "a name that is longer than a short string",
    "/no/such/file.json",
    R"({"version": 7})",
    R"({"version": 1, "include": [{"polygon": [[0, 0], [1, 0], [0.5, 1]]}],
        "zones": [{"name": "left", "polygon": [[0, 0], [0.5, 0], [0.5, 1], [0, 1]]}],
        "lines": [{"name": "middle", "from": [0.5, 0], "to": [0.5, 1], "margin": 0}]})",
    R"({"version": 1, "units": "pixels", "exclude": [{"polygon": [[3, 2], [90, 2], [3, 90]]}]})"};

/// The range of a spec of numbers.
struct Range {
  gdouble least, largest;
};

bool has_range(GParamSpec* spec, Range* range) {
  if (G_IS_PARAM_SPEC_INT(spec)) {
    *range = {gdouble(G_PARAM_SPEC_INT(spec)->minimum), gdouble(G_PARAM_SPEC_INT(spec)->maximum)};
  } else if (G_IS_PARAM_SPEC_UINT(spec)) {
    *range = {gdouble(G_PARAM_SPEC_UINT(spec)->minimum), gdouble(G_PARAM_SPEC_UINT(spec)->maximum)};
  } else if (G_IS_PARAM_SPEC_UINT64(spec)) {
    *range = {gdouble(G_PARAM_SPEC_UINT64(spec)->minimum), gdouble(G_PARAM_SPEC_UINT64(spec)->maximum)};
  } else if (G_IS_PARAM_SPEC_DOUBLE(spec)) {
    *range = {G_PARAM_SPEC_DOUBLE(spec)->minimum, G_PARAM_SPEC_DOUBLE(spec)->maximum};
  } else {
    return false;
  }
  return true;
}

/// A number as a value of the spec.
Value number_value(GParamSpec* spec, gdouble number) {
  Value value(spec->value_type);
  switch (spec->value_type) {
    case G_TYPE_INT:
      g_value_set_int(value.get(), static_cast<gint>(number));
      break;
    case G_TYPE_UINT:
      g_value_set_uint(value.get(), static_cast<guint>(number));
      break;
    case G_TYPE_UINT64:
      g_value_set_uint64(value.get(), static_cast<guint64>(number));
      break;
    default:
      g_value_set_double(value.get(), number);
  }
  return value;
}

void add_choices(GParamSpec* spec, std::vector<Value>* values) {
  if (G_IS_PARAM_SPEC_ENUM(spec)) {
    const GEnumClass* all = G_PARAM_SPEC_ENUM(spec)->enum_class;
    for (guint i = 0; i < all->n_values; ++i) {
      g_value_set_enum(values->emplace_back(spec->value_type).get(), all->values[i].value);
    }
  } else if (G_IS_PARAM_SPEC_FLAGS(spec)) {
    const GFlagsClass* all = G_PARAM_SPEC_FLAGS(spec)->flags_class;
    values->emplace_back(spec->value_type);
    g_value_set_flags(values->emplace_back(spec->value_type).get(), all->mask);
    for (guint i = 0; i < all->n_values; ++i) {
      g_value_set_flags(values->emplace_back(spec->value_type).get(), all->values[i].value);
    }
  } else if (G_IS_PARAM_SPEC_BOOLEAN(spec)) {
    values->emplace_back(spec->value_type);
    g_value_set_boolean(values->emplace_back(spec->value_type).get(), TRUE);
  }
}

}  // namespace

std::vector<Value> limits_of(GParamSpec* spec) {
  std::vector<Value> values;
  g_value_copy(g_param_spec_get_default_value(spec), values.emplace_back(spec->value_type).get());
  if (Range range{}; has_range(spec, &range)) {
    values.push_back(number_value(spec, range.least));
    values.push_back(number_value(spec, range.largest));
  } else if (G_IS_PARAM_SPEC_STRING(spec)) {
    for (const char* text : kTexts) {
      g_value_set_static_string(values.emplace_back(spec->value_type).get(), text);
    }
  } else {
    add_choices(spec, &values);
  }
  return values;
}

Value choose_value(GParamSpec* spec, Choices* choices) {
  Range range{};
  if (!has_range(spec, &range) || choices->one_in(4)) {
    std::vector<Value> values = limits_of(spec);
    return std::move(values[choices->below(static_cast<uint32_t>(values.size()))]);
  }
  if (G_IS_PARAM_SPEC_DOUBLE(spec)) {
    return number_value(spec, range.least + (range.largest - range.least) * choices->below(1025) / 1024);
  }
  const gdouble width = gdouble(uint64_t{1} << choices->below(40)) * (1 + choices->below(1024) / 1024.0);
  return number_value(spec, range.least + std::min(width, range.largest - range.least));
}

}  // namespace cudaccl::test
