// SPDX-License-Identifier: LGPL-2.1-or-later
/// Digests of what lies in device memory, taken there.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "ccl/status.h"
#include "device/pipeline.h"

namespace ccl::bench {

/// Enqueues the addition of digest_of(data, n_bytes) to *digest in device memory. The data lies there too, or
/// in pinned memory.
Status enqueue_digest(const void* data, size_t n_bytes, uint64_t* digest, cudaStream_t stream);

/// The same of the first counts->n_components records, at most `max_components`.
Status enqueue_record_digest(const CclComponent* records, const FrameCounts* counts, uint32_t max_components,
                             uint64_t* digest, cudaStream_t stream);

}  // namespace ccl::bench
