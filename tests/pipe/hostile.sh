#!/bin/bash
# tests/pipe/hostile.sh: well- and ill-formed Matrix Market files of other projects' tests, through the whole program.
. "$(dirname "$0")/lib.sh"

rows_of() { awk '!/^ *(%|$)/ { print $1 + 0; exit }' "$1"; }

# Any file: no crash, no hang, a known exit code, and a message that names the file where it is refused.
case_every_file() {
    needs_shared hostile
    local file name n got
    for file in "$shared"/hostile/*.mtx; do
        name=$(basename "$file")
        n=$(rows_of "$file")
        [[ $n -ge 1 && $n -le 100000 ]] || n=1
        perl -e 'my $n = shift; print "%%MatrixMarket matrix array real general\n$n 1\n", "1\n" x $n' "$n" >b.mtx
        got=0
        timeout 20 "$prog" --other=ignore --diag=unit "$file" -b b.mtx >out 2>err || got=$?
        case $got in
            0) ;;
            2 | 3 | 10 | 11) grep -qF "$name" err || fail "$name: code $got, and the message does not name it: $(head -1 err)" ;;
            *) fail "$name: exit code $got: $(head -1 err)" ;;
        esac
    done
}

# Those that break the format itself must be refused. (mangled_* that only carry a wrong GraphBLAS comment are fine to us.)
case_malformed_are_refused() {
    needs_shared hostile
    local i file got
    vec b.mtx 1
    for i in 1 2 3 4 5 6 7 8 9 10 11 12 13; do
        file=$shared/hostile/mangled$i.mtx
        [[ -e $file ]] || continue
        run 3 "$prog" --other=ignore --diag=unit "$file" -b b.mtx
        says "mangled$i\.mtx"
    done
}

# One matrix in different dress must give one answer.
case_west0067_dresses() {
    needs_shared hostile
    needs_shared matrices
    perl -e 'print "%%MatrixMarket matrix array real general\n67 1\n", map { "$_\n" } 1 .. 67' >b.mtx
    run 0 "$prog" --other=ignore --diag=unit "$shared/matrices/west0067.mtx" -b b.mtx
    mv out want
    run 0 "$prog" --other=ignore --diag=unit "$shared/hostile/west0067_jumbled.mtx" -b b.mtx
    same out want
    run 3 "$prog" --other=ignore --diag=unit "$shared/hostile/comments_west0067.mtx" -b b.mtx # it holds a NaN
    says 'comments_west0067\.mtx:6: '
    run 0 "$prog" --lenient --other=ignore --diag=unit "$shared/hostile/west0067_noheader.mtx" -b b.mtx
    same out want
}

# Real matrices: each half solves and is certified; grids are found.
case_real_matrices() {
    needs_shared matrices
    local name n
    for name in lap2D_5pt_n32 lap3D_7pt_n20 gr_900_900_crg; do
        n=$(rows_of "$shared/matrices/$name.mtx")
        perl -e 'my $n = shift; print "%%MatrixMarket matrix array real general\n$n 1\n", "1\n" x $n' "$n" >b.mtx
        run 0 "$prog" --check --other=ignore "$shared/matrices/$name.mtx" -b b.mtx
        run 0 "$prog" --check --other=ignore --upper "$shared/matrices/$name.mtx" -b b.mtx
        run 0 "$prog" --info --other=ignore "$shared/matrices/$name.mtx"
        grep -qi grid out || fail "$name: --info does not speak of the grid"
    done
    # triangles of matrices that are no factors: a certified answer, or the plain word that it overflows
    local got
    for name in bcsstk13 bcsstk16 gr_900_900_crg; do
        [[ -e $shared/matrices/$name.mtx ]] || continue
        n=$(rows_of "$shared/matrices/$name.mtx")
        perl -e 'my $n = shift; print "%%MatrixMarket matrix array real general\n$n 1\n", "1\n" x $n' "$n" >b.mtx
        got=0
        "$prog" --check "$shared/matrices/$name.mtx" -b b.mtx >out 2>err || got=$?
        [[ $got -eq 0 ]] || { [[ $got -eq 3 ]] && says 'finite|overflow'; } || fail "$name: exit code $got: $(head -1 err)"
    done
}

# Bytes changed at random in a small file: never a crash or a hang.
case_random_damage() {
    coo L.mtx "4 4" "1 1 1" "2 1 -1.5e0" "2 2 2" "3 3 4" "4 1 1" "4 3 2" "4 4 1"
    vec b.mtx 1 1 1 1
    local i got
    for ((i = 0; i < 120; i++)); do
        perl -e 'my ($seed) = @ARGV; srand $seed; local $/; open my $f, "<", "L.mtx"; my $t = <$f>; my @set = map { chr } 0, 10, 13, 32, 37, 45 .. 57, 101, 255;
                 for (0 .. $seed % 3) { my $at = int rand length $t; my $what = int rand 3; substr($t, $at, $what == 0 ? 0 : 1) = $what == 2 ? "" : $set[rand @set] }
                 open $f, ">", "bad.mtx"; print $f $t' "$i"
        got=0
        timeout 20 "$prog" --other=ignore bad.mtx -b b.mtx >out 2>err || got=$?
        case $got in
            0 | 2 | 3 | 10 | 11) ;;
            4) grep -q memory err || fail "damage $i: exit code 4: $(head -1 err)" ;;
            *) fail "damage $i: exit code $got: $(head -1 err)" ;;
        esac
    done
}

run_cases "$@"
