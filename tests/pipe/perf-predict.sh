#!/bin/bash
# tests/pipe/perf-predict.sh: models from tables: the faults that users of other tools reported, damaged models, the same bytes everywhere.
. "$(dirname "$0")/lib.sh"
prog=$HU_BUILD/perf-predict

# learn TABLE OPTION...: one tree on all rows of the target itself, so that every answer is known.
learn() {
    local table=$1
    shift
    run 0 "$prog" train -y time --model=rf --target=raw --trees=1 --bootstrap=off -o m.ppm "$@" "$table"
}

# predicts TABLE VALUE...: the predictions of m.ppm for a table, line by line.
predicts() {
    local table=$1
    shift
    run 0 "$prog" predict m.ppm "$table"
    cut -d, -f1 out | tail -n +2 | tr '\n' ' ' >got
    [[ "$(cat got)" == "$* " ]] || fail "predicted $(cat got), expected $*"
}

# A table of n rows: three numbers, one column of words, a target.
runs_table() {
    perl -e '
        my ($n, $seed) = @ARGV; srand $seed; print "n,tile,mode,omp,time\n";
        for (1 .. $n) { my ($a, $b, $c, $d) = (1 + int rand 40, 2 ** int rand 6, (qw(slow fast odd))[int rand 3], int rand 2);
            printf "%d,%d,%s,%d,%.6f\n", $a, $b, $c, $d, ($a * (1 + abs($b - 8) / 8) * ($c eq "slow" ? 2 : 1) / (1 + $d) + 1) * (1 + 0.05 * rand) }' "$1" "${2:-1}"
}

case_quoted_header_behind_a_mark() {
    printf '\xEF\xBB\xBF"n","time"\n1,2\n2,4\n' >t.csv
    learn t.csv
    run 0 "$prog" dump m.ppm
    grep -q '^target: time$' out && grep -q '^column 0: n, numbers from 1 to 2$' out || fail "columns are not n and time"
}

case_crlf_and_a_quoted_line_end() {
    printf 'n,tag,time\r\n1,"a\r\nb",3\r\n2,c,4\r\n' >t.csv
    learn t.csv
    predicts t.csv 3 4
    printf 'n,tag,time\r\n1,"a\r\nb",3\r\n2,c\r\n' >t.csv
    run 3 "$prog" train -y time t.csv
    says 't.csv:4:'
}

case_semicolons_and_decimal_commas() {
    printf 'n;time\n1;0,5\n2;1,25\n' >t.csv
    learn t.csv
    cp m.ppm first.ppm
    predicts t.csv 0.5 1.25
    LC_ALL=de_DE.UTF-8 LC_NUMERIC=de_DE.UTF-8 learn t.csv
    same m.ppm first.ppm
    printf 'n,time\n1,1,5\n' >t.csv
    run 3 "$prog" train -y time -o x.ppm t.csv
    says 't.csv:2:'
    absent x.ppm
}

case_unseen_levels() {
    printf 'cc,time\ngcc,1\nicc,2\n' >t.csv
    learn t.csv
    printf 'cc\ngcc\nclang\n' >p.csv
    run 11 "$prog" predict m.ppm p.csv
    says "p.csv:3: column 1 \(cc\): 'clang'"
    no_output
    run 0 "$prog" predict m.ppm --on-unseen=other p.csv
    [[ "$(sed -n 3p out)" =~ ^1\.5,.*,cc$ ]] || fail "not the mean of both, flagged: $(sed -n 3p out)"
}

case_blank_and_empty_levels() {
    printf 'flag,time\n" ",1\n-x,2\n"",3\n,4\n' >t.csv
    learn t.csv
    predicts t.csv 1 2 3 4
    says_not warning
}

case_missing_numbers() {
    printf 'n,time\n1,10\n,11\n3,30\n' >t.csv
    learn t.csv
    says 'n is missing in 1 rows'
    predicts t.csv 10 11 30
    printf 'n,time\n1,10\n2,12\n3,30\n' >t.csv
    learn t.csv
    printf 'n,k\n,1\n3,1\n' >p.csv
    run 0 "$prog" predict m.ppm p.csv
    says 'n is missing in 1 rows but never was in training'
}

case_failed_runs() {
    printf 'n,time\n1,10\n2,inf\n3,nan\n4,30\n5,fail\n' >t.csv
    run 3 "$prog" train -y time -o x.ppm t.csv
    says 't.csv:[0-9]+: column 2 \(time\)'
    absent x.ppm
    learn t.csv --fails=drop
    says '3 of 5 runs failed'
    predicts <(printf 'n\n1\n4\n') 10 30
    learn t.csv --fails=censor
    predicts <(printf 'n\n1\n2\n5\n') 10 30 30
    printf 'n,time,status\n1,10,ok\n2,1,error\n3,30,ok\n' >t.csv
    learn t.csv --fail-col=status
    says '1 of 3 runs failed'
    printf 'n,time\n1,3\n2,4\n3,5\n4,1e20\n' >t.csv
    learn t.csv
    says '1e\+20 .*mark of failed runs'
}

case_thresholds_are_midpoints() {
    printf 'x,time\n1,10\n2,20\n3,30\n' >t.csv
    learn t.csv
    predicts <(printf 'x\n2.4\n2.5\n2.6\n100\n-5\n') 20 20 30 30 10
    run 0 "$prog" predict m.ppm --flag-range <(printf 'x\n3\n3.5\n')
    [[ "$(tail -n +2 out | cut -d, -f3 | tr '\n' ' ')" == "in out " ]] || fail "range is not flagged"
}

case_constant_columns() {
    printf 'a,b,c,time\n1,x,1,10\n1,x,2,20\n1,x,3,30\n' >t.csv
    run 0 "$prog" train -y time --model=rf --mtry=1 --trees=20 -o m.ppm t.csv
    says '2 columns are the same in every row: a, b'
    run 0 "$prog" importance m.ppm
    [[ "$(sed -n 2p out)" == c,1 && "$(grep -c ',0$' out)" == 2 ]] || fail "$(cat out)"
    printf 'a,time\n1,10\n1,20\n' >t.csv
    run 0 "$prog" train -y time --model=rf --mtry=1 -o m.ppm t.csv
}

case_few_rows() {
    printf 'a,time\n1,10\n' >t.csv
    run 0 "$prog" train -y time -o m.ppm --oob=oob.csv t.csv
    says 'n=1'
    predicts t.csv 10
    [[ "$(sed -n 2p oob.csv)" == "10,," ]] || fail "oob: $(sed -n 2p oob.csv)"
    printf 'a,time\n' >t.csv
    run 3 "$prog" train -y time t.csv
    : >t.csv
    run 3 "$prog" train -y time t.csv
    printf 'a,time\n1,10\n2,20\n' >t.csv
    run 0 "$prog" train -y time --model=rf -o m.ppm --oob=oob.csv t.csv
}

case_repeated_rows() {
    printf 'a,time\n1,10\n1,20\n1,60\n2,5\n' >t.csv
    learn t.csv
    predicts <(printf 'a\n1\n2\n') 30 5
    learn t.csv --dup=median
    predicts <(printf 'a\n1\n2\n') 20 5
    learn t.csv --dup=min
    predicts <(printf 'a\n1\n2\n') 10 5
    printf 'a,a,time\n1,2,3\n' >t.csv
    run 3 "$prog" train -y time t.csv
}

case_numbers_as_text() {
    printf 'x,time\n007,1\n1e1,2\n+3,3\n.5,4\n 5,5\n' >t.csv
    learn t.csv
    run 0 "$prog" dump m.ppm
    grep -q 'column 0: x, numbers from 0.5 to 10' out || fail "$(cat out)"
    printf 'x,time\n1,1\n0x10,2\nfast,3\n' >t.csv
    learn t.csv
    says 'column x mixes numbers and words'
    printf 'x\n1.0\n' >p.csv
    run 11 "$prog" predict m.ppm p.csv
    printf 'x,time\n1,1\n2,2\n' >t.csv
    learn t.csv -x x:cat
    predicts <(printf 'x\n2.0\n1\n') 2 1
    printf 'x,time\nTrue,1\nFalse,2\n' >t.csv
    learn t.csv
    predicts <(printf 'x\n1\n0\ntrue\nFALSE\n') 1 2 1 2
}

case_columns_in_any_order() {
    printf 'a,b,time\n1,5,10\n2,5,20\n1,6,30\n' >t.csv
    learn t.csv
    predicts <(printf 'z,b,a\n0,6,1\n0,5,2\n') 30 20
    run 11 "$prog" predict m.ppm <(printf 'a\n1\n')
    says 'no column b'
    run 0 "$prog" predict m.ppm --keep <(printf 'z,b,a\n"x,""y",6,1\n')
    [[ "$(sed -n 2p out)" == '"x,""y",6,1,30,0' ]] || fail "$(sed -n 2p out)"
}

case_scaling_beyond_the_table() {
    perl -e 'print "p,time\n"; printf "%d,%.17g\n", $_, 100 / $_ + 2 for 1 .. 32' >t.csv
    learn t.csv
    predicts <(printf 'p\n1024\n') 5.125
    run 0 "$prog" train -y time --scale=p -o m.ppm t.csv
    run 0 "$prog" predict m.ppm --flag-range <(printf 'p\n1024\n')
    perl -e 'my ($v, $s, $r) = split /,/, $ARGV[0]; exit !(abs($v / 2.09765625 - 1) < 0.1 && $r =~ /out/)' "$(sed -n 2p out)" || fail "$(cat out)"
}

case_one_model_whatever_the_threads() {
    runs_table 150 >t.csv
    run 0 "$prog" train -y time --trees=60 --threads=1 -o one.ppm t.csv
    local n level
    for n in 2 7; do
        run 0 "$prog" train -y time --trees=60 --threads=$n -o more.ppm t.csv
        same one.ppm more.ppm
    done
    for level in base v3 v4; do
        HPCUTILS_CPU=$level run 0 "$prog" train -q -y time --trees=60 -o more.ppm t.csv
        same one.ppm more.ppm
    done
    run 0 "$prog" train -y time --trees=60 - <t.csv
    same one.ppm out
    run 0 "$prog" predict one.ppm --threads=1 t.csv
    cp out one.csv
    run 0 "$prog" predict one.ppm --threads=7 t.csv
    same out one.csv
}

case_one_model_whatever_the_ranks() {
    local mpi
    mpi=$(command -v mpiexec.mpich || true)
    [[ -n $mpi ]] || skip "no mpiexec.mpich on this machine"
    grep -q '^#define HU_MPI' "$HU_BUILD/config.h" || skip "a build without MPI"
    sanitized && skip "MPI keeps memory to itself"
    runs_table 150 >t.csv
    run 0 "$prog" train -y time --trees=61 -o one.ppm t.csv
    local n
    for n in 1 2 3; do
        timeout 100 "$mpi" -n "$n" "$prog" train -y time --trees=61 -o more.ppm <t.csv 2>err || fail "mpiexec -n $n: $(cat err)"
        same one.ppm more.ppm
    done
    ! timeout 100 "$mpi" -n 2 "$prog" train -y nothing t.csv >out 2>err || fail "a wrong column passes"
    [[ $(grep -c 'no column nothing' err) -eq 1 ]] || fail "told $(grep -c 'no column nothing' err) times"
}

case_models_that_are_no_models() {
    runs_table 80 >t.csv
    run 0 "$prog" train -y time --trees=20 --model=hybrid -o m.ppm t.csv
    local size at
    size=$(stat -c %s m.ppm)
    for at in 0 1 10 100 $((size / 2)) $((size - 1)); do
        head -c "$at" m.ppm >cut.ppm
        run 3 "$prog" predict cut.ppm t.csv
        no_output
    done
    perl -e 'srand 3; local $/; open my $f, "<", "m.ppm"; my $m = <$f>; for my $k (1 .. 40) { my $d = $m; my $p = int rand length $d; substr($d, $p, 1) ^= chr(1 << int rand 8); open my $g, ">", "flip$k.ppm"; print $g $d }'
    local k got
    for k in $(seq 40); do
        got=0
        timeout 60 "$prog" predict "flip$k.ppm" t.csv >out 2>err || got=$?
        [[ $got -eq 3 || $got -eq 0 ]] || fail "flip$k: exit code $got: $(cat err)"
        [[ $got -eq 3 ]] && no_output
    done
    cat m.ppm | { run 0 "$prog" predict - t.csv; }
    run 3 "$prog" predict t.csv t.csv
}

case_a_newer_model_is_refused() {
    needs bsdtar
    printf 'x,time\n1,10\n2,20\n' >t.csv
    learn t.csv
    mkdir d
    bsdtar -xf m.ppm -C d
    sed -i 's/"major": 1/"major": 3/' d/manifest.json
    ( cd d && bsdtar --format pax --uid 0 --gid 0 -cf ../new.ppm manifest.json $(find . -type f ! -name manifest.json | sed 's|^\./||' | sort) )
    run 3 "$prog" predict new.ppm t.csv
    says 'new.ppm'
}

case_exported_c_gives_the_same_bits() {
    needs cc
    runs_table 120 >t.csv
    runs_table 60 2 | cut -d, -f1-4 >p.csv
    local kind
    for kind in rf et hybrid boost; do
        run 0 "$prog" train -y time --trees=30 --model=$kind --target=log -o m.ppm t.csv
        run 0 "$prog" export --format=c --name=runs -o model.c m.ppm
        perl -e '
            my %level = (fast => 0, odd => 1, slow => 2); <>; my @rows = map { chomp; my @f = split /,/; $f[2] = $level{$f[2]}; "{" . join(",", @f) . "}" } <>;
            print "#include <stdio.h>\ndouble runs_predict(const double *);\nint main(void) { static const double x[][4] = {", join(",", @rows), "};\n",
                  "for (int i = 0; i < ", scalar @rows, "; i++) printf(\"%.17g\\n\", runs_predict(x[i]));\nreturn 0; }\n"' p.csv >main.c
        cc -std=c11 -O2 -Wall -Wextra -Werror -ffp-contract=off model.c main.c -lm -o exported || fail "$kind: the source does not compile"
        ./exported >theirs
        run 0 "$prog" predict m.ppm p.csv
        tail -n +2 out | cut -d, -f1 | perl -ne 'printf "%.17g\n", $_' >ours
        same ours theirs
    done
}

case_exported_json_and_text() {
    runs_table 60 >t.csv
    run 0 "$prog" train -y time --trees=3 --model=rf -o m.ppm t.csv
    run 0 "$prog" export --format=json m.ppm
    perl -MJSON::PP -e 'local $/; my $m = JSON::PP->new->decode(<>); exit !(@{$m->{trees}} == 3 && @{$m->{features}} == 4 && $m->{target} eq "time")' out || fail "not the JSON of the model"
    run 0 "$prog" export m.ppm
    [[ $(grep -c '^tree' out) -eq 3 ]] || fail "not three trees"
    grep -q 'mode in {' out || fail "no set of levels"
}

case_oob_by_definition() {
    runs_table 70 >t.csv
    run 0 "$prog" train -y time --model=rf --target=raw --trees=40 --dump-bags=bags.csv --oob=oob.csv -o m.ppm t.csv
    run 0 "$prog" predict m.ppm --per-tree t.csv
    perl -e '
        open my $b, "<", "bags.csv"; open my $p, "<", "out"; open my $o, "<", "oob.csv"; <$b>; <$p>; <$o>; my $n = 0;
        while (my $bag = <$b>) { chomp $bag; my @w = split /,/, $bag; my $line = <$p>; chomp $line; my (undef, undef, @tree) = split /,/, $line; my @o = split /,/, <$o>;
            my ($sum, $count) = (0, 0); for (0 .. $#w) { next if $w[$_]; $sum += $tree[$_]; $count++ }
            die "row $n: $o[1]\n" if $count && !(abs($o[1] - $sum / $count) <= 1e-12 * abs($o[1])); $n++ }
        die "rows\n" if $n != 70' || fail "out of bag is not the mean of the trees that left the row out"
}

case_eval() {
    runs_table 300 >t.csv
    runs_table 200 2 >p.csv
    run 0 "$prog" train -y time --model=rf --trees=100 -o m.ppm t.csv
    run 0 "$prog" eval m.ppm p.csv
    perl -e 'my %m = map { chomp; split /,/ } <>; exit !($m{rows} == 200 && $m{mape} < 0.2 && $m{r2} > 0.9 && $m{coverage} > 0.8 && abs($m{held_out_mape} / $m{mape} - 1) < 0.3)' out || fail "$(cat out)"
    run 0 "$prog" eval m.ppm t.csv
    perl -e 'my %m = map { chomp; split /,/ } <>; exit !($m{held_out_mape} > $m{mape})' out || fail "out of bag does not err more than training rows"
    run 11 "$prog" eval m.ppm -y nothing p.csv
    if command -v gnuplot >/dev/null; then
        run 0 "$prog" eval m.ppm --plot=p.svg p.csv
        grep -q '<svg' p.svg || fail "no picture"
    fi
    mkdir empty
    run 4 env PATH="$PWD/empty" "$prog" eval m.ppm --plot=none.svg p.csv
    says gnuplot
    absent none.svg
}

case_importance() {
    runs_table 200 >t.csv
    run 0 "$prog" train -y time --model=rf --trees=100 -o m.ppm t.csv
    local kind
    for kind in perm-oob drop; do
        run 0 "$prog" importance --kind=$kind m.ppm t.csv
        [[ "$(sed -n 2p out)" == n,* ]] || fail "$kind: $(cat out)"
    done
    run 0 "$prog" importance --group=knobs=tile+omp m.ppm t.csv
    grep -q '^knobs,' out || fail "$(cat out)"
    runs_table 200 5 >other.csv
    run 11 "$prog" importance m.ppm other.csv
}

case_usage() {
    run 2 "$prog"
    run 2 "$prog" nothing
    run 2 "$prog" train t.csv
    run 2 "$prog" predict
    run 2 "$prog" train -y time --trees=0 t.csv
    run 0 "$prog" --help
    run 0 "$prog" train --help
    run 3 "$prog" train -y nothing <(printf 'a,time\n1,2\n')
    says 'no column nothing'
    run 3 "$prog" train -y time -x b <(printf 'a,time\n1,2\n')
    says 'no column b'
    run 3 "$prog" train -y time --target=log <(printf 'a,time\n1,2\n2,-1\n')
}

case_intervals_cover() {
    needs_shared tuning/deepperf-LLVM.csv
    local set seed
    for set in LLVM x264 SQLite; do
        for seed in 1 2 3; do
            perl -e 'srand shift; my $h = <>; my @r = <>; for (my $k = @r; --$k;) { my $m = int rand($k + 1); @r[$k, $m] = @r[$m, $k] }
                     open my $a, ">", "train.csv"; print $a $h, @r[0 .. 199]; open my $b, ">", "test.csv"; print $b $h, @r[200 .. $#r]' $seed "$shared/tuning/deepperf-$set.csv"
            run 0 "$prog" train -q -y PERF --model=rf --target=log -o m.ppm train.csv
            run 0 "$prog" eval m.ppm test.csv
            grep coverage out >>covered
        done
    done
    perl -e 'my ($sum, $n) = (0, 0); while (<>) { /,(.*)/; $sum += $1; $n++; $1 > 0.8 && $1 < 0.98 or exit 1 } $sum /= $n; exit !($sum >= 0.86 && $sum <= 0.94)' covered || fail "$(cat covered)"
}

# Every option of every command stands in the manual, and every option of the manual in a command.
case_manual_has_the_options_of_help() {
    local command
    for command in $("$prog" --help | sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p') "probe cc" "probe run" "probe collect"; do
        "$prog" $command --help | perl -ne 'next unless /^ {1,8}-/; s/^\s+//; s/ {2,}.*//; print "$1\n" while /(?:^|, )(--?[A-Za-z][-A-Za-z0-9]*)/g'
    done | grep -vx -e '-?' | sort -u >help
    perl -ne 'next unless /^\.It Fl /; s/^\.It //; print "-$1\n" while /Fl (-?[A-Za-z?][-A-Za-z0-9]*)/g' "$HU_SRC/man/perf-predict.1" | sort -u >page
    perl -ne 'next unless /^\.It Fl /; s/^\.It //; print "-$1\n" while /Fl (-?[A-Za-z?][-A-Za-z0-9]*)/g' "$HU_SRC/man/hpcutils.7" | sort -u >common
    sort -u page common >documented
    comm -23 help documented >undocumented
    comm -13 help documented >invented
    [[ ! -s undocumented ]] || fail "in --help, not in the manual: $(tr '\n' ' ' <undocumented)"
    [[ ! -s invented ]] || fail "in the manual, not in --help: $(tr '\n' ' ' <invented)"
}

run_cases "$@"
