// SPDX-License-Identifier: LGPL-2.1-or-later
/// What most tests of the element include, compiled once. Each source includes what it uses nevertheless: a
/// build without precompiled headers (-Db_pch=false) works.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness.h"
