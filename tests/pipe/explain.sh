#!/bin/bash
# tests/pipe/explain.sh: what the program tells of itself: --info, --bench, --report, --check, --stats.
. "$(dirname "$0")/lib.sh"

small() {
    coo L.mtx "3 3" "1 1 1" "2 1 1" "2 2 2" "3 1 2" "3 2 -1" "3 3 4"
    vec b.mtx 1 3 5
}

case_info() {
    grid5 40 30 L.mtx
    run 0 "$prog" --info L.mtx
    local word
    for word in 1200 2330 levels bytes scheme grid; do grep -qi -- "$word" out || fail "--info lacks $word"; done
}

case_info_counts_levels() { # a chain has as many levels as rows, a diagonal has one
    perl -e 'my $n = 50; print "%%MatrixMarket matrix coordinate real general\n$n $n ", 2 * $n - 1, "\n"; for (1 .. $n) { print "$_ $_ 2\n"; print "$_ ", $_ - 1, " 1\n" if $_ > 1 }' >C.mtx
    run 0 "$prog" --info C.mtx
    grep -i 'level' out | grep -qw 50 || fail "the chain's levels: $(grep -i level out | head -1)"
}

case_bench() {
    grid5 60 60 L.mtx
    run 0 "$prog" --bench=5 L.mtx
    [[ $(wc -l <out) -ge 3 ]] || fail "fewer than two schemes"
    local name
    for name in matrix n levels scheme analysis_s solve_s bytes bytes_per_s limit_share of_best; do column out "$name" >/dev/null || fail "no column $name"; done
    [[ $(column out n) == 3600 ]] || fail "n: $(column out n)"
    # one row is the best there is, none is better, and every scheme can be had by its name
    perl -ne 'next if $. == 1; /,([^,]+)$/; $max = $1 if $1 > $max; END { exit !($max == 1) }' out || fail "of_best does not reach 1"
    cp out table.csv
    perl -e 'print "%%MatrixMarket matrix array real general\n3600 1\n", "1\n" x 3600' >b.mtx
    run 0 "$prog" --scheme=kind:serial L.mtx -b b.mtx
    mv out want
    perl -ne 'print "$1\n" while /"(kind:[^"]*)"/g' table.csv | sort -u >schemes
    [[ $(wc -l <schemes) -ge 3 ]] || fail "fewer than three schemes by name"
    local scheme
    while IFS= read -r scheme; do
        run 0 "$prog" --scheme="$scheme" L.mtx -b b.mtx
        [[ $scheme == *arith:divide* ]] || same out want
    done <schemes
}

case_report() {
    small
    run 0 "$prog" L.mtx -b b.mtx --report=r.csv
    gives out 1 1 1
    [[ $(wc -l <r.csv) -eq 2 ]] || fail "not a header and a row"
    run 0 "$prog" L.mtx -b b.mtx --report=r.csv
    [[ $(wc -l <r.csv) -eq 3 ]] || fail "the second run did not append one row"
    [[ $(column r.csv rows) == 3 ]] || fail "rows: $(column r.csv rows)"
    column r.csv scheme | grep -q 'kind:' || fail "scheme: $(column r.csv scheme)"
    perl -e 'exit !($ARGV[0] > 0)' "$(column r.csv solve_s)" || fail "solve_s: $(column r.csv solve_s)"
    perl -e 'open my $f, "<", "r.csv"; my @n; while (<$f>) { s/"[^"]*"//g; push @n, tr/,//; } exit !($n[0] == $n[1] && $n[1] == $n[2])' || fail "rows of unequal width"
}

case_check_says_the_worst_row() {
    small
    run 0 "$prog" -v --check L.mtx -b b.mtx
    says 'row [0-9]+'
}

case_search() {
    grid5 50 50 L.mtx
    perl -e 'print "%%MatrixMarket matrix array real general\n2500 1\n", "1\n" x 2500' >b.mtx
    run 0 "$prog" --scheme=kind:serial L.mtx -b b.mtx
    mv out want
    run 0 "$prog" --tune=search:0.3 --check L.mtx -b b.mtx
    [[ $(wc -l <out) -eq $(wc -l <want) ]] || fail "the answer has another length"
    run 0 "$prog" --tune=off L.mtx -b b.mtx
    same out want
    run 0 "$prog" --tune=search:0.3 --analyze -o p.plan L.mtx
    run 0 "$prog" --plan=p.plan --check L.mtx -b b.mtx
}

run_cases "$@"
