#!/bin/bash
# tests/pipe/faults.sh: faults that users of other packages reported, each as a small case with its known answer.
# The sources are named by their public issue; the answers were worked out by hand.
. "$(dirname "$0")/lib.sh"

# scipy/scipy#15199: a unit diagonal of which nothing is stored
case_unit_diagonal_not_stored() {
    coo L.mtx "3 3" "2 1 1" "3 1 1" "3 2 1"
    vec b.mtx 1 2 3
    run 0 "$prog" --diag=unit L.mtx -b b.mtx
    gives out 1 1 1
}

case_unit_diagonal_ignores_stored() {
    coo L.mtx "2 2" "1 1 7" "2 1 1" "2 2 0"
    vec b.mtx 1 2
    run 0 "$prog" --diag=unit L.mtx -b b.mtx
    gives out 1 1
}

# kokkos-kernels#1463, SuiteSparse#129: neither the order of lines nor the place of the diagonal is given
case_entries_in_any_order() {
    coo L.mtx "3 3" "3 3 4" "3 1 2" "2 2 2" "1 1 1" "2 1 1" "3 2 -1"
    vec b.mtx 1 3 5
    run 0 "$prog" L.mtx -b b.mtx
    gives out 1 1 1
}

# fast_matrix_market#10: blank lines, odd case, free spacing
case_free_form_text() {
    printf '%s\n' '%%MatrixMarket MATRIX Coordinate REAL General' '' '  2 2   3' '' '1 1 2.e0' '' '2 1 -1' '2 2 +4E-0' >L.mtx
    vec b.mtx 2 3
    run 0 "$prog" L.mtx -b b.mtx
    gives out 1 1
}

case_carriage_returns() {
    printf '%s\r\n' '%%MatrixMarket matrix coordinate real general' '% said' '2 2 3' '1 1 2' '2 1 -1' '2 2 4' >L.mtx
    printf '%s\r\n' '%%MatrixMarket matrix array real general' '2 1' 2 3 >b.mtx
    run 0 "$prog" L.mtx -b b.mtx
    gives out 1 1
}

# ginkgo#1627: two numbers on one line of an array file
case_two_numbers_on_a_line() {
    coo L.mtx "2 2" "1 1 1" "2 2 1"
    printf '%s\n' '%%MatrixMarket matrix array real general' '2 1' '1 2' >b.mtx
    run 3 "$prog" L.mtx -b b.mtx
    says 'b\.mtx:3: '
    no_output
}

# HeCBench#315: an index beyond the size
case_index_out_of_range() {
    coo L.mtx "2 2" "1 1 1" "3 1 5"
    vec b.mtx 1 1
    run 3 "$prog" L.mtx -b b.mtx
    says 'L\.mtx:4: .*3'
    no_output
}

case_index_zero_and_negative() {
    vec b.mtx 1 1
    coo L.mtx "2 2" "0 1 1" "2 2 1"
    run 3 "$prog" L.mtx -b b.mtx
    says 'L\.mtx:3: '
    coo L.mtx "2 2" "1 1 1" "2 -1 1"
    run 3 "$prog" L.mtx -b b.mtx
    says 'L\.mtx:4: '
}

# scipy/scipy#7449: an integer right-hand side must not make x integer
case_integer_rhs() {
    coo L.mtx "2 2" "1 1 2" "2 2 4"
    npy b.npy '<i8' False '2,' q 1 1
    run 0 "$prog" L.mtx -b b.npy -o x.npy
    gives x.npy 0.5 0.25
    npy b4.npy '<i4' False '2,' l 1 1
    run 0 "$prog" L.mtx -b b4.npy -o x4.npy
    gives x4.npy 0.5 0.25
    printf '%s\n' '%%MatrixMarket matrix array integer general' '2 1' 1 1 >b.mtx
    run 0 "$prog" L.mtx -b b.mtx
    gives out 0.5 0.25
}

# scipy/scipy#16131: the identity of order one million took 21 s
case_identity_is_quick() {
    sanitized && skip "times of a sanitized build say nothing"
    perl -e 'my $n = 1000000; print "%%MatrixMarket matrix coordinate real general\n$n $n $n\n"; print "$_ $_ 1\n" for 1 .. $n' >I.mtx
    perl -e 'my $n = 1000000; my $h = "{\x27descr\x27: \x27<f8\x27, \x27fortran_order\x27: False, \x27shape\x27: ($n,), }"; $h .= " " x ((64 - (11 + length $h) % 64) % 64) . "\n";
             print "\x93NUMPY\x01\x00", pack("v", length $h), $h, pack("d<*", (1) x $n)' >b.npy
    local best=99 try t0 t1
    for try in 1 2 3; do # the best of three: other work on the machine is not ours
        t0=$(date +%s%N)
        run 0 "$prog" I.mtx -b b.npy -o x.npy
        t1=$(date +%s%N)
        best=$(perl -e 'print $ARGV[0] < $ARGV[1] ? $ARGV[0] : $ARGV[1]' "$best" "$(perl -e 'print +($ARGV[1] - $ARGV[0]) / 1e9' "$t0" "$t1")")
    done
    cmp -s b.npy x.npy || fail "x is not b"
    less "$best" 1.0 "seconds for the whole command"
    run 0 "$prog" --info I.mtx
    less "$(solve_ms out)" 5 "ms a solve"
}

# CUSOLVERRF.jl#11, CUDALibrarySamples#78: an analysis that keeps the old values
case_plan_takes_new_values() {
    coo old.mtx "1 1" "1 1 2"
    coo new.mtx "1 1" "1 1 4"
    vec b.mtx 4
    run 0 "$prog" --analyze -o p.plan old.mtx
    run 0 "$prog" --plan=p.plan new.mtx -b b.mtx
    gives out 1
}

# ginkgo#1072: L + U - I in one matrix
case_combined_factors() {
    coo F.mtx "2 2" "1 1 2" "1 2 1" "2 1 3" "2 2 4"
    vec b1.mtx 1 5
    vec b2.mtx 4 8
    run 0 "$prog" --lower --diag=unit --other=ignore F.mtx -b b1.mtx
    gives out 1 2
    run 0 "$prog" --upper --other=ignore F.mtx -b b2.mtx
    gives out 1 2
    run 11 "$prog" --lower --diag=unit F.mtx -b b1.mtx
    no_output
    run 11 "$prog" --upper F.mtx -b b2.mtx
    no_output
}

# scipy/scipy#14091: a matrix that is not triangular
case_not_triangular() {
    coo A.mtx "2 2" "1 1 1" "1 2 2" "2 1 3" "2 2 4"
    vec b.mtx 1 1
    run 11 "$prog" A.mtx -b b.mtx
    says 'entry \(1,2\)'
    no_output
    run 0 "$prog" --other=ignore A.mtx -b b.mtx
    gives out 1 -0.5
    run 0 "$prog" --upper --other=ignore A.mtx -b b.mtx
    gives out 0.5 0.25
    run 11 "$prog" --upper A.mtx -b b.mtx
    says 'entry \(2,1\)'
}

# hypre#256, IncompleteLU.jl#20: a zero or absent pivot
case_singular() {
    vec b.mtx 1 1
    coo absent.mtx "2 2" "1 1 1" "2 1 1"
    run 10 "$prog" absent.mtx -b b.mtx
    says 'row 2'
    no_output
    coo zero.mtx "2 2" "1 1 1" "2 1 1" "2 2 0"
    run 10 "$prog" zero.mtx -b b.mtx
    says 'row 2'
    no_output
    coo small.mtx "2 2" "1 1 1" "2 1 1" "2 2 1e-310"
    run 10 "$prog" small.mtx -b b.mtx
    says 'row 2'
    no_output
    coo upper.mtx "3 3" "1 1 1" "1 2 1" "3 3 1"
    vec b3.mtx 1 1 1
    run 10 "$prog" --upper upper.mtx -b b3.mtx
    says 'row 2'
}

case_factor_breakdown() {
    coo A.mtx "2 2" "1 2 1" "2 1 1"
    run 13 "$prog" --factor=ilu0 --out-l=l.mtx --out-u=u.mtx A.mtx
    says 'row 1'
    coo S.mtx "4 4" "1 1 3" "1 2 -2" "1 4 2" "2 1 -2" "2 2 3" "2 3 -2" "3 2 -2" "3 3 3" "3 4 -2" "4 1 2" "4 3 -2" "4 4 3"
    run 13 "$prog" --factor=ic0 --out-l=l.mtx S.mtx
    says 'row 4'
    only A.mtx S.mtx
}

# amgcl#222, nasoq#32: the number of threads is obeyed
case_one_thread_is_one_thread() {
    sanitized && skip "the leak checker makes a thread of its own"
    needs strace
    grid5 100 100 L.mtx
    perl -e 'print "%%MatrixMarket matrix array real general\n10000 1\n", "1\n" x 10000' >b.mtx
    strace -f -qq -e trace=clone,clone3,fork,vfork -o trace true 2>/dev/null || skip "strace may not trace here"
    run 0 strace -f -qq -e trace=clone,clone3,fork,vfork -o trace "$prog" --threads=1 L.mtx -b b.mtx
    ! grep -Eq 'clone' trace || { head -3 trace | sed 's/^/# /'; fail "a thread was made"; }
}

case_more_threads_are_not_slower() {
    sanitized && skip "times of a sanitized build say nothing"
    [[ $(nproc) -ge 2 ]] || skip "one processor"
    grid5 300 300 L.mtx
    local try t1 t2 ratio
    for try in 1 2 3 4 5; do # other work on the machine may disturb; the fault shows in every try
        run 0 "$prog" --info --threads=1 L.mtx
        t1=$(solve_ms out)
        run 0 "$prog" --info --threads=2 L.mtx
        t2=$(solve_ms out)
        ratio=$(perl -e 'printf "%.3f", $ARGV[0] / $ARGV[1]' "$t2" "$t1")
        perl -e 'exit !($ARGV[0] <= 1.05)' "$ratio" && return
    done
    fail "two threads take $ratio of the time of one"
}

# of --info: "measured 0.12 ms a solve (least ...", "analysis 3.4 ms, ..."
solve_ms() { sed -n 's/^measured *\([0-9.e+-]*\) ms a solve.*/\1/p' "$1"; }
analysis_ms() { sed -n 's/^analysis *\([0-9.e+-]*\) ms.*/\1/p' "$1"; }

# kokkos-kernels#1380 and #2752: analysis of dense rows, in solves of the plain loop, and memory
case_dense_rows() {
    sanitized && skip "times and memory of a sanitized build say nothing"
    perl -e 'my $n = 3000; print "%%MatrixMarket matrix coordinate real general\n$n $n ", $n * ($n + 1) / 2, "\n";
             for my $i (1 .. $n) { print "$i $_ ", ($_ == $i ? 2 : "1e-3"), "\n" for 1 .. $i }' >D.mtx
    perl -e 'print "%%MatrixMarket matrix array real general\n3000 1\n", "1\n" x 3000' >b.mtx
    local try analysis solve peak good=no
    for try in 1 2 3; do
        run 0 "$prog" --info D.mtx
        analysis=$(analysis_ms out) solve=$(sed -n 's/.*the naive loop takes \([0-9.e+-]*\) ms.*/\1/p' out)
        [[ -n $solve ]] || solve=$(solve_ms out) # the model was not asked
        perl -e 'exit !($ARGV[0] <= 1000 && $ARGV[0] <= 27 * $ARGV[1])' "$analysis" "$solve" && good=yes && break
    done
    [[ $good == yes ]] || fail "analysis $analysis ms, solve $solve ms"
    # 12 bytes an entry and 8 a row pointer are the matrix; 2.2 of that and 64 MB are allowed
    needs_time_v
    run 0 /usr/bin/time -f 'peak %M' "$prog" D.mtx -b b.mtx -o x.npy
    peak=$(sed -n 's/^peak //p' err)
    [[ $((peak * 1024)) -le $((4501500 * 12 * 22 / 10 + 64 * 1024 * 1024)) ]] || fail "peak memory $peak KiB"
}
needs_time_v() { [[ -x /usr/bin/time ]] || skip "no /usr/bin/time: memory not measured"; }

# rocSPARSE#365, sympy#17254: the layout of many right-hand sides
case_rhs_layouts() {
    coo L.mtx "3 3" "1 1 1" "2 2 2" "3 3 4"
    npy f.npy '<f8' True '3, 2' d 1 2 4 2 4 8
    npy c.npy '<f8' False '3, 2' d 1 2 2 4 4 8
    run 0 "$prog" L.mtx -b f.npy -o xf.npy
    gives xf.npy 1 1 1 2 2 2
    run 0 "$prog" L.mtx -b c.npy -o xc.npy
    gives xc.npy 1 1 1 2 2 2
}

# MatrixMarket.jl#39, scipy#16119, MatrixDepot.jl#17, ginkgo#91: signs of skew files, values of patterns
case_skew_and_pattern() {
    printf '%s\n' '%%MatrixMarket matrix coordinate real skew-symmetric' '2 2 1' '2 1 3' >S.mtx
    vec b1.mtx 1 5
    vec b2.mtx -5 2
    run 0 "$prog" --diag=unit S.mtx -b b1.mtx
    gives out 1 2
    run 0 "$prog" --upper --diag=unit S.mtx -b b2.mtx
    gives out 1 2
    printf '%s\n' '%%MatrixMarket matrix coordinate pattern general' '2 2 3' '1 1' '2 1' '2 2' >P.mtx
    vec b.mtx 1 3
    run 0 "$prog" P.mtx -b b.mtx
    gives out 1 2
    run 0 "$prog" --pattern-value=2 P.mtx -b b.mtx
    gives out 0.5 1
}

case_symmetric_file_gives_either_half() {
    printf '%s\n' '%%MatrixMarket matrix coordinate real symmetric' '2 2 3' '1 1 1' '2 1 2' '2 2 4' >S.mtx
    vec b1.mtx 1 6
    vec b2.mtx 3 4
    run 0 "$prog" --lower S.mtx -b b1.mtx
    gives out 1 1
    run 0 "$prog" --upper S.mtx -b b2.mtx
    gives out 1 1
}

# rocSPARSE#332: the other factor after the first, U'y = b, then U z = y, as two runs of a pipe that streams
case_transposed_then_plain() {
    coo U.mtx "3 3" "1 1 1" "2 2 1" "3 3 1"
    npy b1.npy '<f8' False '3,' d 1 2 3
    npy b2.npy '<f8' False '3,' d 4 5 6
    cat b1.npy b2.npy | "$prog" --upper -T --rhs-stream U.mtx | "$prog" --upper --rhs-stream U.mtx >z.npy
    split_npy z.npy z
    gives z.1 1 2 3
    gives z.2 4 5 6
    absent z.3
}

case_duplicates() {
    coo L.mtx "1 1" "1 1 1" "1 1 3"
    vec b.mtx 4
    run 0 "$prog" L.mtx -b b.mtx
    gives out 1
    run 0 "$prog" --dup=last L.mtx -b b.mtx
    gives out 1.3333333333333333
    run 3 "$prog" --dup=error L.mtx -b b.mtx
    no_output
}

case_nonfinite_input_and_result() {
    coo L.mtx "1 1" "1 1 1"
    coo N.mtx "1 1" "1 1 nan"
    coo I.mtx "1 1" "1 1 inf"
    vec b.mtx 1
    vec nan.mtx nan
    run 3 "$prog" N.mtx -b b.mtx
    run 3 "$prog" I.mtx -b b.mtx
    run 3 "$prog" L.mtx -b nan.mtx
    npy inf.npy '<f8' False '1,' d inf
    run 3 "$prog" L.mtx -b inf.npy
    coo O.mtx "2 2" "1 1 1e-300" "2 1 1" "2 2 1"
    vec huge.mtx 1e300 1
    run 3 "$prog" O.mtx -b huge.mtx -o x.mtx
    says 'row 1'
    absent x.mtx
}

# Sums of duplicates, and values as float, that no longer are what the file says: never a wrong x.
case_values_out_of_range() {
    coo D.mtx "1 1" "1 1 1e308" "1 1 1e308"
    vec one.mtx 1
    run 3 "$prog" D.mtx -b one.mtx
    says 'D\.mtx: .*entries \(1,1\) overflows'
    run 0 "$prog" --dup=last D.mtx -b one.mtx
    coo H.mtx "2 2" "1 1 1" "2 2 1e39"
    coo O.mtx "2 2" "1 1 1" "2 1 1e39" "2 2 1"
    coo V.mtx "2 2" "1 1 1" "2 2 1e-50"
    vec b.mtx 1 8
    local precision
    for precision in --f32 --mixed; do
        for m in H O; do
            run 3 "$prog" $precision $m.mtx -b b.mtx
            says "$m\\.mtx: row 2: .*float"
            no_output
        done
        run 10 "$prog" $precision V.mtx -b b.mtx
        says 'V\.mtx: row 2: .*float'
        run 0 "$prog" $precision --diag=unit V.mtx -b b.mtx
    done
    run 0 "$prog" --check V.mtx -b b.mtx
}

case_check_at_the_edge_of_the_range() { # |t| |x| + |b| overflows, the residual does not
    coo H.mtx "1 1" "1 1 1e308"
    vec b.mtx 1e308
    run 0 "$prog" --check H.mtx -b b.mtx
    gives out 1
}

run_cases "$@"
