#!/bin/bash
# tests/pipe/options.sh: the command line: help, version, usage errors, exit codes, words on standard error.
. "$(dirname "$0")/lib.sh"

small() {
    coo L.mtx "3 3" "1 1 1" "2 1 1" "2 2 2" "3 1 2" "3 2 -1" "3 3 4"
    vec b.mtx 1 3 5
}

case_help() {
    run 0 "$prog" --help
    silent
    grep -q '^Usage: sptrsv-solve' out || fail "no usage line"
    awk 'length > 100 { exit 1 }' out || fail "lines wider than 100 columns"
    run 0 "$prog" --usage
}

case_version() {
    run 0 "$prog" --version
    silent
    [[ $(head -1 out) == "sptrsv-solve (hpcutils) $(sed -n 's/^#define PACKAGE_VERSION "\(.*\)"/\1/p' "$HU_BUILD/config.h")" ]] ||
        fail "$(head -1 out)"
}

case_usage_errors() {
    small
    local words
    while IFS= read -r words; do
        # shellcheck disable=SC2086
        run 2 "$prog" $words <b.mtx
        no_output
        says 'sptrsv-solve: '
    done <<'LIST'
--no-such-option L.mtx
--threads=0 L.mtx
--threads=x L.mtx
--threads=-1 L.mtx
--threads=99999999999999999999 L.mtx
--device=tpu L.mtx
--seed=x L.mtx
--progress=sometimes L.mtx
--diag=both L.mtx
--other=maybe L.mtx
--dup=first L.mtx
--scheme=kind:none L.mtx
--scheme=nothing L.mtx
--scheme=rows:0 L.mtx
--scheme=rows:9999999999 L.mtx
--gpu-scheme=lanes:4 L.mtx
--device=cuda --gpu-scheme=lanes:3 L.mtx
--device=cuda --gpu-scheme=tile:line L.mtx
--bench=0 L.mtx
--bench=x L.mtx
--pattern-value=x L.mtx
--check=x L.mtx
--grid=0 L.mtx
--grid=4x L.mtx
L.mtx L.mtx L.mtx
LIST
}

case_no_matrix() {
    run 2 "$prog"
    says 'sptrsv-solve: |Usage'
}

case_contradictions() {
    small
    local words
    while IFS= read -r words; do
        # shellcheck disable=SC2086
        run 2 "$prog" $words <b.mtx
        no_output
    done <<'LIST'
--factor=ilu0 L.mtx
--factor=ilu0 --out-l=l.mtx L.mtx
--factor=ic0 --out-l=l.mtx --out-u=u.mtx L.mtx
--factor=lu --out-l=l.mtx --out-u=u.mtx L.mtx
--out-l=l.mtx L.mtx
--permuted-io L.mtx
--offsets=0 L.mtx
--plan=p --tune=search L.mtx
--plan=p --scheme=kind:serial L.mtx
--plan=p --bench L.mtx
--info -b b.mtx L.mtx
--rhs-stream --info L.mtx
--check --info L.mtx
--factor=ilu0 --out-l=l.mtx --out-u=l.mtx L.mtx
--factor=ic0 --out-l=l.mtx -o x.mtx L.mtx
--pcg -T L.mtx
--pcg --f32 L.mtx
--pcg --perm=p.npy L.mtx
--pcg --scheme=kind:level L.mtx
--pcg --grid=off L.mtx
--symgs=2 --upper L.mtx
--symgs=2 --tol=1 L.mtx
--factor=ic0 --out-l=l.mtx --diag=unit L.mtx
--precond=none L.mtx
--info --out-format=npy L.mtx
--bench --tune=off L.mtx
--perm=- L.mtx
--plan=- L.mtx
--perm=- --info -
--symgs=0 L.mtx
--tune=search:-1 L.mtx
--tune=model! L.mtx
--tune=rule --model=m.ppm L.mtx
--scheme=kind:level --model=m.ppm L.mtx
--plan=p --model=m.ppm L.mtx
--plan=p --columns=2 L.mtx
--pcg --columns=2 L.mtx
--pcg --model=m.ppm L.mtx
--bench --model=m.ppm L.mtx
--space=ranked L.mtx
--bench --space=few L.mtx
--columns=0 L.mtx
-k 3 L.mtx
--refine=-1 L.mtx
--rhs-format=xls L.mtx
LIST
    only L.mtx b.mtx
}

# ---- exit codes ------------------------------------------------------------------------------------------------------

case_exit_0() { small; run 0 "$prog" L.mtx -b b.mtx; silent; }

case_exit_1() { # a check that cannot hold: a hundredth of what rounding alone may leave, on a system that does round
    perl -e 'srand 3; my $n = 400; my @l; for my $i (1 .. $n) { push @l, "$i $i 3"; push @l, "$i $_ " . (rand() - 0.5) for grep { $_ > 0 } $i - 8 .. $i - 1 }
             open my $f, ">", "L.mtx"; print $f "%%MatrixMarket matrix coordinate real general\n$n $n ", scalar @l, "\n", map { "$_\n" } @l;
             open $f, ">", "b.mtx"; print $f "%%MatrixMarket matrix array real general\n$n 1\n", map { rand() . "\n" } 1 .. $n;'
    run 0 "$prog" --check L.mtx -b b.mtx
    run 1 "$prog" --check=1e-3 L.mtx -b b.mtx -o x.mtx
    says 'row [0-9]+'
    absent x.mtx
    run 1 "$prog" --check=1e-3 L.mtx -b b.mtx
}

case_exit_3_shapes() {
    small
    vec short.mtx 1 3
    run 3 "$prog" L.mtx -b short.mtx
    says 'short\.mtx'
    coo wide.mtx "2 3" "1 1 1" "2 2 1"
    run 3 "$prog" wide.mtx -b b.mtx
    says 'wide\.mtx: .*2 x 3'
}

case_exit_4() { small; run 4 "$prog" L.mtx -b b.mtx -o /proc/nothing/x; }

case_exit_5() {
    small
    "$prog" --device=cuda L.mtx -b b.mtx >out 2>err && skip "there is a CUDA device and a back end for it"
    run 5 "$prog" --device=cuda L.mtx -b b.mtx
    says 'use --device=cpu'
    run 5 "$prog" --device=cuda:7 L.mtx -b b.mtx
    no_output
    run 5 "$prog" --device=cuda --info L.mtx # a job that the GPU does not do
    says 'this job has no GPU kernel; use --device=cpu'
    run 0 "$prog" -v --device=auto L.mtx -b b.mtx
    says 'device: the CPU'
}

case_exit_10() { coo S.mtx "1 1"; vec b.mtx 1; run 10 "$prog" S.mtx -b b.mtx; says 'row 1'; }
case_exit_11() { coo N.mtx "2 2" "1 1 1" "1 2 1" "2 2 1"; vec b.mtx 1 1; run 11 "$prog" N.mtx -b b.mtx; }

case_exit_12() {
    small
    run 0 "$prog" --analyze -o p L.mtx
    coo M.mtx "3 3" "1 1 1" "2 2 2" "3 1 2" "3 3 4"
    run 12 "$prog" --plan=p M.mtx -b b.mtx
    no_output
}

case_exit_codes_are_in_the_manual() {
    local code
    for code in 0 1 2 3 4 5 10 11 12; do
        grep -Eq "^\.It (Er )?$code( |$)" "$HU_SRC/man/sptrsv-solve.1" || fail "sptrsv-solve.1 has no exit code $code"
    done
}

# ---- the triangle ----------------------------------------------------------------------------------------------------

case_transposed_and_upper_agree() {
    coo L.mtx "3 3" "1 1 1" "2 1 1" "2 2 2" "3 1 2" "3 2 -1" "3 3 4"
    coo U.mtx "3 3" "1 1 1" "1 2 1" "2 2 2" "1 3 2" "2 3 -1" "3 3 4"
    vec b.mtx 4 1 4
    run 0 "$prog" -T L.mtx -b b.mtx
    gives out 1 1 1
    run 0 "$prog" --upper U.mtx -b b.mtx
    gives out 1 1 1
    vec b.mtx 1 3 5
    run 0 "$prog" --upper -T U.mtx -b b.mtx
    gives out 1 1 1
}

case_auto_finds_the_triangle() {
    needs_option --auto
    coo U.mtx "2 2" "1 1 1" "1 2 1" "2 2 2"
    coo L.mtx "2 2" "1 1 1" "2 1 1" "2 2 2"
    vec bu.mtx 2 2
    vec bl.mtx 1 3
    run 0 "$prog" --auto U.mtx -b bu.mtx
    gives out 1 1
    run 0 "$prog" --auto L.mtx -b bl.mtx
    gives out 1 1
}

case_complex() {
    printf '%s\n' '%%MatrixMarket matrix coordinate complex general' '2 2 3' '1 1 0 1' '2 1 1 0' '2 2 2 0' >L.mtx
    printf '%s\n' '%%MatrixMarket matrix array complex general' '2 1' '0 1' '3 0' >b.mtx # x = 1, 1
    run 0 "$prog" L.mtx -b b.mtx
    gives out 1 0 1 0
    printf '%s\n' '%%MatrixMarket matrix array complex general' '2 1' '1 -1' '2 0' >h.mtx # L^H (1, 1): first -i + 1
    run 0 "$prog" -H L.mtx -b h.mtx
    gives out 1 0 1 0
    printf '%s\n' '%%MatrixMarket matrix array complex general' '2 1' '1 1' '2 0' >t.mtx
    run 0 "$prog" -T L.mtx -b t.mtx
    gives out 1 0 1 0
}

case_permutation() {
    needs_option --perm
    coo A.mtx "2 2" "1 1 2" "1 2 1" "2 2 1" # lower once rows and columns are swapped
    npy p.npy '<i4' False '2,' l 1 0
    vec b.mtx 3 1
    run 0 "$prog" --perm=p.npy A.mtx -b b.mtx
    gives out 1 1
    npy bad.npy '<i4' False '2,' l 1 1
    run 3 "$prog" --perm=bad.npy A.mtx -b b.mtx
    npy out_of_range.npy '<i4' False '2,' l 0 5
    run 3 "$prog" --perm=out_of_range.npy A.mtx -b b.mtx
    npy short.npy '<i4' False '1,' l 0
    run 3 "$prog" --perm=short.npy A.mtx -b b.mtx
}

case_lenient() {
    printf '%s\n' '2 2 2' '1 1 1' '2 2 1' >L.mtx
    vec b.mtx 1 1
    run 3 "$prog" L.mtx -b b.mtx
    run 0 "$prog" --lenient L.mtx -b b.mtx
    gives out 1 1
}

case_precisions() {
    small
    local p
    for p in --f64 --f32 --mixed; do
        run 0 "$prog" $p --check L.mtx -b b.mtx
        gives out 1 1 1
    done
}

# ---- words on standard error -----------------------------------------------------------------------------------------

case_quiet_and_verbose() {
    small
    run 0 "$prog" -v L.mtx -b b.mtx
    [[ -s err ]] || fail "-v says nothing"
    gives out 1 1 1
    run 0 "$prog" -q L.mtx -b b.mtx
    silent
    run 4 "$prog" -q absent.mtx -b b.mtx
    says 'absent'
}

case_progress_ends_at_100() {
    small
    run 0 "$prog" L.mtx -b b.mtx --progress=always
    perl -ne 'while (/(\d+) %/g) { exit 1 if $1 > 100 }' err || fail "more than 100 %: $(cat err)"
}

case_progress_stays_off_pipes() {
    small
    run 0 "$prog" L.mtx -b b.mtx --progress=auto
    silent
}

case_locale_is_c() {
    coo L.mtx "1 1" "1 1 2"
    vec b.mtx 1
    local name
    name=$(locale -a 2>/dev/null | grep -Ei '^(de|fr)_.*utf-?8' | head -1) || true
    [[ -n $name ]] || skip "no locale with a decimal comma"
    LC_ALL=$name run 0 "$prog" L.mtx -b b.mtx
    gives out 0.5
}

case_unknown_cpu_level_is_said() {
    small
    HPCUTILS_CPU=v9 run 0 "$prog" L.mtx -b b.mtx
    says 'v9'
    gives out 1 1 1
}

run_cases "$@"
