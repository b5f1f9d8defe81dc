#!/bin/bash
# tests/pipe/perf-predict-columns.sh: what -x says of a column: names with colons, logarithms.
. "$(dirname "$0")/lib.sh"
prog=$HU_BUILD/perf-predict

# predictions MODEL TABLE: the column predicted, one a line.
predictions() {
    run 0 "$prog" predict "$@"
    cut -d, -f1 out | tail -n +2
}

# Times over sizes that span four decades, and a column of words; with the argument "taken", n's logarithm in its place.
sizes() {
    perl -e 'srand 5; print "n,mode,time\n"; for (1 .. 60) { my $n = int(10 ** (4 * rand) * 8) / 8 + 1; my $m = (qw(a b))[int rand 2];
             printf "%s,%s,%.9g\n", ($ARGV[0] eq "taken" ? sprintf("%.17g", log $n) : $n), $m, (2 + log($n) * ($m eq "a" ? 1 : 3)) * (1 + 0.01 * rand) }' "${1:-plain}"
}

# A threshold lies in the middle between two logarithms: at the geometric mean.
case_thresholds_are_geometric() {
    printf 'n,time\n1,10\n4,20\n16,30\n' >t.csv
    run 0 "$prog" train -y time -x n:log --model=rf --target=raw --trees=1 --bootstrap=off -o m.ppm t.csv
    printf 'n\n1.99\n2.01\n7.99\n8.01\n' >q.csv
    [[ "$(predictions m.ppm q.csv | tr '\n' ' ')" == "10 20 20 30 " ]] || fail "not at 2 and 8: $(cat out)"
    run 0 "$prog" train -y time -x n --model=rf --target=raw --trees=1 --bootstrap=off -o m.ppm t.csv
    [[ "$(predictions m.ppm q.csv | tr '\n' ' ')" == "10 10 20 20 " ]] || fail "without :log not at 2.5 and 10: $(cat out)"
}

# The same as a table with the logarithms in it, for each kind of model.
case_same_as_a_table_of_logarithms() {
    sizes >t.csv
    sizes taken >l.csv
    printf 'n,mode\n3,a\n700,b\n9000.5,a\n' >q.csv
    perl -F, -ane 'print($. == 1 ? $_ : sprintf("%.17g,%s", log $F[0], $F[1]))' q.csv >ql.csv
    local kind
    for kind in rf et boost linear hybrid auto; do
        run 0 "$prog" train -y time -x n:log,mode --model=$kind --trees=20 -o m.ppm t.csv
        run 0 "$prog" train -y time -x n,mode --model=$kind --trees=20 -o l.ppm l.csv
        predictions m.ppm q.csv >got
        predictions l.ppm ql.csv >want
        same got want
        [[ $(wc -l <got) -eq 3 ]] || fail "$kind: not three rows"
    done
}

# A linear model reaches beyond the table where the target is linear in the logarithm.
case_linear_in_the_logarithm() {
    perl -e 'print "n,time\n"; for (0 .. 19) { my $n = 2 ** ($_ / 2); printf "%.17g,%.17g\n", $n, 3 + 2 * log $n }' >t.csv
    printf 'n\n1048576\n' >q.csv
    run 0 "$prog" train -y time -x n:log --model=linear --target=raw -o m.ppm t.csv
    perl -e 'exit !(abs($ARGV[0] / (3 + 2 * log 1048576) - 1) < 0.01)' -- "$(predictions m.ppm q.csv)" || fail "predicted $(cat out)"
    run 0 "$prog" train -y time -x n --model=linear --target=raw -o m.ppm t.csv
    perl -e 'exit !(abs($ARGV[0] / (3 + 2 * log 1048576) - 1) > 0.5)' -- "$(predictions m.ppm q.csv)" || fail "without :log it should fail: $(cat out)"
}

# Powers are those of the number itself, with :log or without.
case_scales_are_powers_of_the_number() {
    perl -e 'print "p,n,time\n"; for my $p (1, 2, 4, 8, 16, 32) { for my $n (1000, 2000, 4000) { printf "%d,%d,%.17g\n", $p, $n, $n / 10 / $p + 2 } }' >t.csv
    printf 'p,n\n1024,8000\n3,1500\n' >q.csv
    run 0 "$prog" train -y time --scale=p,n -o m.ppm t.csv
    predictions m.ppm q.csv >want
    run 0 "$prog" train -y time -x p:log,n:log --scale=p,n -o m.ppm t.csv
    predictions m.ppm q.csv >got
    perl -e 'open A, "<got"; open B, "<want"; my @a = <A>; my @b = <B>; exit !(@a == 2 && abs($a[0] / $b[0] - 1) < 1e-6 && abs($a[1] / $b[1] - 1) < 1e-2)' || fail "$(paste got want)"
    perl -e 'exit !(abs($ARGV[0] / (800 / 1024 + 2) - 1) < 0.1)' -- "$(head -1 got)" || fail "not within 10 %: $(cat got)"
}

case_exported_source_gives_the_same_bits() {
    needs gcc
    sizes >t.csv
    printf 'n,mode\n3,a\n700,b\n9000.5,a\n99999,b\n' >q.csv
    printf 'int printf(const char *, ...); double model_predict(const double *); int main(void) { double x[][2] = {{3, 0}, {700, 1}, {9000.5, 0}, {99999, 1}}; for (int i = 0; i < 4; i++) printf("%%.17g\\n", model_predict(x[i])); return 0; }' >main.c
    local options
    for options in --model=hybrid --model=rf --scale=n; do
        run 0 "$prog" train -y time -x n:log,mode --trees=10 $options -o m.ppm t.csv
        run 0 "$prog" export --format=c -o m.c m.ppm
        run 0 gcc -O2 -ffp-contract=off -o x main.c m.c -lm
        run 0 ./x
        mv out got
        predictions m.ppm q.csv >want
        gives got $(cat want)
    done
}

case_models_say_so() {
    sizes >t.csv
    run 0 "$prog" train -y time -x n:log,mode --model=hybrid --trees=2 -o m.ppm t.csv
    run 0 "$prog" dump --trees m.ppm
    grep -q '^column 0: n, logarithms (natural) from ' out || fail "dump says nothing of logarithms"
    grep -Eq 'log\(n\) (<=|- )' out || fail "dump writes no log(n)"
    run 0 "$prog" export --format=json m.ppm
    grep -q '"log": true' out || fail "JSON says nothing of logarithms"
}

case_what_has_no_logarithm() {
    printf 'n,time\n1,1\n2,2\n0,3\n4,4\n' >t.csv
    run 3 "$prog" train -y time -x n:log -o m.ppm t.csv
    says 't.csv:4: column 1 \(n\): has no logarithm'
    absent m.ppm
    printf 'n,time\n1,1\n2,2\n-3,3\n' | run 3 "$prog" train -y time -x n:log -o m.ppm
    says ':4: column 1'
    printf 'n,time\n1,1\nx,2\n' >t.csv
    run 3 "$prog" train -y time -x n:log -o m.ppm t.csv
    says 't.csv:3: column 1 \(n\): is no number'
    printf 'n,time\n1,1\n2,2\n,3\n4,4\n' >t.csv
    run 0 "$prog" train -y time -x n:log -o m.ppm t.csv
    printf 'n\n1\n0\n' >q.csv
    run 3 "$prog" predict m.ppm q.csv
    says 'q.csv:3: column 1 \(n\): .0. has no logarithm'
    printf 'n\nNA\n' >q.csv
    run 0 "$prog" predict m.ppm q.csv
}

# A name that ends like another with a kind behind it: each is found by its whole name.
case_names_with_colons() {
    printf 'a.c:f:9,a.c:f:9:b0,a.c:f:9:b1,time\n1,10,3,1\n2,20,3,2\n3,30,3,3\n' >t.csv
    run 0 "$prog" train -y time -x a.c:f:9:b0 --model=rf -o m.ppm t.csv
    run 0 "$prog" dump m.ppm
    grep -q '^column 0: a.c:f:9:b0, numbers from 10 to 30$' out || fail "$(cat out)"
    ! grep -q '^column 1' out || fail "more than one column is taken"
    run 0 "$prog" train -y time -x a.c:f:9:b0:log,a.c:f:9 --model=rf -o m.ppm t.csv
    run 0 "$prog" dump m.ppm
    grep -q '^column 0: a.c:f:9, numbers' out && grep -q '^column 1: a.c:f:9:b0, logarithms' out || fail "$(cat out)"
    run 3 "$prog" train -y time -x a.c:f:9:b7 -o m.ppm t.csv
    says 'there is no column a.c:f:9:b7, which -x names'
}

run_cases "$@"
