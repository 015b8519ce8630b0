// SPDX-License-Identifier: LGPL-2.1-or-later
#include "method.h"

namespace ccl::bench {

std::unique_ptr<Method> make_method(const std::string& name, const MethodOptions& options) {
  const size_t colon = name.find(':');
  const std::string plain = name.substr(0, colon);
  const std::string parameter = colon == std::string::npos ? "" : name.substr(colon + 1);
  std::unique_ptr<Method> method;
  if (plain == "sigma-delta" || plain == "mixture") {
    method = make_engine_method(plain == "mixture" ? BackgroundModel::kMixture : BackgroundModel::kSigmaDelta,
                                options);
  } else {
    method = make_opencv_method(plain, parameter);
  }
  if (method != nullptr) {
    method->name = plain;
    method->parameter = parameter;
  }
  return method;
}

std::vector<std::string> default_methods() {
  return {"sigma-delta", "mixture", "mog2", "knn", "cnt", "mog2:0.0025", "knn:0.005", "cnt:5"};
}

}  // namespace ccl::bench
