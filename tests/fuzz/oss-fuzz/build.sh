#!/bin/bash -eu
# SPDX-License-Identifier: LGPL-2.1-or-later
# What OSS-Fuzz calls in its container: builds the targets that need no GStreamer, with its compiler and its flags, which
# Meson takes from CXX and CXXFLAGS, and packs their files.

# The distribution's library is built for another C++ library than these flags choose.
gtest=/usr/src/googletest/googletest
prefix=$WORK/gtest
mkdir -p "$prefix"
# shellcheck disable=SC2086
$CXX $CXXFLAGS -std=c++17 -I$gtest -I$gtest/include -c $gtest/src/gtest-all.cc -o "$prefix/gtest-all.o"
ar rcs "$prefix/libgtest.a" "$prefix/gtest-all.o"
cat > "$prefix/gtest.pc" <<END
Name: gtest
Description: built for this fuzzer
Version: 1.10.0
Libs: -L$prefix -lgtest -lpthread
Cflags: -I$gtest/include
END
export PKG_CONFIG_PATH=$prefix

build=$WORK/build
targets=(frame json regions separate structs track)
meson setup "$build" --buildtype=plain -Dplugin=disabled -Dcuda=disabled -Dbenchmarks=disabled -Dexamples=disabled \
  -Db_lundef=false -Db_pch=false -Dfuzz-engine="$LIB_FUZZING_ENGINE"
ninja -C "$build" "${targets[@]/#/tests/fuzz/fuzz-}"
for target in "${targets[@]}"; do
  cp "$build/tests/fuzz/fuzz-$target" "$OUT/"
  zip -qj "$OUT/fuzz-${target}_seed_corpus.zip" "tests/fuzz/corpus/$target/"*
done
