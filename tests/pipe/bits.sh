#!/bin/bash
# tests/pipe/bits.sh: the same bits from every thread count, instruction level and scheme, and the exact answer where one exists.
. "$(dirname "$0")/lib.sh"

case_exact_for_every_scheme() {
    exact 900 40 L.mtx b.mtx x.txt 7
    local scheme
    for scheme in kind:serial kind:level kind:barrier kind:task kind:task,node:chain,rows:8 kind:task,node:block,rows:16 \
                  kind:task,merge:64 kind:serial,arith:divide kind:task,index:16 kind:serial,super:1 kind:task,fat:3; do
        run 0 "$prog" --threads=3 --scheme="$scheme" L.mtx -b b.mtx
        gives_file out x.txt
    done
}

case_exact_on_many_shapes() {
    local n width
    while read -r n width; do
        exact "$n" "$width" L.mtx b.mtx x.txt "$n"
        run 0 "$prog" L.mtx -b b.mtx
        gives_file out x.txt
        run 0 "$prog" --f32 --scheme=kind:task --threads=2 L.mtx -b b.mtx
        gives_file out x.txt
    done <<'LIST'
1 1
2 1
10 3
64 1
333 332
1000 2
2000 1999
LIST
}

rounding() { # a system that rounds: entries that are not exact
    perl -e 'srand 11; my $n = 3000; my @l; for my $i (1 .. $n) { push @l, "$i $i " . (2 + rand); my %s;
             for (1 .. 5) { next if $i == 1; my $w = $i - 1 < 200 ? $i - 1 : 200; my $j = $i - 1 - int rand $w; push @l, "$i $j " . (rand() - 0.5) unless $s{$j}++ } }
             open my $f, ">", "L.mtx"; print $f "%%MatrixMarket matrix coordinate real general\n$n $n ", scalar @l, "\n", map { "$_\n" } @l;
             open $f, ">", "b.mtx"; print $f "%%MatrixMarket matrix array real general\n$n 1\n", map { rand() . "\n" } 1 .. $n;'
}

case_threads() {
    rounding
    local t
    run 0 "$prog" --threads=1 L.mtx -b b.mtx
    mv out one
    for t in 2 3 7; do
        run 0 "$prog" --threads=$t L.mtx -b b.mtx
        same out one
        run 0 "$prog" --threads=$t --scheme=kind:task L.mtx -b b.mtx
        same out one
    done
    OMP_NUM_THREADS=5 run 0 "$prog" L.mtx -b b.mtx
    same out one
}

case_schemes() {
    rounding
    local scheme
    run 0 "$prog" --scheme=kind:serial L.mtx -b b.mtx
    mv out one
    for scheme in kind:level kind:barrier kind:task kind:task,node:chain kind:task,node:block,rows:32 kind:task,index:16 kind:task,super:1 kind:task,fat:4; do
        run 0 "$prog" --threads=3 --scheme=$scheme L.mtx -b b.mtx
        same out one
    done
}

case_levels() {
    [[ $(uname -m) == x86_64 ]] || skip "one instruction level on this machine"
    rounding
    grid5 60 50 G.mtx
    perl -e 'print "%%MatrixMarket matrix array real general\n3000 1\n", "1\n" x 3000' >g.mtx
    local level
    for level in base v3 v4; do
        HPCUTILS_CPU=$level run 0 "$prog" --check L.mtx -b b.mtx -o "x.$level.mtx"
        grep -q 'HPCUTILS_CPU' err && continue # said that the machine lacks it
        HPCUTILS_CPU=$level run 0 "$prog" --check --threads=2 G.mtx -b g.mtx -o "g.$level.mtx"
        HPCUTILS_CPU=$level run 0 "$prog" --threads=5 L.mtx -b b.mtx -o again.mtx
        same again.mtx "x.$level.mtx"
    done
}

case_grid_against_general() {
    grid5 70 40 G.mtx
    perl -e 'srand 5; print "%%MatrixMarket matrix array real general\n2800 1\n", map { rand() . "\n" } 1 .. 2800' >b.mtx
    run 0 "$prog" --grid=off G.mtx -b b.mtx
    mv out general
    local t
    for t in 1 2 5; do
        run 0 "$prog" --threads=$t --grid=auto --check G.mtx -b b.mtx
        same out general
        run 0 "$prog" --threads=$t --scheme=kind:grid,tile:slab G.mtx -b b.mtx
        same out general
    done
    run 0 "$prog" --grid=70x40 G.mtx -b b.mtx
    same out general
}

case_shuffled_lines() {
    rounding
    run 0 "$prog" L.mtx -b b.mtx
    mv out one
    { head -2 L.mtx; tail -n +3 L.mtx | sort -k3; } >S.mtx
    run 0 "$prog" S.mtx -b b.mtx
    same out one
}

case_power_of_two_scaling() { # rows of L and b times 2^k: the same x to the bit
    rounding
    run 0 "$prog" L.mtx -b b.mtx
    mv out one
    awk '!/^%/ && seen++ { printf "%d %d %.17g\n", $1, $2, $3 * 2 ^ ($1 % 5); next } { print }' L.mtx >K.mtx
    awk '!/^%/ && seen++ { printf "%.17g\n", $1 * 2 ^ ((seen - 1) % 5); next } { print }' b.mtx >c.mtx
    run 0 "$prog" K.mtx -b c.mtx
    same out one
}

case_text_reads_back_to_the_same_bits() {
    rounding
    run 0 "$prog" L.mtx -b b.mtx -o x.npy
    run 0 "$prog" L.mtx -b b.mtx -o x.mtx
    run 0 "$prog" L.mtx -b b.mtx -o x.csv
    numbers x.npy >a
    numbers x.mtx >b
    numbers x.csv >c
    same a b
    same a c
}

case_input_in_parallel_or_from_a_pipe() {
    rounding
    run 0 "$prog" --threads=7 L.mtx -b b.mtx
    mv out one
    cat L.mtx | "$prog" --threads=2 - -b b.mtx >out
    same out one
    gzip -c L.mtx >L.mtx.gz
    run 0 "$prog" L.mtx.gz -b b.mtx
    same out one
}

run_cases "$@"
