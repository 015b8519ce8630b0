// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ccl/json.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>
#include <utility>

namespace ccl::json {

namespace {

constexpr uint32_t kNoCharacter = 0xffffffff;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_surrogate(uint32_t character) {
  return character >= 0xd800 && character < 0xe000;
}

/// The number of bytes of the UTF-8 character at the beginning; 0 if there is none.
size_t character_size(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) {
    return 1;
  }
  const size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) {
    return 0;
  }
  uint32_t character = first & (0x7fu >> size);
  for (size_t i = 1; i < size; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0) != 0x80) {
      return 0;
    }
    character = character << 6 | (next & 0x3f);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};  // no shorter form exists
  return character >= kLeast[size] && character <= 0x10ffff && !is_surrogate(character) ? size : 0;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t size = character_size(text);
    if (size == 0) {
      return false;
    }
    text.remove_prefix(size);
  }
  return true;
}

namespace {

void append_utf8(uint32_t character, std::string* text) {
  const auto append = [text](uint32_t byte) { text->push_back(static_cast<char>(byte)); };
  if (character < 0x80) {
    append(character);
    return;
  }
  const uint32_t tail_bytes = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
  append((0xff00u >> (tail_bytes + 1) & 0xff) | character >> (6 * tail_bytes));
  for (uint32_t i = tail_bytes; i-- > 0;) {
    append(0x80 | (character >> (6 * i) & 0x3f));
  }
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {
    if (begins("\xef\xbb\xbf")) {  // a byte order mark, which some editors write
      text_.remove_prefix(3);
    }
  }

  Status parse(Value* value) {
    if (text_.size() > kMaxBytes) {
      return {StatusCode::kInvalidArgument,
              "the document has more than " + std::to_string(kMaxBytes) + " bytes"};
    }
    if (check_characters() && read_value(value, 0) && skip_blanks() && !is_at_end()) {
      fail("nothing may follow the document");
    }
    return reason_.empty() ? Status() : Status(StatusCode::kInvalidArgument, place() + reason_);
  }

 private:
  /* All functions that return bool return false after a failure, whose reason they keep. */

  bool fail(std::string reason) {
    reason_ = std::move(reason);
    return false;
  }

  std::string place() const {
    const std::string_view before = text_.substr(0, at_);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const size_t begin = before.rfind('\n') + 1;  // 0 if there is none
    const auto column = std::count_if(before.begin() + static_cast<std::ptrdiff_t>(begin), before.end(),
                                      [](char c) { return (c & 0xc0) != 0x80; });
    return "line " + std::to_string(line) + ", character " + std::to_string(column + 1) + ": ";
  }

  bool is_at_end() const { return at_ == text_.size(); }
  /// The next byte; 0 at the end, which no rule accepts.
  char next() const { return is_at_end() ? '\0' : text_[at_]; }
  bool begins(std::string_view word) const { return text_.substr(at_, word.size()) == word; }

  bool take(char c) {
    const bool is_there = next() == c;
    at_ += is_there ? 1 : 0;
    return is_there;
  }

  bool check_characters() {
    while (!is_at_end()) {
      const size_t size = character_size(text_.substr(at_));
      if (size == 0) {
        return fail("this is not UTF-8");
      }
      at_ += size;
    }
    at_ = 0;
    return true;
  }

  bool skip_blanks() {
    for (;;) {
      at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
      const bool is_line = begins("//");
      if (!is_line && !begins("/*")) {
        return true;
      }
      const std::string_view end = is_line ? "\n" : "*/";
      const size_t found = text_.find(end, at_ + 2);
      if (found == std::string_view::npos && !is_line) {
        return fail("the comment does not end");
      }
      at_ = found == std::string_view::npos ? text_.size() : found + end.size();
    }
  }

  bool read_value(Value* value, size_t depth) {
    if (!skip_blanks()) {
      return false;
    }
    if (++n_values_ > kMaxValues) {
      return fail("the document has more than " + std::to_string(kMaxValues) + " values");
    }
    const char first = next();
    if (first == '[' || first == '{') {
      if (depth == kMaxDepth) {
        return fail("more than " + std::to_string(kMaxDepth) + " arrays and objects are in each other");
      }
      ++at_;
      value->kind = first == '[' ? Kind::kArray : Kind::kObject;
      return read_elements(value, depth + 1);
    }
    if (first == '"') {
      value->kind = Kind::kString;
      return read_string(&value->text);
    }
    return first == '-' || is_digit(first) ? read_number(value) : read_word(value);
  }

  /// Behind the bracket.
  bool read_elements(Value* value, size_t depth) {
    const bool is_object = value->kind == Kind::kObject;
    const char end = is_object ? '}' : ']';
    if (!skip_blanks()) {
      return false;
    }
    if (take(end)) {
      return true;
    }
    for (;;) {
      if ((is_object && !read_name(value)) || !read_value(&value->elements.emplace_back(), depth) ||
          !skip_blanks()) {
        return false;
      }
      if (take(end)) {
        return true;
      }
      if (!take(',')) {
        return fail(std::string("',' or '") + end + "' is missing");
      }
      if (!skip_blanks()) {
        return false;
      }
      if (next() == end) {
        return fail(std::string("nothing stands between ',' and '") + end + "'");
      }
    }
  }

  bool read_name(Value* object) {
    if (!skip_blanks()) {
      return false;
    }
    const size_t begin = at_;
    std::string name;
    if (next() != '"') {
      return fail("the name of a member in quotation marks is missing");
    }
    if (!read_string(&name)) {
      return false;
    }
    if (object->member(name) != nullptr) {
      at_ = begin;
      return fail("the member \"" + name + "\" is there twice");
    }
    if (object->names.size() == kMaxMembers) {
      return fail("an object has more than " + std::to_string(kMaxMembers) + " members");
    }
    object->names.push_back(std::move(name));
    return skip_blanks() && (take(':') || fail("':' is missing"));
  }

  bool read_string(std::string* text) {
    ++at_;
    while (!take('"')) {
      if (is_at_end()) {
        return fail("the string does not end");
      }
      if (static_cast<unsigned char>(next()) < 0x20) {
        return fail("a string has no line break and no control character; write \\n, for example");
      }
      if (!take('\\')) {
        text->push_back(text_[at_++]);
      } else if (!read_escape(text)) {
        return false;
      }
    }
    return true;
  }

  /// Behind the backslash.
  bool read_escape(std::string* text) {
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (take('u')) {
      return read_code(text);
    }
    const size_t letter = is_at_end() ? std::string_view::npos : kLetters.find(next());
    if (letter == std::string_view::npos) {
      return fail("this escape does not exist");
    }
    ++at_;
    text->push_back(kMeanings[letter]);
    return true;
  }

  /// Behind \u; two surrogates are one character.
  bool read_code(std::string* text) {
    uint32_t character = read_hexadecimal();
    if (is_surrogate(character) && character < 0xdc00 && begins("\\u")) {
      at_ += 2;
      const uint32_t low = read_hexadecimal();
      const bool is_low = is_surrogate(low) && low >= 0xdc00;
      character = is_low ? 0x10000 + ((character & 0x3ff) << 10) + (low & 0x3ff) : kNoCharacter;
    }
    if (character == kNoCharacter || character == 0 || is_surrogate(character)) {
      return fail("this is the code of no character");
    }
    append_utf8(character, text);
    return true;
  }

  /// Four digits; kNoCharacter if they are missing.
  uint32_t read_hexadecimal() {
    const std::string_view digits = text_.substr(at_, 4);
    uint32_t character = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), character, 16);
    if (digits.size() < 4 || error != std::errc() || end != digits.data() + 4) {
      return kNoCharacter;
    }
    at_ += 4;
    return character;
  }

  bool skip_digits() {
    const size_t begin = at_;
    while (is_digit(next())) {
      ++at_;
    }
    return at_ > begin;
  }

  bool read_number(Value* value) {
    const size_t begin = at_;
    take('-');
    bool is_good = take('0') || skip_digits();
    const size_t end_of_integer = at_;
    if (is_good && take('.')) {
      is_good = skip_digits();
    }
    if (is_good && (take('e') || take('E'))) {
      static_cast<void>(take('+') || take('-'));
      is_good = skip_digits();
    }
    if (!is_good || is_digit(next())) {
      return fail("this is not a number of JSON");
    }
    value->kind = Kind::kNumber;
    value->is_integer = at_ == end_of_integer;
    const std::errc error = std::from_chars(&text_[begin], text_.data() + at_, value->number).ec;
    if (error != std::errc()) {
      value->number = std::numeric_limits<double>::quiet_NaN();
    }
    return true;
  }

  bool read_word(Value* value) {
    for (const std::string_view word : {"true", "false", "null"}) {
      if (begins(word)) {
        at_ += word.size();
        value->kind = word == "null" ? Kind::kNull : Kind::kBoolean;
        return true;
      }
    }
    return fail(n_values_ == 1 && is_at_end() ? "the document is empty"
                : is_at_end()                 ? "the document does not end"
                                              : "a value is missing");
  }

  std::string_view text_;
  size_t at_ = 0;
  size_t n_values_ = 0;
  std::string reason_;
};

}  // namespace

const Value* Value::member(std::string_view name) const {
  const auto found = std::find(names.begin(), names.end(), name);
  return found != names.end() ? &elements[static_cast<size_t>(found - names.begin())] : nullptr;
}

Status parse(std::string_view text, Value* value) {
  *value = {};
  return Parser(text).parse(value);
}

}  // namespace ccl::json
