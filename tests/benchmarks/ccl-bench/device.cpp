// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device.h"

#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>

#include "device/check.h"
#include "device/context.h"
#include "device_subject.h"
#include "floor.h"
#include "npp.h"
#include "paper/device_label_subject.h"

namespace ccl::bench {

namespace {

std::string version(int cuda_version) {
  return std::to_string(cuda_version / 1000) + "." + std::to_string(cuda_version % 1000 / 10);
}

/// As the kernel module reports it: "580.159.04"; if it does not, the CUDA version of the driver.
std::string driver_version() {
  std::ifstream file("/proc/driver/nvidia/version");
  for (std::string word; file >> word;) {
    if (word.find_first_not_of("0123456789.") == std::string::npos && word.find('.') != std::string::npos) {
      return word;
    }
  }
  int cuda = 0;
  return cudaDriverGetVersion(&cuda) == cudaSuccess ? "for CUDA " + version(cuda) : "unknown";
}

class CudaDevice final : public Device {
 public:
  Status open() {
    CCL_RETURN_IF_ERROR(device::Context::create({}, &context_));
    current_.emplace(*context_);
    CCL_RETURN_IF_ERROR(current_->status());
    return stream_.create();
  }

  Facts facts() const override {
    int runtime = 0;
    cudaRuntimeGetVersion(&runtime);
    return {{"gpu", context_->description()}, {"driver", driver_version()}, {"cuda", version(runtime)}};
  }

  Status make_subject(const Config& config, std::unique_ptr<Subject>* subject) override {
    return make_pipeline_subject(config, stream_, subject);
  }

  Status make_label_subject(const std::string& nick, Size size,
                            std::unique_ptr<LabelSubject>* subject) override {
    return make_device_label_subject(nick, size, stream_, subject);
  }

  double core_cycles_per_us() const override {
    constexpr double kCoresPerMultiprocessor = 128;
    int device = 0;
    int n_multiprocessors = 0;
    int kilohertz = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&n_multiprocessors, cudaDevAttrMultiProcessorCount, device);
    cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, device);
    return n_multiprocessors * kCoresPerMultiprocessor * kilohertz / 1000;
  }

  Status time_floor(Size size, const Repetitions& repetitions, Row* row) override {
    return bench::time_floor(size, stream_, repetitions, row);
  }

  Status time_peers(const test::Image& image, Connectivity connectivity, const Repetitions& repetitions,
                    std::vector<Row>* rows) override {
    if (!has_looked_for_npp_) {
      has_looked_for_npp_ = true;
      give_up_peer_unless(Npp::load(&npp_));
    }
    if (npp_) {
      give_up_peer_unless(npp_->time(image, connectivity, stream_, repetitions, rows));
    }
    return {};
  }

 private:
  /// A peer that fails is no reason to end.
  void give_up_peer_unless(const Status& status) {
    if (!status.ok()) {
      std::fprintf(stderr, "ccl-bench: no peer: %s\n", status.message().c_str());
      npp_.reset();
    }
  }

  // In this order: the stream goes while the context is current, the context last.
  std::shared_ptr<device::Context> context_;
  std::optional<device::CurrentContext> current_;
  device::Stream stream_;
  std::unique_ptr<Npp> npp_;
  bool has_looked_for_npp_ = false;
};

}  // namespace

Status Device::open(std::unique_ptr<Device>* device) {
  auto made = std::make_unique<CudaDevice>();
  CCL_RETURN_IF_ERROR(made->open());
  *device = std::move(made);
  return {};
}

Status open_device_csv(int argc, char** argv, std::unique_ptr<Device>* device, CsvWriter* csv) {
  if (argc != 3) {
    return {StatusCode::kInvalidArgument, std::string("usage: ccl-bench ") + argv[1] + " FILE.csv"};
  }
  CCL_RETURN_IF_ERROR(Device::open(device));
  const char* commit = std::getenv("COMMIT");
  Facts facts = machine_facts(commit != nullptr ? commit : "", argc, argv);
  const Facts more = (*device)->facts();
  facts.insert(facts.end(), more.begin(), more.end());
  CCL_RETURN_IF_ERROR(csv->open(argv[2]));
  csv->write_header(facts);
  return {};
}

}  // namespace ccl::bench
