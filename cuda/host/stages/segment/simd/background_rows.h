// SPDX-License-Identifier: LGPL-2.1-or-later
/// The row kernels of the background models over any lanes. Each instruction set includes this file once.
///
/// `Bytes` has the operations of ByteLane, and `Words` those of WordLane; both also have
/// - kWidth: values in a vector, a divisor of kBlock;
/// - load(pointer) and store(value, pointer) of unaligned arrays: bytes, or for Words of bytes and 16-bit
/// numbers;
/// - bits(mask): a bit for each value.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "host/stages/segment/simd/background.h"

namespace ccl::host {

template <typename Bytes, typename Words>
class BackgroundRows {
 public:
  static constexpr BackgroundKernels table() {
    return {.classify_sigma_delta = classify_sigma_delta,
            .classify_sigma_delta_chroma = classify_sigma_delta_chroma,
            .update_sigma_delta = update_sigma_delta,
            .update_sigma_delta_chroma = update_sigma_delta_chroma,
            .classify_mixture = classify_mixture,
            .update_mixture = update_mixture,
            .double_columns = double_columns,
            .halve_columns = halve_columns};
  }

 private:
  using Byte = typename Bytes::Value;
  using Word = typename Words::Value;

  /// A row of a frame as blocks: the last one is a copy if it is not whole.
  class BlockReader {
   public:
    BlockReader(const uint8_t* row, uint32_t width)
        : row_(row), n_last_(width % kBlock), last_(width - n_last_) {
      if (n_last_ != 0) {
        std::memcpy(copy_, row + last_, n_last_);
      }
    }

    const uint8_t* block(uint32_t x) const { return n_last_ != 0 && x == last_ ? copy_ : row_ + x; }

   private:
    const uint8_t* row_;
    uint32_t n_last_;
    uint32_t last_;
    alignas(kBlock) uint8_t copy_[kBlock] = {};
  };

  /// The bits of the pixels of a block that begins at column x.
  static uint64_t valid_bits(uint32_t x, uint32_t width) {
    return width - x >= kBlock ? ~uint64_t{0} : (uint64_t{1} << (width - x)) - 1;
  }

  static sigma_delta::Around<Bytes> means_around(const uint8_t* const (&mean)[3], uint32_t x) {
    sigma_delta::Around<Bytes> around = {Bytes::splat(255), Bytes::splat(0)};
    for (const uint8_t* row : mean) {
      const Byte before = Bytes::load(row + x - 1);
      const Byte here = Bytes::load(row + x);
      const Byte after = Bytes::load(row + x + 1);
      around.low = Bytes::min(around.low, Bytes::min(Bytes::min(before, after), here));
      around.high = Bytes::max(around.high, Bytes::max(Bytes::max(before, after), here));
    }
    return around;
  }

  static sigma_delta::ChromaClass<Bytes> load_class(const uint8_t* classes, uint32_t x) {
    return classes != nullptr ? sigma_delta::unpack<Bytes>(Bytes::load(classes + x))
                              : sigma_delta::no_chroma<Bytes>();
  }

  static void classify_sigma_delta(const SigmaDeltaClassJob& job, ClassRow* out) {
    const BlockReader pixels(job.pixels, job.width);
    for (uint32_t x = 0; x < job.width; x += kBlock) {
      uint64_t foreground = 0;
      uint64_t differs = 0;
      for (uint32_t i = 0; i < kBlock; i += Bytes::kWidth) {
        const Byte value = Bytes::load(pixels.block(x) + i);
        const Byte mean = Bytes::load(job.mean[1] + x + i);
        const Byte variance = Bytes::load(job.variance + x + i);
        const Byte far = sigma_delta::differs<Bytes>(job.thresholds, distance<Bytes>(value, mean), variance);
        // It differs rarely, and only there the means around matter.
        Byte luma = far;
        if (Bytes::bits(far) != 0) {
          luma = sigma_delta::stands_out<Bytes>(job.thresholds, far, value, means_around(job.mean, x + i));
        }
        const auto c = sigma_delta::classify<Bytes>(job.thresholds, luma, value, mean,
                                                    load_class(job.chroma_classes, x + i));
        foreground |= uint64_t{Bytes::bits(c.foreground)} << i;
        differs |= uint64_t{Bytes::bits(c.differs)} << i;
      }
      const uint64_t valid = valid_bits(x, job.width);
      out->bits[x / kBlock] = foreground & valid;
      out->n_differ += static_cast<uint32_t>(std::popcount(differs & valid));
    }
  }

  static sigma_delta::ChromaPixel<Bytes> load_chroma(const SigmaDeltaChromaRow& row, uint32_t x) {
    return {Bytes::load(row.mean_u + x), Bytes::load(row.mean_v + x), Bytes::load(row.variance + x),
            Bytes::load(row.candidate_u + x), Bytes::load(row.candidate_v + x)};
  }

  static void classify_sigma_delta_chroma(const SigmaDeltaChromaClassJob& job) {
    const BlockReader u(job.u, job.width);
    const BlockReader v(job.v, job.width);
    for (uint32_t x = 0; x < job.width; x += kBlock) {
      for (uint32_t i = 0; i < kBlock; i += Bytes::kWidth) {
        const auto c =
            sigma_delta::classify_chroma<Bytes>(job.thresholds, Bytes::load(u.block(x) + i),
                                                Bytes::load(v.block(x) + i), load_chroma(job.state, x + i));
        Bytes::store(sigma_delta::pack<Bytes>(c), job.classes + x + i);
      }
    }
  }

  static void update_sigma_delta(const SigmaDeltaUpdateJob& job) {
    const SigmaDeltaRow& state = job.state;
    const BlockReader pixels(job.pixels, job.width);
    for (uint32_t x = 0; x < job.width; x += kBlock) {
      for (uint32_t at = x; at < x + kBlock; at += Bytes::kWidth) {
        const Byte value = Bytes::load(pixels.block(x) + (at - x));
        const sigma_delta::Pixel<Bytes> old = {Bytes::load(state.mean + at), Bytes::load(state.variance + at),
                                               Bytes::load(state.status + at)};
        const auto chroma = load_class(job.chroma_classes, at);
        const Byte far = distance<Bytes>(value, old.mean);
        const Byte differs =
            Bytes::either(sigma_delta::differs<Bytes>(job.thresholds, far, old.variance), chroma.differs);
        auto pixel = sigma_delta::update<Bytes>(job.rates, old, value, differs);
        if (Bytes::bits(differs) != 0) {
          sigma_delta::Candidate<Bytes> candidate = {Bytes::load(state.candidate + at),
                                                     Bytes::load(state.stay + at)};
          sigma_delta::judge<Bytes>(job.rates, differs, chroma.stays, value, &pixel, &candidate);
          Bytes::store(candidate.value, state.candidate + at);
          Bytes::store(candidate.stay, state.stay + at);
        }
        Bytes::store(pixel.mean, state.mean + at);
        Bytes::store(pixel.variance, state.variance + at);
        Bytes::store(pixel.status, state.status + at);
      }
    }
  }

  static void update_sigma_delta_chroma(const SigmaDeltaChromaUpdateJob& job) {
    const SigmaDeltaChromaRow& state = job.state;
    const BlockReader u(job.u, job.width);
    const BlockReader v(job.v, job.width);
    for (uint32_t x = 0; x < job.width; x += kBlock) {
      for (uint32_t at = x; at < x + kBlock; at += Bytes::kWidth) {
        const auto leader =
            sigma_delta::leader<Bytes>(Bytes::load(job.luma_status + at), Bytes::load(job.luma_stay + at));
        const auto pixel = sigma_delta::update_chroma<Bytes>(
            job.thresholds, job.rates, leader, load_chroma(state, at), Bytes::load(u.block(x) + (at - x)),
            Bytes::load(v.block(x) + (at - x)));
        Bytes::store(pixel.mean_u, state.mean_u + at);
        Bytes::store(pixel.mean_v, state.mean_v + at);
        Bytes::store(pixel.variance, state.variance + at);
        Bytes::store(pixel.candidate_u, state.candidate_u + at);
        Bytes::store(pixel.candidate_v, state.candidate_v + at);
      }
    }
  }

  static mixture::Mode<Words> load_mode(const MixtureRow& row, uint32_t k, uint32_t x) {
    return {Words::load(row.weight[k] + x), Words::load(row.mean[k] + x), Words::load(row.variance[k] + x),
            Words::load(row.chroma[k] + x)};
  }

  static void store_mode(const mixture::Mode<Words>& mode, const MixtureRow& row, uint32_t k, uint32_t x) {
    Words::store(mode.weight, row.weight[k] + x);
    Words::store(mode.mean, row.mean[k] + x);
    Words::store(mode.variance, row.variance[k] + x);
    Words::store(mode.chroma, row.chroma[k] + x);
  }

  static mixture::Pixel<Words> load_modes(const MixtureRow& row, uint32_t x) {
    mixture::Pixel<Words> pixel;
    for (uint32_t k = 0; k < mixture::kModes; ++k) {
      pixel.modes[k] = load_mode(row, k, x);
    }
    return pixel;
  }

  /// Whether one of some pixels has a second mode of this weight. Most have not, and then the others are not
  /// read.
  static bool have_second_mode(const MixtureRow& row, uint32_t x, uint32_t least_weight) {
    return Words::any(Words::at_least(Words::load(row.weight[1] + x), Words::splat(least_weight)));
  }

  static mixture::Around<Words> around(const MixtureClassJob& job, uint32_t x) {
    Word low = Words::splat(0xffff);
    Word high = Words::splat(0);
    for (const uint16_t* row :
         {job.around[0], static_cast<const uint16_t*>(job.state.mean[0]), job.around[1]}) {
      for (uint32_t i = 0; i < 3; ++i) {
        const Word mean = Words::load(row + x + i - 1);
        low = least<Words>(low, mean);
        high = greatest<Words>(high, mean);
      }
    }
    return {mixture::background_luma<Words>(low), mixture::background_luma<Words>(high)};
  }

  static void mark_ghosts(const MixtureClassJob& job, const mixture::Pixel<Words>& pixel,
                          const mixture::Color<Words>& color, uint32_t x) {
    const uint16_t* const means[] = {job.around[0], job.state.mean[0], job.around[1]};
    const uint16_t* const chromas[] = {job.around_chroma[0], job.state.chroma[0], job.around_chroma[1]};
    const Word is_ghost = mixture::is_ghost<Words>(job.thresholds, pixel, color, [&](uint32_t i) {
      const uint32_t at = i < 4 ? i : i + 1;
      return mixture::Background<Words>{Words::load(means[at / 3] + x + at % 3 - 1),
                                        Words::load(chromas[at / 3] + x + at % 3 - 1)};
    });
    Words::store(pixel.modes[0].variance | (is_ghost & mixture::kGhost), job.state.variance[0] + x);
  }

  static void classify_mixture(const MixtureClassJob& job, ClassRow* out) {
    const BlockReader pixels(job.pixels, job.width);
    for (uint32_t x = 0; x < job.width; x += kBlock) {
      uint64_t foreground = 0;
      uint64_t differs = 0;
      for (uint32_t i = 0; i < kBlock; i += Words::kWidth) {
        const mixture::Color<Words> color = {Words::load(pixels.block(x) + i), Words::load(job.u + x + i),
                                             Words::load(job.v + x + i)};
        const mixture::Pixel<Words> pixel = have_second_mode(job.state, x + i, mixture::kGhostWeight)
                                                ? load_modes(job.state, x + i)
                                                : mixture::Pixel<Words>{{load_mode(job.state, 0, x + i)}};
        const auto c = mixture::classify<Words>(
            job.thresholds, pixel, color, [&] { return around(job, x + i); }, job.has_chroma);
        foreground |= uint64_t{Words::bits(c.foreground)} << i;
        differs |= uint64_t{Words::bits(c.differs)} << i;
        if (job.thresholds.ghosts) {
          mark_ghosts(job, pixel, color, x + i);
        }
      }
      const uint64_t valid = valid_bits(x, job.width);
      out->bits[x / kBlock] = foreground & valid;
      out->n_differ += static_cast<uint32_t>(std::popcount(differs & valid));
    }
  }

  static void update_mixture(const MixtureUpdateJob& job) {
    const BlockReader pixels(job.pixels, job.width);
    for (uint32_t x = 0; x < job.width; x += kBlock) {
      for (uint32_t i = 0; i < kBlock; i += Words::kWidth) {
        const mixture::Color<Words> color = {Words::load(pixels.block(x) + i), Words::load(job.u + x + i),
                                             Words::load(job.v + x + i)};
        if (!have_second_mode(job.state, x + i, 1)) {
          Word is_free = Words::splat(~0u);
          const mixture::Mode<Words> first =
              mixture::learn_first<Words>(job.rates, load_mode(job.state, 0, x + i), color, &is_free);
          if (!Words::any(is_free)) {
            store_mode(first, job.state, 0, x + i);
            continue;
          }
        }
        const mixture::Pixel<Words> pixel =
            mixture::update<Words>(job.rates, load_modes(job.state, x + i), color);
        for (uint32_t k = 0; k < mixture::kModes; ++k) {
          store_mode(pixel.modes[k], job.state, k, x + i);
        }
      }
    }
  }

  static void double_columns(const uint8_t* in, uint32_t width, uint8_t* out) {
    for (uint32_t x = 0; x < width / 2; ++x) {
      out[2 * x] = in[x];
      out[2 * x + 1] = in[x];
    }
    if (width % 2 != 0) {
      out[width - 1] = in[width / 2];
    }
  }

  static void halve_columns(const uint8_t* in, uint32_t width, uint8_t* out) {
    for (uint32_t x = 0; x < width; ++x) {
      out[x] = in[2 * x];
    }
  }
};

}  // namespace ccl::host
