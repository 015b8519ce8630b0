// SPDX-License-Identifier: LGPL-2.1-or-later
#include "properties/properties.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <type_traits>
#include <variant>

#include "ccl/setting_names.h"
#include "properties/property_types.h"
#include "properties/regions.h"

namespace cudaccl {

namespace {

using namespace ccl::kind;
using ccl::When;

/* What the table is made of */

/// A number from 0 to 1.
struct Real {};
/// Nanoseconds.
struct Time {
  guint64 least, largest;
};

/// The nick, for people: the id as words.
template <size_t n>
struct Nick {
  constexpr Nick(const char (&id)[n]) {
    for (size_t i = 0; i < n; ++i) {
      text[i] = id[i] == '_' ? ' ' : id[i];
    }
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  }
  char text[n] = {};
};
template <Nick nick>
constexpr const char* kNick = nick.text;

/// A default as a number.
template <typename Kind, typename Initial>
constexpr gdouble number_of(Kind kind, Initial initial) {
  if constexpr (std::is_same_v<Kind, Enum> || std::is_same_v<Kind, Flags>) {
    return ccl::value_of(kChoices, kind.type, initial);  // `auto` of Algorithm is 0
  } else if constexpr (std::is_arithmetic_v<Initial>) {
    return static_cast<gdouble>(initial);
  } else {
    return 0;
  }
}

/// A default as a text, for what is one.
constexpr const char* text_of(Text, const char* initial) {
  return initial;
}
template <typename Kind, typename Initial>
constexpr const char* text_of(Kind, Initial) {
  return nullptr;
}

/// Reads and writes one property. All are numbers, and a double holds each exactly.
struct Member {
  gdouble (*get)(const Properties&);
  void (*set)(Properties*, gdouble);
};

/// `Path` returns a member of Properties, or of a struct in it.
template <typename Path>
constexpr Member direct(Path) {
  return {[](const Properties& properties) { return static_cast<gdouble>(Path{}(properties)); },
          [](Properties* properties, gdouble value) {
            auto& member = Path{}(*properties);
            member = static_cast<std::remove_reference_t<decltype(member)>>(value);
          }};
}

/// `Path` returns what was set, `Engine` sets what the engine reads.
template <typename Path, typename Engine>
constexpr Member converted(Path, Engine) {
  return {direct(Path{}).get, [](Properties* properties, gdouble value) {
            direct(Path{}).set(properties, value);
            Engine{}(properties, value);
          }};
}

struct Property {
  const char* name;
  const char* nick;
  const char* blurb;
  When when;
  std::variant<Bool, Int, UInt, Real, Time, Enum, Flags, Text, Structure> kind;
  gdouble initial;
  const char* initial_text;
  Member member;  ///< null for what Properties does not have
};

/* The table */

#define TEXTS(id, text) ccl::kSettingName<#id>, kNick<#id>, text
#define MEMBER(path) direct([](auto& p) -> auto& { return p.path; })

#define CCL_SETTING(id, path, kind, initial, when, text) \
  {TEXTS(id, text), When::when, kind, number_of(kind, initial), nullptr, MEMBER(path)},
#define CCL_REAL(id, path, one, initial, text)                                                            \
  {TEXTS(id, text),                                                                                       \
   When::kControllable,                                                                                   \
   Real{},                                                                                                \
   initial,                                                                                               \
   nullptr,                                                                                               \
   converted(                                                                                             \
       [](auto& p) -> auto& { return p.id; },                                                             \
       [](Properties* p, gdouble value) {                                                                 \
         p->path = static_cast<std::remove_reference_t<decltype(p->path)>>(ccl::fixed_point(value, one)); \
       })},
#define CCL_TIME(id, field, path, least, largest, initial, text)        \
  {TEXTS(id, text " (nanoseconds, of which whole milliseconds count)"), \
   When::kControllable,                                                 \
   Time{(least)*GST_MSECOND, (largest)*GST_MSECOND},                    \
   (initial)*GST_MSECOND,                                               \
   nullptr,                                                             \
   converted(                                                           \
       [](auto& p) -> auto& { return p.id; },                           \
       [](Properties* p, gdouble value) { p->path = static_cast<guint>(value / GST_MSECOND); })},
#define CCL_CONFIG(id, kind, initial, when, text) CCL_SETTING(id, id, kind, initial, when, text)
#define CCL_PROPERTY(id, kind, initial, when, text) CCL_SETTING(id, id, kind, initial, when, text)
#define CCL_REPLY(id, kind, initial, when, text) \
  {TEXTS(id, text), When::when, kind, number_of(kind, initial), text_of(kind, initial), {}},
constexpr Property kProperties[] = {
#include "ccl/settings.def"
};
#undef TEXTS
#undef MEMBER

const Property* find_property(guint id) {
  return id >= 1 && id <= std::size(kProperties) && kProperties[id - 1].member.get != nullptr
             ? &kProperties[id - 1]
             : nullptr;
}

const Property* find_property(std::string_view name) {
  const auto* found = std::find_if(std::begin(kProperties), std::end(kProperties),
                                   [&](const Property& p) { return p.name == name; });
  return found != std::end(kProperties) && found->member.get != nullptr ? found : nullptr;
}

/* From the table to GObject */

template <typename... Lambdas>
struct Overloaded : Lambdas... {
  using Lambdas::operator()...;
};
template <typename... Lambdas>
Overloaded(Lambdas...) -> Overloaded<Lambdas...>;

GParamFlags flags_of(When when) {
  constexpr guint kLive = G_PARAM_READWRITE | GST_PARAM_MUTABLE_PLAYING;
  const guint flags = when == When::kReadOnly       ? guint{G_PARAM_READABLE}
                      : when == When::kStart        ? guint{G_PARAM_READWRITE} | GST_PARAM_MUTABLE_READY
                      : when == When::kControllable ? kLive | GST_PARAM_CONTROLLABLE
                                                    : kLive;
  return static_cast<GParamFlags>(flags | G_PARAM_STATIC_STRINGS);
}

GParamSpec* new_spec(const Property& p) {
  const GParamFlags flags = flags_of(p.when);
  const auto number = static_cast<gint64>(p.initial);
  return std::visit(
      Overloaded{
          [&](Bool) { return g_param_spec_boolean(p.name, p.nick, p.blurb, number != 0, flags); },
          [&](Int range) {
            return g_param_spec_int(p.name, p.nick, p.blurb, range.least, range.largest,
                                    static_cast<gint>(number), flags);
          },
          [&](UInt range) {
            return g_param_spec_uint(p.name, p.nick, p.blurb, range.least, range.largest,
                                     static_cast<guint>(number), flags);
          },
          [&](Real) { return g_param_spec_double(p.name, p.nick, p.blurb, 0, 1, p.initial, flags); },
          [&](Time range) {
            return g_param_spec_uint64(p.name, p.nick, p.blurb, range.least, range.largest,
                                       static_cast<guint64>(number), flags);
          },
          [&](Enum kind) {
            return g_param_spec_enum(p.name, p.nick, p.blurb, enum_type(kind.type), static_cast<gint>(number),
                                     flags);
          },
          [&](Flags kind) {
            return g_param_spec_flags(p.name, p.nick, p.blurb, flags_type(kind.type),
                                      static_cast<guint>(number), flags);
          },
          [&](Text) { return g_param_spec_string(p.name, p.nick, p.blurb, p.initial_text, flags); },
          [&](Structure) { return g_param_spec_boxed(p.name, p.nick, p.blurb, GST_TYPE_STRUCTURE, flags); },
      },
      p.kind);
}

gdouble read_value(const GValue* value) {
  switch (G_TYPE_FUNDAMENTAL(G_VALUE_TYPE(value))) {
    case G_TYPE_BOOLEAN:
      return g_value_get_boolean(value);
    case G_TYPE_INT:
      return g_value_get_int(value);
    case G_TYPE_UINT:
      return g_value_get_uint(value);
    case G_TYPE_UINT64:
      return static_cast<gdouble>(g_value_get_uint64(value));
    case G_TYPE_DOUBLE:
      return g_value_get_double(value);
    case G_TYPE_ENUM:
      return g_value_get_enum(value);
    default:
      return g_value_get_flags(value);
  }
}

void write_value(gdouble number, GValue* value) {
  switch (G_TYPE_FUNDAMENTAL(G_VALUE_TYPE(value))) {
    case G_TYPE_BOOLEAN:
      return g_value_set_boolean(value, number != 0);
    case G_TYPE_INT:
      return g_value_set_int(value, static_cast<gint>(number));
    case G_TYPE_UINT:
      return g_value_set_uint(value, static_cast<guint>(number));
    case G_TYPE_UINT64:
      return g_value_set_uint64(value, static_cast<guint64>(number));
    case G_TYPE_DOUBLE:
      return g_value_set_double(value, number);
    case G_TYPE_ENUM:
      return g_value_set_enum(value, static_cast<gint>(number));
    default:
      return g_value_set_flags(value, static_cast<guint>(number));
  }
}

}  // namespace

Properties::Properties() {
  for (const Property& property : kProperties) {
    if (property.member.set != nullptr) {
      property.member.set(this, property.initial);
    }
  }
}

void install_properties(GObjectClass* klass) {
  guint id = 0;
  for (const Property& property : kProperties) {
    g_object_class_install_property(klass, ++id, new_spec(property));
  }
}

std::string why_refused(guint id, const GValue* value) {
  const Property* property = find_property(id);
  if (property == nullptr || !std::holds_alternative<Time>(property->kind)) {
    return "";
  }
  const guint64 time = g_value_get_uint64(value);
  return time == 0 || time >= GST_MSECOND
             ? ""
             : "times are in nanoseconds, of which whole milliseconds count: 2 seconds are 2000000000";
}

bool set_property(Properties* properties, guint id, const GValue* value) {
  const Property* property = find_property(id);
  if (property != nullptr) {
    property->member.set(properties, read_value(value));
  }
  return property != nullptr;
}

bool get_property(const Properties& properties, guint id, GValue* value) {
  if (id == property_id::regions) {
    g_value_set_string(value, properties.regions != nullptr ? properties.regions->text.c_str() : nullptr);
    return true;
  }
  const Property* property = find_property(id);
  if (property != nullptr) {
    write_value(property->member.get(properties), value);
  }
  return property != nullptr;
}

bool restore_property(Properties* properties, const char* name, const Properties& from,
                      const Properties& to) {
  const Property* property = find_property(std::string_view(name));
  if (property == nullptr) {
    return false;
  }
  const auto get = property->member.get;
  const bool is_restored = get(*properties) == get(from) && get(from) != get(to);
  if (is_restored) {
    property->member.set(properties, get(to));
  }
  return is_restored;
}

}  // namespace cudaccl
