// SPDX-License-Identifier: LGPL-2.1-or-later
#include "summary.h"

#include <algorithm>
#include <functional>
#include <map>

#include "protocol.h"

namespace ccl::bench {

namespace {

using Figure = std::function<double(const Outcome&)>;

// What this project asks of its models.
constexpr double kTolerance = 0.05;
constexpr int kSettleGoal = 10;  ///< frames

std::string full_name(const Outcome& outcome) {
  return outcome.parameter.empty() ? outcome.method : outcome.method + ":" + outcome.parameter;
}

/// In the order in which they come.
std::vector<std::string> distinct(const std::vector<Outcome>& outcomes,
                                  const std::function<std::string(const Outcome&)>& key) {
  std::vector<std::string> values;
  for (const Outcome& outcome : outcomes) {
    if (std::find(values.begin(), values.end(), key(outcome)) == values.end()) {
      values.push_back(key(outcome));
    }
  }
  return values;
}

class Table {
 public:
  Table(const std::vector<Outcome>& outcomes, const Figure& figure) {
    categories_ = distinct(outcomes, [](const Outcome& outcome) { return outcome.category; });
    methods_ = distinct(outcomes, full_name);
    for (const Outcome& outcome : outcomes) {
      sums_[{outcome.category, full_name(outcome)}] += figure(outcome);
      counts_[{outcome.category, full_name(outcome)}] += 1;
    }
  }

  const std::vector<std::string>& categories() const { return categories_; }
  const std::vector<std::string>& methods() const { return methods_; }

  /// The mean of the category's sequences.
  double mean(const std::string& category, const std::string& method) const {
    return sums_.at({category, method}) / counts_.at({category, method});
  }

  /// The mean of all categories.
  double mean(const std::string& method) const {
    double sum = 0;
    for (const std::string& category : categories_) {
      sum += mean(category, method);
    }
    return sum / static_cast<double>(categories_.size());
  }

  bool has(const std::string& method) const {
    return std::find(methods_.begin(), methods_.end(), method) != methods_.end();
  }

  void print(const char* title) const {
    std::printf("%-14s", title);
    for (const std::string& method : methods_) {
      std::printf(" %11s", method.c_str());
    }
    for (const std::string& category : categories_) {
      std::printf("\n%-14s", category.c_str());
      for (const std::string& method : methods_) {
        std::printf(" %11.3f", mean(category, method));
      }
    }
    std::printf("\n%-14s", "mean");
    for (const std::string& method : methods_) {
      std::printf(" %11.3f", mean(method));
    }
    std::printf("\n\n");
  }

 private:
  std::vector<std::string> categories_;
  std::vector<std::string> methods_;
  std::map<std::pair<std::string, std::string>, double> sums_;
  std::map<std::pair<std::string, std::string>, int> counts_;
};

void print_goal(bool is_reached, const std::string& what) {
  std::printf("%s  %s\n", is_reached ? "reached" : "MISSED ", what.c_str());
}

std::string digits(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3f", value);
  return text;
}

void print_categories_below(const Table& table, const std::string& method) {
  for (const std::string& category : table.categories()) {
    const double missing = table.mean(category, "mog2") - table.mean(category, method);
    if (missing > kTolerance) {
      print_goal(false, category + ": " + method + " is " + digits(missing) + " below mog2");
    }
  }
}

void print_goals(const Table& table, const std::vector<Outcome>& outcomes) {
  const bool has_peers = table.has("mog2") && table.has("knn") && table.has("cnt");
  if (has_peers && table.has("sigma-delta") && table.has("mixture")) {
    const double theirs = std::max({table.mean("mog2"), table.mean("knn"), table.mean("cnt")});
    const double usual = table.mean("sigma-delta");
    const double ours = std::max(usual, table.mean("mixture"));
    print_goal(ours >= theirs, "mean F1: the better model has " + digits(ours) + ", the best of OpenCV " +
                                   digits(theirs) + " with default parameters");
    print_goal(usual >= theirs - kTolerance, "mean F1: sigma-delta has " + digits(usual));
  }
  for (const char* method : {"sigma-delta", "mixture"}) {
    if (table.has("mog2") && table.has(method)) {
      print_categories_below(table, method);
    }
  }
  for (const Outcome& outcome : outcomes) {
    const bool is_ours = outcome.method == "sigma-delta" || outcome.method == "mixture";
    if (is_ours && outcome.settled_after) {
      print_goal(*outcome.settled_after <= kSettleGoal,
                 outcome.category + ", " + outcome.sequence + ": " + full_name(outcome) +
                     " has no false component after " + std::to_string(*outcome.settled_after) + " frames");
    }
  }
}

}  // namespace

void write_csv(const std::string& file, const Facts& facts, cv::Size size,
               const std::vector<Outcome>& outcomes) {
  std::FILE* out = std::fopen(file.c_str(), "w");
  if (out == nullptr) {
    fail("foreground-bench: " + file + " cannot be written");
  }
  for (const auto& [key, value] : facts) {
    std::fprintf(out, "# %s: %s\n", key.c_str(), value.c_str());
  }
  std::fprintf(out,
               "category,sequence,method,parameter,width,height,frames,true_positives,false_positives,"
               "false_negatives,true_negatives,precision,recall,f1,settled_after\n");
  for (const Outcome& o : outcomes) {
    std::fprintf(out, "%s,%s,%s,%s,%d,%d,%d,%zu,%zu,%zu,%zu,%.4f,%.4f,%.4f,%s\n", o.category.c_str(),
                 o.sequence.c_str(), o.method.c_str(), o.parameter.c_str(), size.width, size.height,
                 kFrames - kWarmUp, size_t{o.score.true_positives}, size_t{o.score.false_positives},
                 size_t{o.score.false_negatives}, size_t{o.score.true_negatives}, o.score.precision(),
                 o.score.recall(), o.score.f1(),
                 o.settled_after ? std::to_string(*o.settled_after).c_str() : "");
  }
  if (std::fclose(out) != 0) {
    fail("foreground-bench: " + file + " cannot be written");
  }
}

void print_summary(const std::vector<Outcome>& outcomes) {
  if (outcomes.empty()) {
    return;
  }
  Table(outcomes, [](const Outcome& outcome) { return outcome.score.precision(); }).print("precision");
  Table(outcomes, [](const Outcome& outcome) { return outcome.score.recall(); }).print("recall");
  const Table f1(outcomes, [](const Outcome& outcome) { return outcome.score.f1(); });
  f1.print("F1");
  print_goals(f1, outcomes);
}

}  // namespace ccl::bench
