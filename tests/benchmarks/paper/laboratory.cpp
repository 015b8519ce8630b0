// SPDX-License-Identifier: LGPL-2.1-or-later
#include "laboratory.h"

#include "ccl/engine.h"
#include "digest.h"
#include "image_set.h"
#include "machine.h"

namespace ccl::bench {

namespace {

/// Few, as the papers' figures are means of single runs and time on the device is expensive.
constexpr Repetitions kRepetitions{.most = 15, .budget_us = 15000};

Status find_reference(const Settings& settings, PaperImage* image) {
  const std::unique_ptr<Engine> engine = make_host_engine();
  const Size size = image->size();
  CCL_RETURN_IF_ERROR(engine->configure(
      {.width = size.width, .height = size.height, .layout = {}, .max_components = 1, .threads = 1}));
  std::vector<uint32_t> root_map(size_t{size.width} * size.height);
  FrameJob job{.input = {image->image.pixels(), image->image.stride}, .output = {}, .settings = settings};
  job.settings.features = 0;
  job.root_map = root_map.data();
  CCL_RETURN_IF_ERROR(engine->push(job));
  FrameResult result;
  CCL_RETURN_IF_ERROR(engine->pop(&result));
  image->root_map_digest = digest_of(root_map.data(), root_map.size() * sizeof(uint32_t));
  std::vector<uint32_t> sizes(root_map.size());
  for (const uint32_t root : root_map) {
    if (root != 0) {
      ++sizes[root - 1];
    }
  }
  image->sizes_digest = digest_of(sizes.data(), sizes.size() * sizeof(uint32_t));
  return {};
}

}  // namespace

std::string milliseconds(double us) {
  return text_of(us / 1000) + " ms";
}

Status Laboratory::open(int argc, char** argv) {
  Facts facts = machine_facts(options_.commit, argc, argv);
  if (options_.on_gpu) {
    const Status status = Device::open(&device_);
    why_no_gpu_ = status.message();
    if (status.ok()) {
      const Facts more = device_->facts();
      facts.insert(facts.end(), more.begin(), more.end());
    } else if (status.code() != StatusCode::kNoDevice && status.code() != StatusCode::kUnsupported) {
      return status;
    }
  } else {
    why_no_gpu_ = "--cpu-only";
  }
  facts.emplace_back("threads", std::to_string(options_.threads));
  return report_.open(options_.csv, facts);
}

Status Laboratory::prepare(const std::vector<Draw>& draws, std::vector<PaperImage>* images) const {
  images->clear();
  images->resize(draws.size());
  return draw_all(draws.size(), [&](size_t i) {
    (*images)[i].image = draws[i]();
    return find_reference(settings, &(*images)[i]);
  });
}

Status Laboratory::prepare(const Draw& draw, PaperImage* image) const {
  std::vector<PaperImage> images;
  CCL_RETURN_IF_ERROR(prepare(std::vector{draw}, &images));
  *image = std::move(images.front());
  return {};
}

Status Laboratory::make_subject(const Contestant& contestant, Size size,
                                std::unique_ptr<LabelSubject>* subject) {
  if (contestant.backend == Backend::kCpu) {
    return make_host_label_subject(contestant.nick, size, pool_, subject);
  }
  if (!has_gpu()) {
    return {StatusCode::kUnsupported, why_no_gpu_};
  }
  return device_->make_label_subject(contestant.nick, size, subject);
}

/// Null where there is no such labeler. Subjects of other sizes are given up: they hold much memory.
Status Laboratory::load(const Contestant& contestant, const PaperImage& image, LabelSubject** subject) {
  *subject = nullptr;
  if (!(size_ == image.size())) {
    subjects_.clear();
    size_ = image.size();
  }
  const std::string key = std::string(backend_name(contestant.backend)) + " " + contestant.nick;
  std::unique_ptr<LabelSubject>& slot = subjects_[key];
  if (!slot) {
    const Status status = make_subject(contestant, size_, &slot);
    if (status.code() == StatusCode::kUnsupported) {
      report_.leave_out(contestant.nick, status.message());
      return {};
    }
    CCL_RETURN_IF_ERROR(status);
  }
  CCL_RETURN_IF_ERROR(slot->load(image.image, settings.rule));
  *subject = slot.get();
  return {};
}

Status Laboratory::measure(const Contestant& contestant, const PaperImage& image,
                           std::optional<Measured>* measured) {
  measured->reset();
  LabelSubject* subject = nullptr;
  CCL_RETURN_IF_ERROR(load(contestant, image, &subject));
  if (subject == nullptr) {
    return {};
  }
  Labelling labelling;
  CCL_RETURN_IF_ERROR(subject->label(settings.connectivity, kRepetitions, &labelling));
  if (labelling.root_map_digest != image.root_map_digest) {
    return {StatusCode::kDeviceError,
            contestant.nick + " on " + image.image.name + ": not the root map that the host engine gives"};
  }
  if (labelling.sizes_digest != 0 && labelling.sizes_digest != image.sizes_digest) {
    return {StatusCode::kDeviceError,
            contestant.nick + " on " + image.image.name + ": not the sizes that components have"};
  }
  *measured = Measured{.us = median(labelling.us), .n_iterations = labelling.n_iterations};
  return {};
}

Status Laboratory::measure_steps(const Contestant& contestant, const PaperImage& image,
                                 std::vector<Step>* steps) {
  steps->clear();
  LabelSubject* subject = nullptr;
  CCL_RETURN_IF_ERROR(load(contestant, image, &subject));
  if (subject == nullptr) {
    return {};
  }
  const Status status = subject->time_steps(settings.connectivity, kRepetitions, steps);
  if (status.code() == StatusCode::kUnsupported) {
    report_.leave_out("steps of " + contestant.nick, status.message());
    return {};
  }
  return status;
}

}  // namespace ccl::bench
