// SPDX-License-Identifier: LGPL-2.1-or-later
/// The reader of JSON: what it reads and is written again is read as the same.
#include <cmath>
#include <cstdio>

#include "bytes.h"
#include "ccl/json.h"

namespace fuzz {

using ccl::json::Kind;
using ccl::json::Value;

static std::string quoted(const std::string& text) {
  std::string written = "\"";
  for (const char c : text) {
    char escaped[8];
    const auto code = static_cast<unsigned char>(c);  // of a char that has a sign, or none, as on ARM
    std::snprintf(escaped, sizeof escaped, "\\u%04x", code);
    const bool is_special = c == '"' || c == '\\' || code < 32;
    written += is_special ? escaped : std::string(1, c);
  }
  return written + '"';
}

static std::string written(const Value& value) {
  std::string text;
  char number[512];  // the largest double has 309 digits
  switch (value.kind) {
    case Kind::kNull:
      return "null";
    case Kind::kBoolean:
      return value.number != 0 ? "true" : "false";
    case Kind::kNumber:
      if (std::isnan(value.number)) {
        return "1e999";
      }
      std::snprintf(number, sizeof number, value.is_integer ? "%.0f" : "%.17e", value.number);
      return number;
    case Kind::kString:
      return quoted(value.text);
    case Kind::kArray:
      for (const Value& element : value.elements) {
        text += (text.empty() ? "" : ",") + written(element);
      }
      return "[" + text + "]";
    case Kind::kObject:
      for (size_t i = 0; i < value.elements.size(); ++i) {
        text += (text.empty() ? "" : ",") + quoted(value.names[i]) + ":" + written(value.elements[i]);
      }
      return "{" + text + "}";
  }
  return text;
}

}  // namespace fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ccl::json::Value value;
  if (const ccl::Status status = ccl::json::parse(text, &value); !status.ok()) {
    fuzz::require(!status.message().empty(), "a refusal without a reason");
    return 0;
  }
  const std::string once = fuzz::written(value);
  if (once.size() > ccl::json::kMaxBytes) {
    return 0;
  }
  ccl::json::Value again;
  const ccl::Status status = ccl::json::parse(once, &again);
  fuzz::require(status.ok(), "refused when it was written again: " + status.message() + ": " + once);
  fuzz::require(fuzz::written(again) == once, "read as another document: " + once);
  return 0;
}
