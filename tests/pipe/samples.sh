#!/bin/bash
# tests/pipe/samples.sh: the sample files do what samples/README.md says of them.
. "$(dirname "$0")/lib.sh"

samples=$HU_SRC/samples

case_exact() {
    run 0 "$prog" "$samples/exact.mtx" -b "$samples/exact-b.npy" -o x.npy
    numbers "$samples/exact-x.npy" >want
    gives_file x.npy want
}

case_upper() {
    run 0 "$prog" --upper "$samples/upper.mtx" <"$samples/upper-b.mtx"
    numbers "$samples/upper-x.mtx" >want
    gives_file out want
}

case_tree() {
    run 0 "$prog" "$samples/tree.tar.gz" -b "$samples/tree.tar.gz:tree/tree_b.mtx"
    numbers "$samples/tree-x.mtx" >want
    gives_file out want
}

# Every command of the table runs.
case_table() {
    ln -s "$samples" samples
    local line n=0
    while IFS= read -r line; do
        n=$((n + 1))
        run 0 bash -c "$line" </dev/null
    done < <(sed -n 's/^| .*| `\(\(sptrsv-solve\|perf-predict\) [^`]*\)`.*/\1/p' "$samples/README.md")
    [[ $n -ge 5 ]] || fail "only $n commands found"
}

# samples/make makes the same bytes again, and every matrix, array and table here is made by it.
case_made_again() {
    mkdir again
    run 0 "$samples/make" again
    local file
    for file in again/*; do same "$file" "$samples/${file##*/}"; done
    for file in "$samples"/*.{mtx,npy,gz,csv}; do [[ -e again/${file##*/} ]] || fail "${file##*/} is not made"; done
}

run_cases "$@"
