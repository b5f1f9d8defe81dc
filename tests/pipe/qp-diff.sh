#!/bin/bash
# tests/pipe/qp-diff.sh: quadratic programs solved and differentiated. The cases named c1, c2 ... are faults that users of other solvers reported, as tiny programs
# whose answers are exact rationals found by hand; the others are the options, the formats and every way to err.
. "$(dirname "$0")/lib.sh"
prog=$HU_BUILD/qp-diff

# ---- making and reading ------------------------------------------------------------------------------------------------

# mat NAME ROWS COLS v...: NAME.mtx, an array; values row by row.
mat() {
    local name=$1 rows=$2 cols=$3
    shift 3
    perl -e 'my ($r, $c, @v) = @ARGV; print "%%MatrixMarket matrix array real general\n$r $c\n"; for my $j (0 .. $c - 1) { for my $i (0 .. $r - 1) { print "$v[$i * $c + $j]\n" } }' \
        "$rows" "$cols" "$@" >"$name.mtx"
}

# problem: all .mtx files of the folder as p.tar
problem() { tar cf p.tar -- *.mtx; }

# unpack: the members of the last output into r/
unpack() { rm -rf r; mkdir r; tar xf out -C r; }

# has NAME TOLERANCE v...: the member NAME.mtx of the last output (unpacked) holds these values, row by row, zeros where nothing is stored.
has() {
    local name=$1 tolerance=$2
    shift 2
    [[ -e r/$name.mtx ]] || fail "no member $name"
    perl -e '
        my ($name, $tolerance, @want) = @ARGV; open my $f, "<", "r/$name.mtx" or die; my $head = <$f>; my @l = grep { !/^%/ } <$f>; my ($r, $c) = split " ", shift @l;
        my @v = (0) x ($r * $c);
        if ($head =~ /coordinate/) { for (@l) { my ($i, $j, $x) = split; $v[($i - 1) * $c + $j - 1] += $x } }
        else { for my $k (0 .. $#l) { $v[$k % $r * $c + int($k / $r)] = $l[$k] + 0 } }
        exit 1 if @v != @want; for (0 .. $#v) { exit 1 unless abs($v[$_] - eval $want[$_]) <= $tolerance }' -- "$name" "$tolerance" "$@" ||
        fail "$name: $(tr '\n' ' ' <"r/$name.mtx") expected: $*"
}
lacks() { [[ ! -e r/$1.mtx ]] || fail "there is a member $1"; }
status_is() { [[ $(column r/status.csv "$1") = "$2" ]] || fail "$1 is $(column r/status.csv "$1"), not $2"; }

# solves NAME v...: x to 1e-9
t=1e-9

# ---- the fault cases ----------------------------------------------------------------------------------------------------

case_c1_multipliers_once() {
    mat P 2 2 2 0 0 2; mat q 2 1 -4 -6; mat A 1 2 1 1; mat u 1 1 2; mat gx 2 1 1 0; problem
    run 0 "$prog" vjp p.tar; unpack
    has x $t 1/2 3/2; has y $t 3; has dq $t -1/4 1/4; has dP $t -1/8 0 0 3/8; has dA $t -1 0; has du $t 1/2; has dl 0 0
    # a P stored with its zeros has a gradient there too
    printf '%%%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 2\n2 1 0\n2 2 2\n' >P.mtx; problem
    run 0 "$prog" vjp p.tar; unpack
    has dP $t -1/8 -1/8 -1/8 3/8
}

case_c2_triangles() {
    printf '%%%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 4\n1 2 2\n2 2 2\n' >P.mtx; mat q 2 1 -2 -4; mat gx 2 1 1 0; problem
    run 3 "$prog" vjp p.tar; says 'P.mtx: row 1: .*--triangle'; 
    run 0 "$prog" vjp --triangle=upper p.tar; unpack
    has x $t -1 3; has dq $t -1/2 1/2
    run 0 "$prog" vjp --triangle=lower p.tar; unpack; has x $t 1/2 2
    run 0 "$prog" vjp --triangle=sym p.tar; unpack; has x $t 0 2
    printf '%%%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 4\n2 1 2\n2 2 2\n' >P.mtx; problem
    run 0 "$prog" vjp p.tar; unpack; has x $t -1 3; has dq $t -1/2 1/2
}

case_c4_infeasible_by_a_hair() {
    mat P 1 1 0; mat q 1 1 1; mat A 2 1 1 1; mat l 2 1 3 -inf; mat u 2 1 inf 2.99999; mat gx 1 1 1; problem
    run 10 "$prog" vjp p.tar; says 'infeasible'; unpack
    has y 1e-9 -1 1; lacks dq; lacks x; lacks du; status_is status infeasible; status_is code 10
    mat P 1 1 1; mat q 1 1 0; mat u 2 1 inf 3; problem
    run 0 "$prog" vjp p.tar; unpack; has x $t 3; has dq $t 0; status_is licq_deficit 1
}

case_c5_duplicate_rows() {
    mat P 2 2 1 0 0 1; mat q 2 1 -2 -2; mat A 2 2 1 1 1 1; mat u 2 1 2 2; mat gx 2 1 1 0; problem
    run 0 "$prog" vjp p.tar; unpack; says 'depend on each other, 1 too many'
    has x $t 1 1; has dq $t -1/2 1/2; has du $t 1/4 1/4; status_is licq_deficit 1
    perl -e 'open F, "r/y.mtx"; <F>; <F>; my $s = <F> + <F>; exit !(abs($s - 1) < 1e-9)' || fail "y does not sum to 1"
    perl -e 'open F, "r/dA.mtx"; my @s; while (<F>) { next if /^%/ || $. == 2; my ($i, $j, $v) = split; $s[$j] += $v } exit !(abs($s[1] + 1) < 1e-9 && abs($s[2]) < 1e-9)' || fail "the rows of dA do not sum to (-1, 0)"
    run 14 "$prog" vjp --strict p.tar; unpack; lacks dq
}

case_c7_vertex_of_a_linear_program() {
    mat q 2 1 -1 -2; mat A 1 2 1 1; mat u 1 1 4; mat lb 2 1 0 0; mat ub 2 1 3 3; mat gx 2 1 1 10; problem
    run 0 "$prog" vjp p.tar; unpack
    has x $t 1 3; has y $t 1; has z $t 0 1; has dq 0 0 0; has du $t 1; has dub $t 0 9; has dA $t -1 -3; status_is vertex 1
}

case_c10_unbounded() {
    mat P 2 2 1 0 0 0; mat q 2 1 0 -1; mat A 1 2 1 0; mat u 1 1 1; mat gx 2 1 1 1; problem
    run 11 "$prog" vjp p.tar; says 'unbounded'; unpack
    has x 1e-9 0 1; lacks y; lacks dq; status_is status unbounded
}

case_c11_infinite_bounds() {
    mat P 2 2 2 0 0 1; mat q 2 1 -4 3; mat A 2 2 1 0 0 1; mat l 2 1 -inf -inf; mat u 2 1 inf 1; mat gx 2 1 1 1; problem
    run 0 "$prog" vjp p.tar; unpack
    has x $t 2 -3; has y 0 0 0; has dq $t -1/2 -1; has dl 0 0 0; has du 0 0 0
    mat l 2 1 -1e30 -1e20; mat u 2 1 1e20 1; problem
    run 0 "$prog" vjp p.tar; unpack; has x $t 2 -3
}

case_c12_zero_rows() {
    mat P 1 1 1; mat q 1 1 1; mat A 2 1 0 0; mat l 2 1 0 -inf; mat u 2 1 0 0; mat gx 1 1 1; problem
    run 0 "$prog" vjp p.tar; unpack
    has x $t -1; has dq $t -1; has dl 0 0 0; has du 0 0 0; has deq 0 0 0
    mat u 2 1 0 -1; problem
    run 10 "$prog" vjp p.tar; says 'row 2 has no entries'; unpack; has y 0 0 1; lacks dq
}

c13() {
    mat P 3 3 2 0 0 0 1 0 0 0 4; mat q 3 1 "$@"; mat A 1 3 1 1 1; mat l 1 1 1; mat u 1 1 1; mat lb 3 1 0 0 0; mat gx 3 1 1 2 3
}
case_c13_exact_at_defaults() {
    c13 -1 -1.5 1
    printf '%%%%MatrixMarket matrix array real general\n3 3\n2\n0\n0\n0\n1\n0\n0\n0\n4\n' >P.mtx; problem
    run 0 "$prog" vjp p.tar; unpack
    has x $t 1/6 5/6 0; has y $t 2/3; has z $t 0 0 -5/3; has dq $t 1/3 -1/3 0; has deq $t 5/3; has dlb $t 0 0 4/3; has dA $t -1/18 -29/18 0; has du 0 0; has dl 0 0
    printf '%%%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 2\n2 1 0\n2 2 1\n3 3 4\n' >P.mtx; problem
    run 0 "$prog" vjp p.tar; unpack
    has dP $t 1/18 1/9 0 1/9 -5/18 0 0 0 0
}

case_c16_not_convex() {
    mat P 2 2 1 2 2 1; mat lb 2 1 -1 -1; mat ub 2 1 1 1; mat gx 2 1 1 1; problem
    run 13 "$prog" vjp p.tar; says 'eigenvalue of at most -1$'; unpack; lacks x; lacks dq; status_is status nonconvex
}

case_c17_bad_data() {
    mat P 1 1 1; mat q 1 1 1; mat A 1 1 1; mat l 1 1 2; mat u 1 1 1; problem
    run 3 "$prog" solve p.tar; says 'row 1: its lower bound 2 is above its upper bound 1'; no_output
    mat l 1 1 inf; mat u 1 1 inf; problem; run 3 "$prog" solve p.tar; says 'row 1: its lower bound is \+infinite'
    mat l 1 1 -inf; mat u 1 1 -inf; problem; run 3 "$prog" solve p.tar; says 'row 1: its upper bound is -infinite'
    mat l 1 1 nan; mat u 1 1 1; problem; run 3 "$prog" solve p.tar; says 'row 1: a bound is NaN'
    mat l 1 1 0; mat q 1 1 nan; problem; run 3 "$prog" solve p.tar; says 'q.mtx'
    mat q 1 1 0; mat lb 1 1 2; mat ub 1 1 1; problem; run 3 "$prog" solve p.tar; says 'variable 1: its lower bound 2'
    rm -f lb.mtx ub.mtx u.mtx; mat l 1 1 3; printf '%%%%MatrixMarket matrix coordinate real general\n1 1 2\n1 1 1\n1 1 0.5\n' >A.mtx; problem
    run 0 "$prog" solve p.tar; unpack; has x $t 2 # duplicate entries are summed: 1.5 x >= 3
}

# ---- the rest -------------------------------------------------------------------------------------------------------------

case_known_problems() {
    mat P 2 2 8 2 2 10; mat q 2 1 1.5 -2; mat A 2 2 2 1 -1 2; mat l 2 1 2 -inf; mat u 2 1 inf 6; mat lb 2 1 0 0; mat ub 2 1 20 inf; mat gx 2 1 1 1; problem
    run 0 "$prog" vjp p.tar; unpack # QPTEST
    has x $t 61/80 19/40; has y $t -171/40 0; has dq $t 1/40 -1/20; has dl $t 11/20 0
    less "$(perl -e 'print abs($ARGV[0] - 4.371875)' "$(column r/status.csv objective)")" 1e-12 objective
}

case_seeds_in_y() { # a x <= u in force: x = u/a, y = (3 - u/a)/a
    mat P 1 1 1; mat q 1 1 -3; mat A 1 1 1; mat u 1 1 1; mat gy 1 1 1; problem
    run 0 "$prog" vjp p.tar; unpack
    has x $t 1; has y $t 2; has dq $t -1; has du $t -1; has dA $t -1
}

case_many_seeds() {
    c13 -1 -1.5 1; mat gx 3 2 1 0 2 1 3 0; problem
    run 0 "$prog" vjp p.tar; unpack
    has dq $t 1/3 1/3 -1/3 -1/3 0 0; has deq $t 5/3 2/3; [[ -e r/dP-1.mtx && -e r/dA-2.mtx ]] || fail "no matrices of each seed"
}

case_wrt() {
    c13 -1 -1.5 1; problem
    run 0 "$prog" vjp --wrt=q,rows p.tar; unpack
    has dq $t 1/3 -1/3 0; has deq $t 5/3; lacks dP; lacks dA; lacks dlb
    run 2 "$prog" vjp --wrt=q,z p.tar; says 'wrt'
}

case_jvp() {
    c13 -1 -1.5 1; mat dq 3 1 1 0 0; problem # x = (1/6, 5/6): moving q1 moves along (1, -1)/3
    run 0 "$prog" jvp p.tar; unpack; has dx $t -1/3 1/3 0; has dy $t -1/3
    rm dq.mtx; mat dl 1 1 1; mat du 1 1 1; problem
    run 0 "$prog" jvp p.tar; unpack; has dx $t 1/3 2/3 0; has dy $t -2/3
    mat du 1 1 2; problem
    run 3 "$prog" jvp p.tar; says 'row 1 apart'
    rm dl.mtx du.mtx; problem
    run 3 "$prog" jvp p.tar; says 'no direction'
}

# min 1/2 (x - q)^2, x >= 0 at q = 0: the bound is in force with multiplier zero. x = max(-q, 0): one-sided derivatives differ.
case_degenerate() {
    mat P 1 1 1; mat q 1 1 0; mat lb 1 1 0; mat gx 1 1 1; mat dq 1 1 1; problem
    run 0 "$prog" jvp p.tar; unpack; says 'multiplier of zero'; has dx $t 0
    mat dq 1 1 -1; problem
    run 0 "$prog" jvp p.tar; unpack; has dx $t 1
    run 0 "$prog" vjp p.tar; unpack; says 'rule exclude'; has dq $t -1; status_is weak 1
    run 0 "$prog" vjp --degenerate=include p.tar; unpack; has dq $t 0; has dlb $t 1
    run 0 "$prog" vjp --degenerate=mean p.tar; unpack; has dq $t -1/2; has dlb $t 1/2
    run 14 "$prog" vjp --strict p.tar; unpack; lacks dq; status_is status 'not unique'
    run 0 "$prog" solve p.tar; unpack; grep -q '^bound,1,lower,weak,' r/active.csv || fail "not told in active.csv"
}

case_not_unique() {
    mat P 2 2 1 1 1 1; mat q 2 1 -1 -1; mat gx 2 1 1 0; problem
    run 14 "$prog" vjp p.tar; says 'not unique'; unpack; lacks dq
    run 0 "$prog" solve p.tar; unpack; status_is unique no
}

case_value() {
    c13 -1 -1.5 1; problem
    run 0 "$prog" value p.tar; unpack
    has dq $t 1/6 5/6 0; has deq $t -2/3; has dlb $t 0 0 5/3; has dA $t 1/9 5/9 0
}

case_back() {
    c13 -1 -1.5 1; mat x 3 1 0.1667 0.8332 1e-6; mat y 1 1 0.66; problem
    run 0 "$prog" back p.tar; unpack
    has x $t 1/6 5/6 0; has dq $t 1/3 -1/3 0; has dlb $t 0 0 4/3
    mat x 3 1 0 0 1; problem
    run 1 "$prog" back p.tar; says 'is no solution'; unpack; lacks dq
    rm y.mtx; problem; run 3 "$prog" back p.tar; says 'lacks the point: y'
}

case_factors() { # P = diag(1, 2) + (1, 1)(1, 1)'
    mat P 2 2 2 1 1 3; mat q 2 1 -1 -2; mat gx 2 1 1 -1; mat A 1 2 1 2; mat u 1 1 0.5; problem
    run 0 "$prog" vjp p.tar; unpack; mv r whole
    rm P.mtx; mat d 2 1 1 2; mat F 2 1 1 1; problem
    run 0 "$prog" vjp p.tar; unpack
    local name
    for name in x y dq du; do
        perl -e 'my ($a, $b) = map { open my $f, "<", $_ or die; [grep { !/^%/ } <$f>] } @ARGV; exit 1 if @$a != @$b; for (1 .. $#$a) { exit 1 if abs($a->[$_] - $b->[$_]) > 1e-12 }' whole/$name.mtx r/$name.mtx ||
            fail "$name is not that of P"
    done
    # dF = (dP + dP') F, dd = diag dP
    perl -e 'sub m { open my $f, "<", $_[0]; my @v; my @l = grep { !/^%/ } <$f>; shift @l; for (@l) { my @w = split; $v[$w[0] - 1][$w[1] - 1] = $w[2] if @w == 3; push @v, $w[0] if @w == 1 } @v }
             my @P = m("whole/dP.mtx"); my @F = m("r/dF.mtx"); my @d = m("r/dd.mtx");
             for my $i (0, 1) { exit 1 if abs($F[$i][0] - 2 * ($P[$i][0] + $P[$i][1])) > 1e-12 || abs($d[$i] - $P[$i][$i]) > 1e-12 }' || fail "dF or dd is wrong"
    mat P 2 2 1 0 0 1; problem; run 3 "$prog" vjp p.tar; says 'cannot both be given'
}

case_formats() {
    c13 -1 -1.5 1; problem; run 0 "$prog" solve p.tar; unpack; mv r whole
    zstd -q p.tar; gzip -k p.tar; run 0 "$prog" solve <p.tar.zst; unpack; same r/x.mtx whole/x.mtx
    run 0 "$prog" solve p.tar.gz; unpack; same r/x.mtx whole/x.mtx
    run 0 "$prog" solve --P=P.mtx --q=q.mtx --A=A.mtx --l=l.mtx --u=u.mtx --lb=lb.mtx; unpack; same r/x.mtx whole/x.mtx
    printf '%s\n' -1 -1.5 1 >q.csv; rm q.mtx; npy l.npy '<f8' False '1,' d 1; rm l.mtx; tar cf q.tar P.mtx A.mtx q.csv l.npy u.mtx lb.mtx
    run 0 "$prog" solve q.tar; unpack; same r/x.mtx whole/x.mtx
    run 0 "$prog" solve --format=npy q.tar; unpack; numbers r/x.npy >a; numbers whole/x.mtx >b; same a b
    echo -1 >c.csv; echo -1.5 >>c.csv; echo 1 >>c.csv
    run 0 "$prog" solve --q=c.csv q.tar; unpack; same r/x.mtx whole/x.mtx
    run 0 "$prog" solve q.tar -o s.tar; cp s.tar out; unpack; same r/x.mtx whole/x.mtx
    run 3 "$prog" solve s.tar; says "kind 'qp-result'"
}

case_batch() {
    mkdir 0000 0001 0002
    local i
    for i in 0000 0001 0002; do ( cd $i; mat P 1 1 1; mat q 1 1 -3; mat A 1 1 1; mat u 1 1 1; mat gx 1 1 1 ); done
    ( cd 0001; mat u 1 1 -1; mat lb 1 1 0 ) # infeasible
    tar cf p.tar 0000 0001 0002
    run 1 "$prog" vjp p.tar; says '0001.*infeasible'; says '1 of 3 problems'
    mkdir r; tar xf out -C r
    gives r/0000/x.mtx 1; gives r/0002/du.mtx 1
    [[ ! -e r/0001/dq.mtx && $(column r/0001/status.csv code) = 10 ]] || fail "the bad one has a gradient or no status"
    rm -rf 0001; tar cf p.tar 0000 0002; run 0 "$prog" vjp p.tar
}

case_faults() {
    : >empty; run 3 "$prog" solve empty; says 'empty'
    echo nonsense >n; run 3 "$prog" solve n; says 'no archive'
    mat gx 1 1 1; tar cf p.tar gx.mtx; run 3 "$prog" solve p.tar; says 'holds no problem'
    mat P 2 3 1 2 3 4 5 6; problem; run 3 "$prog" solve p.tar; says 'not square'
    mat P 2 2 1 0 0 1; mat q 3 1 1 2 3; problem; run 3 "$prog" solve p.tar; says 'q.mtx: has 3 rows where the problem has 2'
    mat q 2 1 1 2; mat A 1 3 1 1 1; problem; run 3 "$prog" solve p.tar; says 'A has 3 columns'
    mat A 1 2 1 1; mat u 1 2 1 1; problem; run 3 "$prog" solve p.tar; says 'u.mtx|columns'
    rm u.mtx gx.mtx; problem; run 3 "$prog" vjp p.tar; says 'holds no seed'
    mat gx 3 1 1 1 1; problem; run 3 "$prog" vjp p.tar; says 'gx.mtx: has 3 rows'
    head -c 700 p.tar >cut.tar; run 3 "$prog" solve cut.tar; no_output
    run 4 "$prog" solve absent.tar; run 2 "$prog" solve a b; run 2 "$prog" nothing; run 2 "$prog" solve --eps=2 p.tar; run 2 "$prog" solve --path=x p.tar; run 5 "$prog" solve --device=cuda p.tar
    rm gx.mtx; problem; ln -s P.mtx link.mtx; tar cf l.tar link.mtx; run 3 "$prog" solve l.tar; says 'link'
    tar cf d.tar P.mtx; tar rf d.tar P.mtx; run 3 "$prog" solve d.tar; says 'twice'
    [[ ! -e /dev/full ]] || { "$prog" solve p.tar >/dev/full 2>err && fail "a full disc is no failure"; says 'write failed'; }
}

case_same_bits_for_any_threads() {
    perl -e 'srand 3; my $n = 30; print "%%MatrixMarket matrix array real general\n$n $n\n"; for my $j (1 .. $n) { for my $i (1 .. $n) { print $i == $j ? 3 : 0.01 * (($i * $j) % 7), "\n" } }' >P.mtx
    mat q 30 1 $(seq -5 24); mat A 1 30 $(seq 30); mat u 1 1 1; mat lb 30 1 $(yes 0 | head -30); mat ub 30 1 $(yes 1 | head -30); mat gx 30 1 $(seq 30); problem
    run 0 "$prog" vjp p.tar
    run 0 "$prog" vjp -v --threads=2 p.tar -o two.tar; says 'certified'
    "$prog" vjp --threads=1 p.tar >one.tar; same one.tar two.tar
}

case_limit_of_iterations() {
    run 0 "$prog" gen --kind=random --n=30 -o p.tar
    run 12 "$prog" vjp --iterations=0 p.tar; says 'not solved after 0 iterations'; unpack; lacks dq; lacks x; status_is status limit
    run 0 "$prog" vjp p.tar
}

case_report() {
    c13 -1 -1.5 1; problem
    run 0 "$prog" solve --report=r.csv p.tar; [[ $(column r.csv command) = solve && $(column r.csv problems) = 1 ]] || fail "no report"
}

# ---- generated problems and their checks: half of the rows and bounds in force, on both sides -------------------------------

case_gen_kkt_solution_is_found() {
    local density
    for density in 1 0.05; do
        run 0 "$prog" gen --kind=kkt --n=120 --density=$density --seed=3 -o p.tar; rm -rf g; mkdir g; tar xf p.tar -C g
        run 0 "$prog" vjp p.tar; unpack
        perl -e 'sub v { open my $f, "<", $_[0]; my @l = grep { !/^%/ } <$f>; shift @l; @l } for my $m ("x", "y") { my @a = v("g/$m.mtx"); my @b = v("r/$m.mtx"); for (0 .. $#a) { exit 1 if abs($a[$_] - $b[$_]) > 1e-9 } }' ||
            fail "density $density: not the solution chosen"
        perl -e 'exit !($ARGV[0] > 15 && $ARGV[1] > 5)' "$(column r/status.csv active_rows)" "$(column r/status.csv active_bounds)" || fail "next to nothing is in force"
        cut -d, -f1,3 r/active.csv | sort -u >kinds; [[ $(wc -l <kinds) -eq 6 ]] || fail "not both sides of rows and bounds: $(tr '\n' ' ' <kinds)"
    done
}

case_check() {
    local kind path
    for kind in kkt bpqp portfolio random; do
        run 0 "$prog" gen --kind=$kind --n=40 --seed=2 -o p.tar
        for path in sparse dense; do
            run 0 "$prog" check --path=$path p.tar; unpack
            [[ $(grep -c ',ok$' r/check.csv) -eq 7 ]] || fail "$kind: $(cat r/check.csv)"
        done
    done
    run 2 "$prog" check --gy=x.csv p.tar
    mat P 2 2 2 0 0 2; mat q 2 1 -1 1; mat lb 2 1 0 0; problem; run 0 "$prog" check p.tar; run 0 "$prog" check --seed=9 p.tar
    run 0 "$prog" gen --seed=1 -o a.tar; run 0 "$prog" gen --threads=3 --seed=1 -o b.tar; same a.tar b.tar; run 2 "$prog" gen x; run 2 "$prog" gen --kind=y
}

# ---- QPS -------------------------------------------------------------------------------------------------------------------

qps() { printf '%s\n' "$@" >p.qps; }
small=('NAME  TEST' 'ROWS' ' N  COST' ' L  LIM' ' G  LOW' ' E  SUM' 'COLUMNS' '    X  COST  1  LIM  1' '    X  SUM  1' '    Y  COST  -2  LOW  1' '    Y  SUM  1' 'RHS' '    RHS  COST  5  LIM  4' '    RHS  LOW  -1  SUM  3')

case_qps_ranges_and_bounds() {
    qps "${small[@]}" 'RANGES' '    R  LIM  2  LOW  3' '    R  SUM  -1' 'BOUNDS' ' UP B  X  8' ' MI B  Y' 'QUADOBJ' '    X  X  2' '    Y  X  1' '    Y  Y  4' 'ENDATA'
    run 0 "$prog" import p.qps; unpack
    has P 0 2 1 1 4; has q 0 1 -2; has A 0 1 0 0 1 1 1; gives r/l.mtx 2 -1 2; gives r/u.mtx 4 2 3; gives r/lb.mtx 0 -inf; gives r/ub.mtx 8 inf; gives r/c0.mtx -5
    [[ $(tr '\n' ' ' <r/variables.csv) = 'name X Y ' && $(tr '\n' ' ' <r/rows.csv) = 'name LIM LOW SUM ' ]] || fail "names"
    cp out p.tar; run 0 "$prog" solve <p.tar
}

case_qps_dialects() {
    qps "${small[@]}" 'BOUNDS' ' FX B  X  1' ' FR Y' 'QMATRIX' '    X  X  2' '    Y  X  1' '    X  Y  1' 'ENDATA'
    run 0 "$prog" import p.qps; unpack; has P 0 2 1 1 0; gives r/lb.mtx 1 -inf; gives r/ub.mtx 1 inf
    qps "${small[@]}" 'QMATRIX' '    X  X  2' '    Y  X  1' 'ENDATA'; run 3 "$prog" import p.qps; says 'QMATRIX is not symmetric'
    qps "${small[@]}" 'QUADOBJ' '    X  Y  2' '    Y  X  2' 'ENDATA'; run 3 "$prog" import p.qps; says 'both triangles'
    qps "${small[@]}" 'BOUNDS' ' UP B  X  -8' 'ENDATA'; run 0 "$prog" import p.qps; says 'lower one becomes -infinity'; unpack; gives r/lb.mtx -inf 0
    qps 'OBJSENSE' '    MAX' "${small[@]}" 'ENDATA'; run 0 "$prog" import p.qps; says 'maximum'; unpack; has q 0 -1 2; gives r/c0.mtx 5
    qps 'OBJSENSE MAX' "${small[@]}" 'ENDATA'; run 0 "$prog" import p.qps; unpack; has q 0 -1 2
    qps "${small[@]/ RHS / }" 'ENDATA'; sed -i 's/^    RHS  COST/    COST/; s/^    RHS  LOW/    LOW/' p.qps; run 0 "$prog" import p.qps; unpack; gives r/l.mtx -inf -1 3
    qps "${small[@]}" 'ENDATA'; sed -i 's/$/\r/' p.qps; run 0 "$prog" import p.qps
    qps "${small[@]}" '    OTHER  LIM  9' 'ENDATA'; run 0 "$prog" import p.qps; says 'RHS set OTHER is passed over'; unpack; gives r/u.mtx 4 inf 3
    qps 'NAME          FIXED' 'ROWS' ' N  COST' ' E  ROW 1' ' L  ROW 2' 'COLUMNS' '    COL 1     COST                1.   ROW 1               2.' '    COL 1     ROW 2               3.' 'RHS' '    RHS 1     ROW 1               4.   ROW 2               5.' \
        'BOUNDS' ' UP BND 1     COL 1              10.' 'ENDATA'
    run 0 "$prog" import p.qps; unpack; has A 0 2 3; gives r/u.mtx 4 5; gives r/ub.mtx 10
}

case_qps_faults() {
    qps "${small[@]}"; run 3 "$prog" import p.qps; says 'without ENDATA'
    qps 'ROWS' ' N  C' ' E  R' 'COLUMNS' '    X  NONE  1' 'ENDATA'; run 3 "$prog" import p.qps; says 'p.qps:5: there is no row NONE'
    qps 'ROWS' ' E  R' 'COLUMNS' '    X  R  1' 'ENDATA'; run 3 "$prog" import p.qps; says 'no objective'
    qps 'ROWS' ' N  C' ' E  R' ' E  R' 'ENDATA'; run 3 "$prog" import p.qps; says ':4: row R is there twice'
    qps 'ROWS' ' N  C' 'COLUMNS' '    X  C  1x' 'ENDATA'; run 3 "$prog" import p.qps; says "'1x' is not a number"
    qps 'ROWS' ' N  C' 'COLUMNS' "    M  'MARKER'  'INTORG'" 'ENDATA'; run 3 "$prog" import p.qps; says 'integer'
    qps 'ROWS' ' N  C' 'COLUMNS' '    X  C  1' 'BOUNDS' ' BV B  X' 'ENDATA'; run 3 "$prog" import p.qps; says 'type BV'
    qps 'ROWS' ' N  C' 'COLUMNS' '    X  C  1' 'BOUNDS' ' LO B  X  5' ' UP B  X  4' 'ENDATA'; run 3 "$prog" import p.qps; says 'variable 1: its lower bound 5'
    qps 'ROWS' ' N  C' 'COLUMNS' '    X  C  1' 'SOS' 'ENDATA'; run 3 "$prog" import p.qps; says "'SOS' is no section"
    qps 'ROWS' ' N  C' 'COLUMNS' '    X  C  1' '    Y  C  1' '    X  C  1' 'ENDATA'; run 3 "$prog" import p.qps; says 'column X is not in one piece'
    run 2 "$prog" import a b
}

# Problems of the Maros-Meszaros collection against the objectives that its authors list.
case_maros_meszaros() {
    needs_shared qp; needs zstd
    local name want
    while read -r name want; do
        zstd -dcq "$shared/qp/$name.QPS.zst" | "$prog" import >p.tar || fail "$name: not read"
        run 0 "$prog" solve p.tar; unpack
        less "$(column r/status.csv residual)" 1e-8 "$name: residual"
        perl -e 'my ($f, $w) = @ARGV; exit !(abs($f - $w) <= 1e-6 * (abs $w > 1 ? abs $w : 1))' -- "$(column r/status.csv objective)" "$want" || fail "$name: objective $(column r/status.csv objective), not $want"
    done <<'LIST'
CVXQP1_S 0.115907181e5
DUAL4 7.46090842e-01
DUALC5 4.27232327e+02
GOULDQP2 1.84275E-04
HS268 5.73107049e-7
HS35MOD 0.25
HS51 0
HS53 4.09302326
HS76 -4.68181818
PRIMALC1 -6.15525083e+03
QAFIRO -1.59078179
QFORPLAN 7.45663150e+09
QPCBOEI2 8.17196225e+06
QRECIPE -2.66616000e+02
QSHARE1B 7.20078318e+05
TAME 0
ZECEVIC2 -4.12500000
LIST
}

case_manual_has_the_options_of_help() {
    local command
    for command in $("$prog" --help | sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p'); do grep -q "^\.It Cm $command\$" "$HU_SRC/man/qp-diff.1" || fail "command $command is not in the manual"; done
    manual_has_the_options qp-diff.1 $("$prog" --help | sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p')
}

run_cases "$@"
