#!/bin/sh
# test-raw.sh CCL-RECORDS: two raw frames of an odd width through ccl-records; labels and records as
# expected, to the byte.
set -eu
ccl_records=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# Frame 0:  X.X.X   Frame 1: .....
#           X....            .XXX.
#           .X..X            .....
printf '\377\0\377\0\377\377\0\0\0\0\0\377\0\0\377' > frames
printf '\0\0\0\0\0\0\377\377\377\0\0\0\0\0\0' >> frames

"$ccl_records" --backend cpu --raw 5x3 --labels labels --output records.csv frames
printf '\1\0\0\0\2\0\0\0\3\0\1\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0\0\4\0' > expected
printf '\0\0\0\0\0\0\0\0\0\0\0\0\1\0\1\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0' >> expected
cmp labels expected

cat > expected.csv <<'END'
0,1,3,0,0
0,2,1,2,0
0,3,1,4,0
0,4,1,4,2
1,1,3,1,1
END
tail -n +2 records.csv | cut -d, -f2,4,7,8,9 | diff - expected.csv

# Four directions take the pixel below on the diagonal apart.
"$ccl_records" --backend cpu --raw 5x3 --set connectivity=4-way --output records.csv frames
test "$(grep -c '^ccl,0,' records.csv)" = 5

# What does not exist is an error that names it, not silence.
fails_with() {
  message=$1
  shift
  if "$@" >output 2>error; then
    echo "not an error: $*"
    exit 1
  fi
  grep -q "$message" error
}
fails_with nonsense "$ccl_records" --raw 5x3 --set nonsense=1 frames
fails_with sideways "$ccl_records" --raw 5x3 --set connectivity=sideways frames
fails_with 'ends within a frame' "$ccl_records" --raw 7x3 frames
