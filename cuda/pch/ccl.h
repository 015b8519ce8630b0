// SPDX-License-Identifier: LGPL-2.1-or-later
/// Headers of the standard library that most sources include, compiled once: parsing them takes longer than
/// a source of ours. Each source includes what it uses nevertheless: a build without precompiled headers
/// (-Db_pch=false) works.
#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
