// SPDX-License-Identifier: LGPL-2.1-or-later
/// What most tests of the library include, compiled once. Each source includes what it uses nevertheless, so
/// that a build without precompiled headers (-Db_pch=false) works.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "fixture.h"
#include "images.h"
#include "oracle.h"
