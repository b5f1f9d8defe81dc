#!/bin/bash
# tests/pipe/active.sh: space, ask, tell and loop of perf-predict as a user runs them: scores against awk, shells at once, kills, failures, damage.
. "$(dirname "$0")/lib.sh"
prog=$HU_BUILD/perf-predict

# A pool of 3 x 4 x 3 x 2 configurations, with a constraint: 55 of them.
make_space() {
    cat >space.txt <<'END'
T1 = {1, 16, 32}        # inner tile
T2 = {1, 16, 32, 64}
U = 1..5 step 2
OMP = {off, on}:cat
where T2 == 1 or T2 % T1 == 0
where OMP == off or U > 1
END
}

make_pool() {
    make_space
    run 0 "$prog" space --grid -o pool.csv space.txt
}

# measure: configurations in, the same with a time out; the best is T1=1, T2=16, U=3, OMP=on at 0.98.
measure() {
    awk -F, 'NR == 1 { print $0 ",time"; next } { t = 1 + $1 / 10 + ($2 - 16) ^ 2 / 100 + $3 * 0.1; if ($4 == "on") t *= 0.7; printf "%s,%.10g\n", $0, t }'
}

make_runner() {
    cat >run.sh <<'END'
#!/bin/sh
[ "$T1$U" = 325 ] && exit 1
awk -v a="$T1" -v b="$T2" -v u="$U" -v o="$OMP" 'BEGIN { t = 1 + a / 10 + (b - 16) ^ 2 / 100 + u * 0.1; if (o == "on") t *= 0.7; print "compiled"; printf "%.10g\n", t }'
END
    chmod +x run.sh
}

# steps N OPTION...: N times ask and tell.
steps() {
    local n=$1
    shift
    for ((; n > 0; n--)); do
        run 0 "$prog" ask --pool=pool.csv --state=s.pps "$@"
        measure <out >m.csv
        run 0 "$prog" tell --state=s.pps m.csv
    done
}

case_space_counts_lists_and_draws() {
    make_space
    run 0 "$prog" space --count space.txt
    # by brute force
    perl -e 'for my $a (1, 16, 32) { for my $b (1, 16, 32, 64) { for my $u (1, 3, 5) { for my $o ("off", "on") {
        print "$a,$b,$u,$o\n" if ($b == 1 || $b % $a == 0) && ($o eq "off" || $u > 1) } } } }' | sort >wanted
    [[ "$(cat out)" == "$(wc -l <wanted)" ]] || fail "counted $(cat out)"
    run 0 "$prog" space --grid space.txt
    tail -n +2 out | sort | cmp -s - wanted || fail "the grid is not what brute force finds"
    [[ "$(head -1 out)" == T1,T2,U,OMP ]] || fail "another header"
    run 0 "$prog" space --sample=20 --seed=3 - <space.txt
    mv out first
    run 0 "$prog" space --sample=20 --seed=3 space.txt
    same out first
    [[ $(tail -n +2 out | sort -u | comm -12 - wanted | wc -l) -eq 20 ]] || fail "not 20 different valid configurations"
    run 0 "$prog" space --sample=20 --seed=4 space.txt
    ! cmp -s out first || fail "another seed draws the same"
    run 0 "$prog" space --sample=100 space.txt
    says '55 configurations are all there are'
    tail -n +2 out | sort | cmp -s - wanted || fail "not all configurations"
}

case_space_of_1e30() {
    local i
    for ((i = 0; i < 13; i++)); do echo "T$i = 1..2048 times 2"; echo "U$i = 1..30"; [[ $i -eq 0 ]] || echo "where T$i == 1 or T$i % T$((i - 1)) == 0 or U$i + U$((i - 1)) <= 40"; done >big.txt
    run 0 "$prog" space --count big.txt
    [[ $(wc -c <out) -gt 31 && "$(cat out)" =~ ^[0-9]+$ ]] || fail "counted $(cat out)"
    run 0 "$prog" space --sample=2000 big.txt
    [[ $(tail -n +2 out | sort -u | wc -l) -eq 2000 ]] || fail "not 2000 different ones"
    perl -F, -ane 'next if $. == 1; for my $i (1 .. 12) { my ($t, $u, $p, $v) = @F[2 * $i, 2 * $i + 1, 2 * $i - 2, 2 * $i - 1]; exit 1 unless $t == 1 || $t % $p == 0 || $u + $v <= 40 }' out || fail "a row breaks a condition"
    run 2 "$prog" space --grid <(for ((i = 0; i < 40; i++)); do echo "A$i = 1..1000"; done)
    says 'would never end'
}

case_space_mistakes() {
    printf 'A = {1, 2}\nwhere A == 1 or\n' >x.txt
    run 3 "$prog" space --count x.txt
    says 'x.txt:2: column 16: the condition ends'
    printf 'A = {1, 2}\nwhere A > 2\n' >x.txt
    run 0 "$prog" space --count x.txt
    [[ "$(cat out)" == 0 ]] || fail "counted $(cat out)"
    run 3 "$prog" space --grid -o g.csv x.txt
    says 'no configuration meets the conditions'
    absent g.csv
    run 3 "$prog" space --sample=3 x.txt
    run 2 "$prog" space x.txt
    run 2 "$prog" space --count --grid x.txt
    run 4 "$prog" space --count absent.txt
}

case_space_by_trial() {
    local i
    for ((i = 0; i < 12; i++)); do echo "A$i = {0.137, 1.618, $((i + 2)).271, $((i * i)).41421, $((3 * i)).7321, 2.236, 9.0577}"; done >x.txt
    echo 'B = 0..999' >>x.txt
    echo 'where A0*A1 + A2*A3 + A4*A5 + A6*A7 + A8*A9 + A10*A11 + B * 1000000 < 500000000' >>x.txt
    run 0 "$prog" space --count -v x.txt
    says 'x.txt:14: this condition ties too many values together'
    perl -ne '/^estimate ([-+.e0-9]+), between ([-+.e0-9]+) and ([-+.e0-9]+) with 95 %$/ or exit 1; exit !($2 < 500 * 7 ** 12 && 500 * 7 ** 12 < $3 && $3 - $2 < 0.02 * $1)' out || fail "$(cat out)"
}

case_the_same_rows_until_told() {
    make_pool
    run 0 "$prog" ask --pool=pool.csv --state=s.pps --batch=4
    mv out first
    run 0 "$prog" ask --pool=pool.csv --state=s.pps --batch=7
    same out first
    measure <first | head -3 >m.csv
    run 0 "$prog" tell --state=s.pps <m.csv
    run 0 "$prog" ask --pool=pool.csv --state=s.pps --batch=4
    { head -1 first; tail -n +4 first; } | cmp -s - out || fail "not the two rows that were not told"
    cp s.pps before.pps
    run 0 "$prog" tell --state=s.pps m.csv
    says '2 of 2 runs were known already'
    same s.pps before.pps
}

# Every configuration once, then exit status 10; then again by another order of the pool: the same choices.
case_no_row_twice() {
    make_pool
    : >asked
    while "$prog" ask --pool=pool.csv --state=s.pps --batch=6 --init=9 >out 2>err; do
        tail -n +2 out >>asked
        measure <out >m.csv
        run 0 "$prog" tell --state=s.pps m.csv
    done
    run 10 "$prog" ask --pool=pool.csv --state=s.pps
    says 'every configuration of the pool was told'
    no_output
    sort asked | cmp -s - <(tail -n +2 pool.csv | sort) || fail "not every configuration once"
    mv asked first
    rm s.pps
    { cut -d, -f4,2 pool.csv >/dev/null; head -1 pool.csv; tail -n +2 pool.csv | tac; tail -n 3 pool.csv; } >turned.csv
    mv turned.csv pool.csv
    : >asked
    while "$prog" ask --pool=pool.csv --state=s.pps --batch=6 --init=9 --threads=3 >out 2>err; do
        tail -n +2 out >>asked
        measure <out >m.csv
        run 0 "$prog" tell --state=s.pps m.csv
    done
    same asked first
}

# Scores recomputed by awk from each tree's prediction.
case_scores_are_those_of_the_trees() {
    make_pool
    local score formula
    for score in pwu cv maxu ei best pbu; do
        rm -f s.pps
        steps 5 --batch=4 --init=10
        run 0 "$prog" ask --pool=pool.csv --state=s.pps --batch=3 --score=$score --alpha=0.3 --share=0.2 --explain=e.csv --model=m.ppm
        mv out asked
        run 0 "$prog" ask --history --state=s.pps
        least=$(tail -n +2 out | cut -d, -f5 | sort -g | head -1)
        run 0 "$prog" predict --per-tree m.ppm e.csv
        tail -n +2 out | awk -F, -v s=$score -v least="$least" '
            function erfc(x,  t) { t = 1 / (1 + 0.5 * (x < 0 ? -x : x)); t = t * exp(-x * x - 1.26551223 + t * (1.00002368 + t * (0.37409196 + t * (0.09678418 + t * (-0.18628806 + t * (0.27886807 + t * (-1.13520398 + t * (1.48851587 + t * (-0.82215223 + t * 0.17087277))))))))); return x < 0 ? 2 - t : t }
            { m = 0; for (i = 3; i <= NF; i++) m += $i; n = NF - 2; m /= n; v = 0; for (i = 3; i <= NF; i++) v += ($i - m) ^ 2; d = sqrt(v / n); g = least - m; z = d > 0 ? g / d : 0
              r = s == "pwu" ? d / m ^ 0.7 : s == "cv" ? d / m : s == "maxu" || s == "pbu" ? d : s == "best" ? -m : d > 0 ? g * erfc(-z / sqrt(2)) / 2 + d * exp(-z * z / 2) / sqrt(2 * 3.141592653589793) : (g > 0 ? g : 0)
              printf "%.12g %.12g %.12g\n", m, d, r }' >wanted
        tail -n +2 e.csv | cut -d, -f5-7 | tr , ' ' >got
        paste -d' ' got wanted | awk -v s=$score '{ for (i = 1; i <= 3; i++) { if (i == 3 && s == "pbu" && $3 == "-inf") continue; d = $i - $(i + 3); if (d < 0) d = -d; if (d > (i == 3 && s == "ei" ? 1e-6 : 1e-8) * ($(i + 3) < 0 ? 1 - $(i + 3) : 1 + $(i + 3))) { print "line " NR ": " $0; exit 1 } } }' || fail "$score: not the value by the trees"
        if [[ $score = pbu ]]; then # the fifth of the candidates with the least mean, and no others
            awk '{ print $1, $3 }' got | sort -g | awk -v n="$(wc -l <got)" '{ k = int(n / 5); if (k < n / 5) k++; if (NR == k) bound = $1; if (NR <= k ? $2 == "-inf" : $2 != "-inf" && $1 > bound) exit 1 }' || fail "pbu: not the least fifth"
        fi
        # the row asked first has the best score
        best=$(cut -d' ' -f3 got | grep -v inf | sort -g | tail -1)
        [[ "$(grep -F "$(sed -n 2p asked)," e.csv | cut -d, -f7)" == "$best" ]] || fail "$score: the row asked first is not the best"
    done
}

case_two_shells_at_once() {
    make_pool
    local k
    for k in 1 2 3 4 5 6; do "$prog" ask --pool=pool.csv --state=s.pps --batch=5 --worker=$k >a$k.csv & done
    wait
    for k in 1 2 3 4 5 6; do tail -n +2 a$k.csv; done | sort >all
    [[ $(wc -l <all) -eq 30 && $(sort -u all | wc -l) -eq 30 ]] || fail "not 30 different rows"
    for k in 1 2 3 4 5 6; do measure <a$k.csv | "$prog" tell --state=s.pps & done
    wait
    run 0 "$prog" ask --history --state=s.pps
    tail -n +2 out | cut -d, -f1-4 | sort | cmp -s - all || fail "not all runs were noted"
}

case_lost_workers() {
    make_pool
    run 0 "$prog" ask --pool=pool.csv --state=s.pps --batch=3 --worker=gone
    mv out lost
    run 0 "$prog" ask --pool=pool.csv --state=s.pps --batch=3 --worker=me
    measure <out >m.csv
    [[ -z "$(comm -12 <(tail -n +2 lost | sort) <(tail -n +2 out | sort))" ]] || fail "rows that another has"
    run 0 "$prog" tell --state=s.pps m.csv
    run 0 "$prog" ask --pool=pool.csv --state=s.pps --batch=3 --worker=me --lease=1000
    ! cmp -s out lost || fail "taken before the lease ran out"
    measure <out >m.csv
    run 0 "$prog" tell --state=s.pps m.csv
    run 0 "$prog" ask --pool=pool.csv --state=s.pps --batch=3 --worker=me --pending
    says '3 configurations that other workers had are given again'
    same out lost
    run 0 "$prog" ask --pool=pool.csv --state=s.pps --batch=3 --worker=third --lease=0
    same out lost
    run 0 "$prog" ask --pool=pool.csv --state=s.pps --batch=3 --worker=gone
    ! cmp -s out lost || fail "the first worker still has them"
}

case_failures_are_outcomes() {
    printf 'n,time\n1,10\n2,fail\n3,timeout>60\n4,nan\n5,inf\n6,12\n7,ERROR\n' >m.csv
    run 0 "$prog" tell --state=s.pps -v m.csv
    says '5 of 7 runs failed or ran out of time'
    says '7 runs told in all, cost 82'
    run 0 "$prog" ask --history --state=s.pps
    [[ "$(tail -n +2 out | cut -d, -f2 | tr '\n' ' ')" == "10 fail timeout>60 fail fail 12 fail " ]] || fail "$(cat out)"
    seq 1 9 | sed '1i n' >pool.csv
    run 0 "$prog" ask --pool=pool.csv --state=s.pps --batch=9 --init=1 --model=m.ppm
    [[ "$(tail -n +2 out | sort | tr '\n' ' ')" == "8 9 " ]] || fail "asked $(cat out)"
    # failed runs are learnt as the worst one, 12; the one out of time as 60
    printf 'n\n2\n3\n' >p.csv
    run 0 "$prog" predict --per-tree m.ppm p.csv
    sed -n 2p out | tr , '\n' | tail -n +3 | awk '$1 > 11.999 && $1 < 12.001 { a++ } END { exit !a }' || fail "no tree took the failed run as 12"
    sed -n 3p out | tr , '\n' | tail -n +3 | awk '$1 > 59.999 && $1 < 60.001 { a++ } END { exit !a }' || fail "no tree took the late run as 60"
    rm s.pps
    run 0 "$prog" tell --state=s.pps m.csv
    run 0 "$prog" ask --pool=pool.csv --state=s.pps --batch=9 --init=1 --fails=drop --model=m.ppm
    run 0 "$prog" dump m.ppm
    grep -q '^rows: 2' out || fail "not two rows: $(grep rows out)"
}

case_a_bad_row_changes_nothing() {
    printf 'n,time\n1,10\n' >m.csv
    run 0 "$prog" tell --state=s.pps m.csv
    cp s.pps before.pps
    printf 'n,time\n2,3\n3,fast\n' >m.csv
    run 3 "$prog" tell --state=s.pps m.csv
    says "m.csv:3: column 2 \(time\): 'fast' is neither a number, fail, nor timeout>SECONDS"
    printf 'n,time\n2,3\n3,\n' >m.csv
    run 3 "$prog" tell --state=s.pps m.csv
    says 'm.csv:3: column 2 \(time\): is missing; a run that failed is told as fail'
    printf 'n,time\n2,3\n3\n' >m.csv
    run 3 "$prog" tell --state=s.pps m.csv
    says 'm.csv:3:'
    printf 'n,time\n2,3\nnan,4\n' >m.csv
    run 3 "$prog" tell --state=s.pps m.csv
    says "m.csv:3: column 1 \(n\): 'nan' is not finite"
    printf 'm,time\n2,3\n' >m.csv
    run 3 "$prog" tell --state=s.pps m.csv
    says 'm.csv:1: there is no column of a configuration'
    printf 'n,seconds\n2,3\n' >m.csv
    run 3 "$prog" tell --state=s.pps m.csv
    says 'm.csv:1: there is no column time'
    run 2 "$prog" tell --state=s.pps -y seconds m.csv
    says 'is about the column time'
    run 2 "$prog" tell --state=s.pps --direction=max <<<$'n,time\n2,3'
    says 'was begun with --direction=min'
    run 3 "$prog" tell --state=s.pps --only-asked <<<$'n,time\n7,3'
    says 'standard input:2: column 1 \(n\): this configuration was never asked'
    run 3 "$prog" tell --state=s.pps --cost=c <<<$'n,time,c\n7,3,-1'
    says "'-1' is no cost"
    same s.pps before.pps
    printf 'n,k\n2,3\n' >pool.csv
    run 11 "$prog" ask --pool=pool.csv --state=s.pps
    says 's.pps has no column k'
    printf 'n\nx\n' >pool.csv
    run 4 "$prog" ask --pool=absent.csv --state=s.pps
    printf 'n\n' >pool.csv
    run 3 "$prog" ask --pool=pool.csv --state=s.pps
    says 'the pool has a header but no row'
    same s.pps before.pps
}

# Spellings of one configuration, and columns in another order.
case_one_configuration_in_several_spellings() {
    printf 'a,omp\n16,True\n007,False\n' >pool.csv
    run 0 "$prog" ask --pool=pool.csv --state=s.pps --batch=2
    sort out | cmp -s - <(sort pool.csv) || fail "not as they are spelt: $(cat out)"
    printf 'a,omp\n16,True\n007,False\n016,False\n7,True\n' >pool.csv
    run 0 "$prog" ask --pool=pool.csv --state=s.pps
    sort out | cmp -s - <(head -3 pool.csv | sort) || fail "spelt anew: $(cat out)"
    printf 'omp,time,a\n1,5,16.0\nfalse,6,7\n' >m.csv
    run 0 "$prog" tell --state=s.pps m.csv
    run 0 "$prog" ask --pool=pool.csv --state=s.pps --batch=5
    sort out | cmp -s - <(printf 'a,omp\n007,True\n16,False\n' | sort) || fail "spelt anew: $(cat out)"
    printf 'a;omp;time\n1,6e1;TRUE;5\n' >m.csv
    run 0 "$prog" tell --state=s.pps m.csv
    says '1 of 1 runs were known already'
}

case_repeated_runs() {
    printf 'n,time\n1,1\n1,2\n1,6\n2,9\n' >m.csv
    printf 'n\n1\n2\n3\n' >pool.csv
    local dup want
    for dup in mean:3 median:2 min:1 keep:; do
        rm -f s.pps
        run 0 "$prog" tell --state=s.pps --dup="${dup%:*}" m.csv
        run 0 "$prog" ask --pool=pool.csv --state=s.pps --init=1 --target=raw --trees=200 --model=m.ppm
        run 0 "$prog" dump m.ppm
        want=2
        [[ $dup = keep: ]] && want=4
        grep -q "^rows: $want" out || fail "$dup: $(grep rows out)"
        [[ $dup = keep: ]] && continue
        printf 'n\n1\n' >p.csv
        run 0 "$prog" predict --per-tree m.ppm p.csv
        sed -n 2p out | tr , '\n' | tail -n +3 | sort -gu | head -1 | grep -qx "${dup#*:}" || fail "$dup: the least tree says $(sed -n 2p out | tr , '\n' | tail -n +3 | sort -gu | head -1)"
    done
}

case_rates_and_negative_targets() {
    printf 'n,gflops\n1,-5\n2,-7\n3,-1\n' >m.csv
    seq 1 9 | sed '1i n' >pool.csv
    run 0 "$prog" tell --state=s.pps -y gflops m.csv
    run 3 "$prog" ask --pool=pool.csv --state=s.pps -y gflops --init=1
    says 'values that are not above 0, and --score=pwu divides by the time: a rate .* with --direction=max'
    run 0 "$prog" ask --pool=pool.csv --state=s.pps -y gflops --init=1 --score=ei
    rm s.pps
    sed 's/-//' m.csv >p.csv
    run 0 "$prog" tell --state=s.pps -y gflops --direction=max p.csv
    run 0 "$prog" ask --pool=pool.csv --state=s.pps -y gflops --direction=max --init=1 --score=best --explain=e.csv --model=m.ppm
    run 0 "$prog" dump m.ppm
    grep -q '^target: 1/gflops' out || fail "$(grep target out)"
    rm s.pps
    run 0 "$prog" loop --pool=pool.csv --state=s.pps -y gflops --direction=max --cmd='echo $((100 - (n - 6) * (n - 6)))' --init=3
    says 'best gflops 100: n=6'
}

case_marks_of_failure_are_noticed() {
    printf 'n,time\n1,1\n2,2\n3,1e20\n' >m.csv
    run 0 "$prog" tell --state=s.pps m.csv
    says '1e\+20 looks like a mark of failed runs'
}

case_small_pools_and_budgets() {
    printf 'n\n1\n2\n3\n' >pool.csv
    run 0 "$prog" ask --pool=pool.csv --state=s.pps --batch=20 --init=50
    [[ $(wc -l <out) -eq 4 ]] || fail "not three rows"
    sed '1s/$/,time/; 2,$s/$/,2/' out >m.csv
    run 0 "$prog" tell --state=s.pps m.csv
    run 10 "$prog" ask --pool=pool.csv --state=s.pps --batch=20
    seq 1 50 | sed '1i n' >pool.csv
    run 0 "$prog" ask --pool=pool.csv --state=s.pps --budget-runs=5 --batch=20
    [[ $(wc -l <out) -eq 3 ]] || fail "not two rows"
    run 10 "$prog" ask --pool=pool.csv --state=s.pps --budget-cost=6 --batch=20
    says 'the budget is spent: 6 of --budget-cost=6'
    sed '1s/$/,time/; 2,$s/$/,2/' <out >/dev/null
    run 0 "$prog" ask --pool=pool.csv --state=s.pps --budget-runs=5
    sed '1s/$/,time/; 2,$s/$/,1/' out >m.csv
    run 0 "$prog" tell --state=s.pps m.csv
    run 10 "$prog" ask --pool=pool.csv --state=s.pps --budget-runs=5
    says 'the budget is spent: 5 configurations of --budget-runs=5'
    run 0 "$prog" ask --pool=pool.csv --state=s.pps --worker=a --batch=60
    run 10 "$prog" ask --pool=pool.csv --state=s.pps --worker=b
    says 'configurations are out with other workers \(--pending takes them over\)'
}

# Standard output closed or full: the rows stay asked, and come again.
case_output_that_cannot_be_written() {
    make_pool
    local got=0
    "$prog" ask --pool=pool.csv --state=s.pps --batch=5 >/dev/full 2>err || got=$?
    [[ $got -eq 4 ]] || fail "exit code $got"
    run 0 "$prog" ask --pool=pool.csv --state=s.pps --batch=1
    [[ $(wc -l <out) -eq 6 ]] || fail "not the five rows again"
}

case_torn_and_damaged_states() {
    make_pool
    steps 2 --batch=3
    cp s.pps whole
    local size
    size=$(stat -c %s whole)
    head -c $((size - 5)) whole >s.pps
    run 0 "$prog" ask --history --state=s.pps
    says 'the last [0-9]+ bytes are of a record that was cut while it was written: dropped'
    [[ $(wc -l <out) -eq 4 ]] || fail "not the first three runs"
    run 0 "$prog" ask --pool=pool.csv --state=s.pps
    says_not 'cut while'
    measure <out >again.csv
    cut -d, -f1-4 again.csv | cmp -s - <(cut -d, -f1-4 m.csv) || fail "the rows whose runs were lost are not asked again"
    perl -e 'local $/; open F, "<", "whole"; $_ = <F>; substr($_, length($_) - 40, 1) ^= "\x04"; print' >s.pps
    cp s.pps before.pps
    run 3 "$prog" ask --pool=pool.csv --state=s.pps
    says 's.pps: byte [0-9]+: a record is damaged'
    run 3 "$prog" tell --state=s.pps m.csv
    same s.pps before.pps
    run 3 "$prog" ask --pool=pool.csv --state=pool.csv
    says 'pool.csv: byte 0: this is no journal of hpcutils'
    run 4 "$prog" ask --pool=pool.csv --state=/dev/null
    run 4 "$prog" ask --pool=pool.csv --state=absent/s.pps
}

case_loop_to_the_end() {
    make_pool
    make_runner
    run 0 "$prog" loop --pool=pool.csv --state=s.pps --cmd=./run.sh --batch=4 --budget-runs=20 --report=r.csv
    says '20 runs, .* best time'
    [[ $(wc -l <out) -eq 21 && "$(column r.csv runs)" == 20 ]] || fail "not 20 rows"
    cut -d, -f1-5 out >first # what a failed run took differs
    run 0 "$prog" loop --pool=pool.csv --state=s.pps --cmd=./run.sh --jobs=3 --repeat=2
    says '^perf-predict: [0-9]+ runs, 6 failed, cost .* best time 0.98: T1=1 T2=16 U=3 OMP=on$'
    run 0 "$prog" ask --history --state=s.pps
    tail -n +2 out | cut -d, -f1-4 | sort -u | cmp -s - <(tail -n +2 pool.csv | sort) || fail "not every configuration"
    rm s.pps # the same choices again
    run 0 "$prog" loop --pool=pool.csv --state=s.pps --cmd=./run.sh --batch=4 --budget-runs=20 --threads=3
    cut -d, -f1-5 out | cmp -s - first || fail "other choices"
}

case_loop_that_is_killed() {
    make_space
    cat >slow.sh <<'END'
#!/bin/sh
sleep 0.02
echo "$T1 $T2 $U $OMP" >>log
echo $((T1 + T2 + U))
END
    chmod +x slow.sh
    local k=0 pid
    while [[ $k -lt 6 ]]; do
        k=$((k + 1))
        "$prog" loop --space=space.txt --state=s.pps --cmd=./slow.sh --jobs=2 --batch=3 >/dev/null 2>&1 &
        pid=$!
        sleep "0.$((k + 1))"
        kill -9 "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    run 0 "$prog" loop --space=space.txt --state=s.pps --cmd=./slow.sh --jobs=2 --batch=3
    run 0 "$prog" ask --history --state=s.pps
    [[ $(tail -n +2 out | wc -l) -eq 55 && $(tail -n +2 out | cut -d, -f1-4 | sort -u | wc -l) -eq 55 ]] || fail "not 55 different runs"
    # what was running when we were killed was run again; nothing else was
    [[ $(wc -l <log) -le $((55 + 6 * 2)) ]] || fail "$(wc -l <log) runs"
}

case_loop_interrupted() {
    make_space
    "$prog" loop --space=space.txt --state=s.pps --cmd='sleep 30; echo 1' >out 2>err &
    local pid=$! got=0
    sleep 1
    kill -TERM $pid
    wait $pid || got=$?
    [[ $got -eq 4 ]] || fail "exit code $got"
    says 'interrupted; the same command goes on from here'
}

case_ways_to_pass_a_configuration() {
    printf 'n,my-name\n3,"a ""b"", c"\n' >pool.csv
    run 0 "$prog" loop --pool=pool.csv --state=1.pps --cmd='echo "$n|$my_name" >seen; echo 1'
    [[ "$(cat seen)" == '3|a "b", c' ]] || fail "env: $(cat seen)"
    run 0 "$prog" loop --pool=pool.csv --state=2.pps --pass=args --cmd='f() { printf "%s|" "$@" >seen; echo 1; }; f'
    [[ "$(cat seen)" == '3|a "b", c|' ]] || fail "args: $(cat seen)"
    run 0 "$prog" loop --pool=pool.csv --state=3.pps --pass=json --cmd='cat >seen; echo 1'
    [[ "$(cat seen)" == '{"n":3,"my-name":"a \"b\", c"}' ]] || fail "json: $(cat seen)"
    run 0 "$prog" loop --pool=pool.csv --state=4.pps --pass=csv --cmd='cat >seen; echo 1'
    [[ "$(cat seen)" == '3,"a ""b"", c"' ]] || fail "csv: $(cat seen)"
    run 0 "$prog" loop --pool=pool.csv --state=5.pps --coproc='read a; echo "$a" >seen; echo 7'
    [[ "$(cat seen)" == '3,"a ""b"", c"' ]] || fail "coproc: $(cat seen)"
    printf 'PATH\n3\n' >pool.csv
    run 2 "$prog" loop --pool=pool.csv --state=6.pps --cmd='echo 1'
    says 'the column PATH cannot be handed over in the environment'
    printf 'a-b,a_b\n3,4\n' >pool.csv
    run 2 "$prog" loop --pool=pool.csv --state=7.pps --cmd='echo 1'
    says 'are the same variable a_b'
}

case_outcomes_of_commands() {
    seq 1 4 | sed '1i n' >pool.csv
    run 0 "$prog" loop --pool=pool.csv --state=1.pps --cmd='case $n in 1) exit 3;; 2) sleep 5;; 3) echo timeout\>9;; 4) echo 2.5;; esac' --timeout=0.3
    [[ "$(tail -n +2 out | cut -d, -f1,2 | sort | tr '\n' ' ')" == "1,fail 2,timeout>0.3 3,timeout>9 4,2.5 " ]] || fail "$(cat out)"
    run 1 "$prog" loop --pool=pool.csv --state=2.pps --cmd='exit 1'
    says 'none of 4 runs succeeded'
    run 4 "$prog" loop --pool=pool.csv --state=3.pps --cmd='./absent'
    says 'cannot be run'
    run 3 "$prog" loop --pool=pool.csv --state=4.pps --cmd='echo about 5 s'
    says "said 'about 5 s'; its last line must be a number"
    run 3 "$prog" loop --pool=pool.csv --state=5.pps --cmd='true'
    says 'said nothing; its last line must be the result'
    run 0 "$prog" loop --pool=pool.csv --state=6.pps --cmd='sleep 0.2; echo about 5 s' --measure=wall --budget-runs=1
    less 0.19 "$(sed -n 2p out | cut -d, -f2)" "the time of sleep 0.2"
    run 0 "$prog" loop --pool=pool.csv --state=7.pps --coproc='while read n; do if [ $n = 2 ]; then sleep 5; fi; [ $n = 3 ] && echo fail || echo $n; done' --timeout=0.3
    [[ "$(tail -n +2 out | cut -d, -f1,2 | sort | tr '\n' ' ')" == "1,1 2,timeout>0.3 3,fail 4,4 " ]] || fail "coproc: $(cat out)"
    run 4 "$prog" loop --pool=pool.csv --state=8.pps --coproc='read n; exit 0'
    says 'the coprocess ended before it answered'
    run 3 "$prog" loop --pool=pool.csv --state=9.pps --coproc='read n; printf "1\n2\n"; sleep 1'
    says 'said more than one line to one configuration'
    run 2 "$prog" loop --pool=pool.csv --state=9.pps
    run 2 "$prog" loop --pool=pool.csv --state=9.pps --coproc=cat --pass=env
    run 2 "$prog" loop --state=9.pps --cmd=true
    run 2 "$prog" ask --pool=pool.csv
    run 2 "$prog" ask --pool=pool.csv --space=pool.csv --state=x
    run 2 "$prog" tell
}

case_loop_draws_a_picture() {
    needs gnuplot
    make_space
    make_runner
    run 0 "$prog" loop --space=space.txt --state=s.pps --cmd=./run.sh --budget-runs=12 --batch=4 --plot=p.svg
    head -c 300 p.svg | grep -q '<svg' || fail "no picture"
    grep -q 'best so far' p.svg || fail "no legend"
}

run_cases "$@"
