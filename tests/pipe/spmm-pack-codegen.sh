#!/bin/bash
# tests/pipe/spmm-pack-codegen.sh: kernels generated for one weight: they build alone, are right for any number of columns, and every way to err.
. "$(dirname "$0")/lib.sh"
prog=$HU_BUILD/spmm-pack

strict=(-std=c11 -O2 -Wall -Wextra -Werror)

# builds COMPILER FILE: it builds without a warning and finds itself right.
builds() {
    run 0 "$1" "${strict[@]}" -o kernel "$2"
    silent
    run 0 ./kernel
    grep -q '^right' out || fail "the test of the kernel says nothing"
}

weight() { run 0 "$prog" gen pruned --rows="$1" --cols="$2" --density="$3" --values=normal -o w.mtx; }

case_c_builds_alone() {
    needs gcc
    local k
    weight 75 100 .15
    for k in 1 20 70; do
        run 0 "$prog" codegen -a w.mtx --k=$k --search=rank --selftest -o w.c
        builds gcc w.c
    done
    sed 's/defined(__GNUC__)/0/' w.c >scalar.c
    builds gcc scalar.c
}

case_clang() {
    needs clang
    weight 40 50 .2
    run 0 "$prog" codegen -a w.mtx --k=33 --search=rank --selftest -o w.c
    builds clang w.c
}

# The test of a kernel finds a wrong one: a value of the kernel's table is changed, not of the test's.
case_selftest_can_fail() {
    needs gcc
    weight 256 256 .1
    run 0 "$prog" codegen -a w.mtx --k=16 --search=rank --selftest -o w.c
    perl -0pe 's/(static const float value\[\d+\] = \{\s*)(\S+),/${1}100.0f,/' w.c >wrong.c
    ! cmp -s w.c wrong.c || fail "nothing changed"
    run 0 gcc -std=c11 -O2 -o kernel wrong.c
    run 1 ./kernel
    grep -q '^wrong: row' out || fail "it does not say where"
}

# Small weights: straight-line code is tried; few zeros: a dense loop.
case_forms() {
    needs gcc
    weight 30 20 .1
    CC=gcc run 0 "$prog" codegen -v -a w.mtx --k=16 --compile --keep=2 --selftest -o w.c
    says 'straight.*measured'
    says 'candidates .* pruned by rank .* proxies 8 .* compiled 2 '
    builds gcc w.c
    weight 30 20 .9
    CC=gcc run 0 "$prog" codegen -v -a w.mtx --k=16 --compile --keep=2 --selftest -o w.c
    says 'dense.*measured'
    builds gcc w.c
}

# The loops are built for each level like their callers: a generated kernel is not far slower than the library's same loops (five times, on a noisy machine).
case_kernels_are_vectors() {
    needs gcc
    weight 256 128 .2
    CC=gcc run 0 "$prog" codegen -v -a w.mtx --k=64 --compile --keep=2 -o w.c
    perl -ne '/proxy (\S+) ms, measured (\S+) ms/ or next; $n++; $ok++ if $2 < 5 * $1; END { exit !($n && $ok) }' err || { grep measured err | sed 's/^/# /'; fail "generated kernels are slow"; }
}

case_repeats() {
    weight 64 64 .2
    run 0 "$prog" codegen -q -a w.mtx --k=32 --search=rank -o 1.c
    run 0 "$prog" codegen -q -a w.mtx --k=32 --search=rank -o 2.c
    same 1.c 2.c
    run 0 "$prog" codegen -q --k=32 --search=rank <w.mtx
    grep -q 'void spmm_weight(const float' out || fail "no function on standard output"
    run 0 "$prog" codegen -q -a w.mtx --k=32 --search=rank --name=layer_1
    grep -q 'void layer_1(const float' out || fail "the name is not taken"
}

case_cuda() {
    needs nvcc
    weight 64 96 .1
    run 0 "$prog" codegen -a w.mtx --k=100 --lang=cuda --selftest -o w.cu
    run 0 nvcc -arch=sm_80 -Xcompiler -Wall -Werror all-warnings -c -o w.o w.cu
    run 0 nvcc -arch=sm_90 -Xcompiler -Wall -Werror all-warnings -c -o w.o w.cu
}

case_errors() {
    weight 8 8 .5
    run 2 "$prog" codegen -a w.mtx --k=0
    run 2 "$prog" codegen -a w.mtx --lang=fortran
    says 'c, cuda|c or cuda|fortran'
    run 2 "$prog" codegen -a w.mtx --search=luck
    run 2 "$prog" codegen -a w.mtx --name=1st
    says 'no name of a C function'
    run 2 "$prog" codegen w.mtx
    says 'by -a'
    run 4 "$prog" codegen -a none.mtx -o w.c
    absent w.c
    coo empty.mtx "0 5"
    run 3 "$prog" codegen -a empty.mtx -o w.c
    says 'empty weight'
    coo large.mtx "2 2" "1 1 1e300"
    run 3 "$prog" codegen -a large.mtx -o w.c
    says 'row 1, column 1: .* finite float'
    absent w.c
    CC=/nowhere/cc run 4 "$prog" codegen -a w.mtx --compile -o w.c
    says "'/nowhere/cc' does not start.*set CC"
    absent w.c
    TMPDIR=/nowhere run 4 "$prog" codegen -a w.mtx --compile -o w.c
    [[ ! -e /dev/full ]] || run 4 bash -c "'$prog' codegen -q -a w.mtx --search=rank >/dev/full"
}

run_cases "$@"
