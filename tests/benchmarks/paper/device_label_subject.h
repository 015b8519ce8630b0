// SPDX-License-Identifier: LGPL-2.1-or-later
/// A labeler of the GPU with a frame's device memory.
#pragma once

#include <memory>
#include <string>

#include "device/memory.h"
#include "label_subject.h"

namespace ccl::bench {

/// See Device::make_label_subject(). Timed on `stream`, which must outlive it.
Status make_device_label_subject(const std::string& nick, Size size, const device::Stream& stream,
                                 std::unique_ptr<LabelSubject>* subject);

}  // namespace ccl::bench
