#!/bin/bash
# tests/pipe/solvers.sh: incomplete factors, sweeps, conjugate gradients, refinement, permutations and grid coefficients.
. "$(dirname "$0")/lib.sh"

# laplace NX NY FILE: the whole 5-point Laplacian, declared symmetric; ones N FILE
laplace() { grid5 "$1" "$2" lower.tmp; sed '1s/general/symmetric/' lower.tmp >"$3"; rm lower.tmp; }
ones() { perl -e 'my $n = shift; print "%%MatrixMarket matrix array real general\n$n 1\n", "1\n" x $n' "$1" >"$2"; }

# residual A.mtx b x: greatest |b - A x| by our own arithmetic; A may be declared symmetric.
residual() {
    perl -e '
        my ($a, $b, $x) = @ARGV; my @b = split " ", `cat $b`; my @x = split " ", `cat $x`; my $symmetric;
        open my $f, "<", $a or die; my $size; while (<$f>) { if (/^%/) { $symmetric = 1 if /symmetric/; next } if (!$size++) { next }
            my ($i, $j, $v) = split; $b[$i - 1] -= $v * $x[$j - 1]; $b[$j - 1] -= $v * $x[$i - 1] if $symmetric && $i != $j }
        my $m = 0; for (@b) { $m = abs if abs > $m } printf "%.3g\n", $m' "$1" <(numbers "$2") <(numbers "$3")
}

case_ilu0_of_a_tridiagonal_matrix_is_lu() { # no fill: L U is A itself
    printf '%s\n' '%%MatrixMarket matrix coordinate real general' '3 3 7' '1 1 2' '1 2 1' '2 1 4' '2 2 5' '2 3 1' '3 2 6' '3 3 4' >A.mtx
    run 0 "$prog" --factor=ilu0 --out-l=l.mtx --out-u=u.mtx A.mtx
    no_output
    vec b.mtx 3 10 10 # A (1 1 1)
    run 0 "$prog" --diag=unit l.mtx -b b.mtx -o y.mtx
    run 0 "$prog" --upper u.mtx -b y.mtx
    gives out 1 1 1
}

case_factors_in_a_pipeline() {
    laplace 20 20 A.mtx
    ones 400 b.mtx
    run 0 "$prog" --factor=ic0 --out-l=l.mtx A.mtx
    "$prog" l.mtx <b.mtx | "$prog" -T l.mtx >z.mtx || fail "exit code $?"
    [[ $(numbers z.mtx | wc -l) -eq 400 ]] || fail "400 values wanted"
    run 0 "$prog" --factor=ilu0 --out-l=l.mtx --out-u=u.mtx A.mtx
    "$prog" --diag=unit l.mtx <b.mtx | "$prog" --upper u.mtx >w.mtx || fail "exit code $?"
    # IC(0) and ILU(0) of a symmetric matrix are one factorisation
    perl -e 'my ($a, $b) = map { [split " ", `cat $_`] } @ARGV; for (0 .. $#$a) { exit 1 if abs($a->[$_] - $b->[$_]) > 1e-12 * abs $b->[$_] }' \
        <(numbers z.mtx) <(numbers w.mtx) || fail "L L^T and L U differ"
}

case_factor_does_not_depend_on_threads() {
    laplace 30 20 A.mtx
    run 0 "$prog" --threads=1 --factor=ic0 --out-l=one.mtx A.mtx
    run 0 "$prog" --threads=5 --factor=ic0 --out-l=five.mtx A.mtx
    same one.mtx five.mtx
}

case_pcg() {
    laplace 40 30 A.mtx
    ones 1200 b.mtx
    local kind
    for kind in none ic0 ilu0 symgs; do
        run 0 "$prog" --pcg --precond=$kind --tol=1e-10 A.mtx -b b.mtx -o "$kind.mtx"
        less "$(residual A.mtx b.mtx "$kind.mtx")" 1e-7 "residual with $kind"
        run 0 "$prog" --threads=3 --pcg --precond=$kind --tol=1e-10 A.mtx -b b.mtx
        same out "$kind.mtx"
    done
}

case_pcg_says_no() {
    laplace 40 30 A.mtx
    ones 1200 b.mtx
    run 1 "$prog" --pcg --iterations=2 A.mtx -b b.mtx -o x.mtx
    absent x.mtx
    printf '%s\n' '%%MatrixMarket matrix coordinate real symmetric' '2 2 3' '1 1 1' '2 1 2' '2 2 1' >N.mtx # eigenvalues 3 and -1
    vec c.mtx 1 -1
    run 1 "$prog" --pcg --precond=none N.mtx -b c.mtx
    run 13 "$prog" --pcg --precond=ic0 N.mtx -b c.mtx
}

case_pcg_wants_a_symmetric_matrix() {
    coo A.mtx "2 2" "1 1 2" "1 2 1" "2 2 2"
    vec b.mtx 1 1
    run 3 "$prog" --pcg A.mtx -b b.mtx
    says 'A\.mtx'
}

case_symgs() { # one sweep from zero on a triangular matrix is its solve; many sweeps converge
    laplace 8 8 A.mtx
    ones 64 b.mtx
    run 0 "$prog" --symgs=1 A.mtx -b b.mtx -o one.mtx
    run 0 "$prog" --symgs=400 A.mtx -b b.mtx -o many.mtx
    less "$(residual A.mtx b.mtx many.mtx)" 1e-10 "residual after 400 sweeps"
    perl -e 'exit !($ARGV[0] > $ARGV[1])' "$(residual A.mtx b.mtx one.mtx)" 1e-3 || fail "one sweep is too good to be true"
}

case_refine() { # float storage, then the accuracy of double
    exact 300 20 L.mtx b.mtx x.txt 5
    perl -e 'srand 2; my $n = 300; my @l; for my $i (1 .. $n) { push @l, "$i $i " . (2 + rand); push @l, "$i " . ($i - 1) . " " . rand() if $i > 1 }
             open my $f, ">", "R.mtx"; print $f "%%MatrixMarket matrix coordinate real general\n$n $n ", scalar @l, "\n", map { "$_\n" } @l'
    ones 300 c.mtx
    run 0 "$prog" --mixed R.mtx -b c.mtx -o rough.npy
    perl -e 'exit !($ARGV[0] > 1e-10)' "$(residual R.mtx c.mtx rough.npy)" || fail "float storage is as good as double?"
    local precision
    for precision in --f64 --mixed --f32; do
        run 0 "$prog" $precision --refine=3 --check R.mtx -b c.mtx -o fine.npy
        less "$(residual R.mtx c.mtx fine.npy)" 1e-14 "residual after refinement with $precision"
    done
}

case_permuted_io() {
    coo A.mtx "3 3" "1 1 4" "1 2 -1" "1 3 2" "3 3 1" "2 3 1" "2 2 2" # order 3, 2, 1 makes it lower
    npy p.npy '<i8' False '3,' q 2 1 0
    vec b.mtx 5 3 1 # A (1 1 1)
    run 0 "$prog" --perm=p.npy A.mtx -b b.mtx
    gives out 1 1 1
    vec pb.mtx 6 4 1 # in plan order: 1 x3 = 6; 2 x2 + x3 = 4; 4 x1 - x2 + 2 x3 = 1
    run 0 "$prog" --perm=p.npy --permuted-io A.mtx -b pb.mtx
    gives out 6 -1 -3
    run 11 "$prog" --perm=p.npy --upper A.mtx -b b.mtx
    says 'A\.mtx, in the order of --perm: entry \(2,1\)'
}

case_offsets() { # coefficients [neighbour][z][y][x] of a 3 x 2 grid: 4 on the diagonal, -1 west and south
    needs_option --offsets
    npy c.npy '<f8' False '3, 1, 2, 3' d  0 0 0 -1 -1 -1  0 -1 -1 0 -1 -1  4 4 4 4 4 4
    grid5 3 2 L.mtx
    vec b.mtx 1 2 3 4 5 6
    run 0 "$prog" L.mtx -b b.mtx
    mv out want
    run 0 "$prog" --grid=3x2 '--offsets=0,-1;-1,0;0,0' c.npy -b b.mtx
    same out want
    run 3 "$prog" --grid=3x3 '--offsets=0,-1;-1,0;0,0' c.npy -b b.mtx
    run 3 "$prog" --grid=2x3 '--offsets=0,-1;-1,0;0,0' c.npy -b b.mtx
}

run_cases "$@"
