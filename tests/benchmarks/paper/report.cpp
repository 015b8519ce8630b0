// SPDX-License-Identifier: LGPL-2.1-or-later
#include "report.h"

#include <cerrno>
#include <cmath>
#include <cstring>

namespace ccl::bench {

namespace {

/// Empty for what is no figure.
std::string exact(double value) {
  if (std::isnan(value)) {
    return "";
  }
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", value);
  return text;
}

std::string quoted(const std::string& text) {
  return text.empty() ? "" : "\"" + text + "\"";
}

}  // namespace

double Figure::ratio() const {
  switch (better) {
    case Better::kLower:
      return paper / ours;
    case Better::kHigher:
      return ours / paper;
    case Better::kNeither:
      break;
  }
  return kNoFigure;
}

std::string text_of(double value) {
  if (std::isnan(value)) {
    return "–";
  }
  char text[32];
  if (std::abs(value) >= 100) {
    std::snprintf(text, sizeof(text), "%.0f", value);
  } else {
    std::snprintf(text, sizeof(text), "%.3g", value);
  }
  return text;
}

Report::~Report() {
  if (csv_ != nullptr) {
    std::fclose(csv_);
  }
}

Status Report::open(const std::string& file, const Facts& facts) {
  if (file.empty()) {
    return {};
  }
  csv_ = std::fopen(file.c_str(), "w");
  if (csv_ == nullptr) {
    return {StatusCode::kInvalidArgument, file + ": " + std::strerror(errno)};
  }
  for (const auto& [key, value] : facts) {
    std::fprintf(csv_, "# %s: %s\n", key.c_str(), value.c_str());
  }
  std::fputs("kind,table,image,width,height,backend,algorithm,quantity,unit,paper,ours,ratio,text,evidence\n",
             csv_);
  return {};
}

void Report::add(const Figure& figure) {
  if (figure.table != table_) {
    table_ = figure.table;
    std::printf("\n%s\n", table_.c_str());
  }
  const std::string size = std::to_string(figure.size.width) + "x" + std::to_string(figure.size.height);
  std::printf("  %-16s %-11s %-28s %-18s", figure.image.c_str(), size.c_str(), figure.algorithm.c_str(),
              figure.quantity.c_str());
  if (!std::isnan(figure.paper)) {
    std::printf(" paper %9s %s,", text_of(figure.paper).c_str(), figure.unit.c_str());
  }
  std::printf(" ours %9s %s", text_of(figure.ours).c_str(), figure.unit.c_str());
  if (const double ratio = figure.ratio(); !std::isnan(ratio)) {
    std::printf(", %s times better", text_of(ratio).c_str());
  }
  std::puts("");
  write("figure", figure, "", "");
}

void Report::claim(const std::string& text, std::optional<bool> holds, const std::string& evidence) {
  const char* verdict = !holds ? "not tested" : *holds ? "holds" : "does not hold";
  std::printf("  %s: %s (%s)\n", verdict, text.c_str(), evidence.c_str());
  write("claim", {.table = "claims", .image = "", .quantity = verdict, .unit = ""}, text, evidence);
}

void Report::leave_out(const std::string& what, const std::string& why) {
  const std::string line = what + ": " + why + "\n";
  if (left_out_.find(line) == std::string::npos) {
    left_out_ += line;
    std::printf("  left out: %s", line.c_str());
  }
}

void Report::write(const std::string& kind, const Figure& figure, const std::string& text,
                   const std::string& evidence) {
  if (csv_ == nullptr) {
    return;
  }
  std::fprintf(csv_, "%s,%s,%s,%u,%u,%s,%s,%s,%s,%s,%s,%s,%s,%s\n", kind.c_str(), figure.table.c_str(),
               figure.image.c_str(), figure.size.width, figure.size.height, figure.backend.c_str(),
               figure.algorithm.c_str(), figure.quantity.c_str(), figure.unit.c_str(),
               exact(figure.paper).c_str(), exact(figure.ours).c_str(), exact(figure.ratio()).c_str(),
               quoted(text).c_str(), quoted(evidence).c_str());
  std::fflush(csv_);
}

}  // namespace ccl::bench
