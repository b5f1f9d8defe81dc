#!/bin/bash
# tests/pipe/rhs.sh: right-hand sides: formats, many at once, streams.
. "$(dirname "$0")/lib.sh"

small() { coo L.mtx "3 3" "1 1 1" "2 1 1" "2 2 2" "3 1 2" "3 2 -1" "3 3 4"; } # L (1 1 1) = 1 3 5

case_formats() {
    small
    vec b.mtx 1 3 5
    printf '%s\n' '%%MatrixMarket matrix coordinate real general' '3 1 3' '3 1 5' '1 1 1' '2 1 3' >c.mtx
    printf '%s\n' b 1 3 5 >b.csv
    npy b.npy '<f8' False '3,' d 1 3 5
    npy b4.npy '<f4' False '3,' f 1 3 5
    npy b2.npy '<f8' False '3, 1' d 1 3 5
    local file
    for file in b.mtx c.mtx b.npy b4.npy b2.npy b.csv; do
        run 0 "$prog" L.mtx -b "$file" -o x.npy
        gives x.npy 1 1 1
    done
}

case_csv_crlf_and_bom() {
    small
    printf '\xef\xbb\xbfb\r\n1\r\n3\r\n5\r\n' >b.csv
    run 0 "$prog" L.mtx -b b.csv -o x.npy
    gives x.npy 1 1 1
}

case_many() { # 1 to 19 columns: the blocks of 16, 8, 4 and what is left over
    exact 300 25 L.mtx b.mtx x.txt 31
    local k
    for k in 1 2 3 4 5 8 11 16 19; do
        perl -e 'my $k = shift; open my $f, "<", "b.mtx"; my @b = grep { !/%/ } <$f>; shift @b; my $n = @b; print "%%MatrixMarket matrix array real general\n$n $k\n";
                 for my $j (1 .. $k) { print $_ * $j, "\n" for @b }' $k >B.mtx
        perl -e 'my $k = shift; open my $f, "<", "x.txt"; my @x = <$f>; for my $j (1 .. $k) { print $_ * $j, "\n" for @x }' $k >X.txt
        run 0 "$prog" L.mtx -b B.mtx -o X.npy
        gives_file X.npy X.txt
    done
}

case_many_are_as_single_ones() { # to the bit, with rounding
    perl -e 'srand 13; my $n = 500; my @l; for my $i (1 .. $n) { push @l, "$i $i " . (2 + rand); for my $d (1, 3, 17) { push @l, "$i " . ($i - $d) . " " . (rand() - 0.5) if $i > $d } }
             open my $f, ">", "L.mtx"; print $f "%%MatrixMarket matrix coordinate real general\n$n $n ", scalar @l, "\n", map { "$_\n" } @l;
             my @c = map { [map { rand() } 1 .. $n] } 1 .. 5;
             open $f, ">", "B.mtx"; print $f "%%MatrixMarket matrix array real general\n$n 5\n", map { map { "$_\n" } @$_ } @c;
             for my $j (0 .. 4) { open $f, ">", "b$j.mtx"; print $f "%%MatrixMarket matrix array real general\n$n 1\n", map { "$_\n" } @{$c[$j]} }'
    run 0 "$prog" --threads=2 L.mtx -b B.mtx -o X.npy
    numbers X.npy >all
    local j
    for j in 0 1 2 3 4; do run 0 "$prog" L.mtx -b b$j.mtx -o x.npy; numbers x.npy; done >each
    same all each
}

case_no_columns() {
    small
    npy b.npy '<f8' False '3, 0' d
    run 0 "$prog" L.mtx -b b.npy -o x.npy
    [[ -z $(numbers x.npy) ]] || fail "values from nowhere"
}

case_empty_system() {
    coo L.mtx "0 0"
    npy b.npy '<f8' False '0,' d
    run 0 "$prog" L.mtx -b b.npy -o x.npy
    [[ -z $(numbers x.npy) ]] || fail "values from nowhere"
}

case_hostile_npy() {
    small
    npy b.npy '<f8' False '3,' d 1 3 5
    local size i got
    size=$(stat -c %s b.npy)
    for i in 3 8 40 127 128 140 $((size - 1)); do
        head -c "$i" b.npy >cut.npy
        run 3 "$prog" L.mtx -b cut.npy
        no_output
    done
    { cat b.npy; echo more; } >long.npy
    run 3 "$prog" L.mtx -b long.npy
    npy big.npy '<f8' False '9223372036854775807, 9' d 1
    run 3 "$prog" L.mtx -b big.npy
    npy object.npy '|O' False '3,' d 1 3 5
    run 3 "$prog" L.mtx -b object.npy
    npy order.npy '>f8' False '3,' d 1 3 5
    got=0
    "$prog" L.mtx -b order.npy -o x.npy >out 2>err || got=$?
    [[ $got -eq 3 || $got -eq 0 ]] || fail "big-endian: exit code $got"
}

case_hostile_csv() {
    small
    printf '%s\n' b 1 x 5 >b.csv
    run 3 "$prog" L.mtx -b b.csv
    says 'b\.csv:3: '
    printf '%s\n' b 1 3,4 5 >b.csv
    run 3 "$prog" L.mtx -b b.csv
    says 'b\.csv:3: '
    printf '%s\n' b 1 nan 5 >b.csv
    run 3 "$prog" L.mtx -b b.csv
}

case_stream() {
    needs_option --rhs-stream
    small
    npy b1.npy '<f8' False '3,' d 1 3 5
    npy b2.npy '<f8' False '3,' d 2 6 10
    cat b1.npy b2.npy b1.npy | "$prog" --rhs-stream L.mtx >xs 2>err || fail "exit code $?"
    split_npy xs x
    gives x.1 1 1 1
    gives x.2 2 2 2
    gives x.3 1 1 1
    absent x.4
}

case_stream_answers_at_once() { # x comes out before the next b goes in
    needs_option --rhs-stream
    small
    npy b1.npy '<f8' False '3,' d 1 3 5
    npy b2.npy '<f8' False '3,' d 2 6 10
    mkfifo to from
    "$prog" --rhs-stream L.mtx <to >from 2>err &
    local pid=$! size
    exec 8>to 9<from
    cat b1.npy >&8
    size=$(stat -c %s b1.npy)
    timeout 20 head -c "$size" <&9 >x.npy || fail "no answer to the first while the second is held back"
    gives x.npy 1 1 1
    cat b2.npy >&8
    timeout 20 head -c "$size" <&9 >x.npy || fail "no answer to the second"
    gives x.npy 2 2 2
    exec 8>&- 9<&-
    wait "$pid" || fail "exit code $?"
}

case_stream_ends_in_the_middle() {
    needs_option --rhs-stream
    small
    npy b1.npy '<f8' False '3,' d 1 3 5
    local got=0
    { cat b1.npy; head -c 60 b1.npy; } | "$prog" --rhs-stream L.mtx >xs 2>err || got=$?
    [[ $got -eq 3 ]] || fail "exit code $got, expected 3"
}

case_stream_of_text() { # mtx files one after another
    needs_option --rhs-stream
    small
    vec b1.mtx 1 3 5
    vec b2.mtx 2 6 10
    local got=0
    cat b1.mtx b2.mtx | "$prog" --rhs-stream L.mtx >xs 2>err || got=$?
    [[ $got -eq 3 || $got -eq 2 ]] && { says 'stream|npy|raw|standard input'; return; } # said that it cannot
    [[ $got -eq 0 ]] || fail "exit code $got"
    [[ $(grep -c '^%%MatrixMarket' xs) -eq 2 ]] || fail "not two answers"
}

case_raw() { # doubles without a header
    needs_option --rhs-format
    small
    perl -e 'print pack "d<*", 1, 3, 5' >b.raw
    run 0 "$prog" --rhs-format=raw L.mtx -b b.raw
    [[ $(perl -e 'local $/; print join " ", unpack "d<*", <STDIN>' <out) == "1 1 1" ]] || fail "raw in, raw out"
    head -c 20 b.raw >cut.raw
    run 3 "$prog" --rhs-format=raw L.mtx -b cut.raw
    run 0 "$prog" --rhs-format=raw --out-format=csv L.mtx -b b.raw
    gives out 1 1 1
}

case_blocks() { # -k: the bits do not depend on how many are solved in one pass
    exact 200 20 L.mtx b.mtx x.txt 8
    perl -e 'open my $f, "<", "b.mtx"; my @b = grep { !/%/ } <$f>; shift @b; print "%%MatrixMarket matrix array real general\n200 9\n"; for my $j (1 .. 9) { print $_ * $j, "\n" for @b }' >B.mtx
    perl -e 'open my $f, "<", "x.txt"; my @x = <$f>; for my $j (1 .. 9) { print $_ * $j, "\n" for @x }' >X.txt
    local k
    for k in 1 4 8 16; do
        run 0 "$prog" -k $k L.mtx -b B.mtx
        gives_file out X.txt
    done
}

case_stream_of_nothing() {
    needs_option --rhs-stream
    small
    run 0 "$prog" --rhs-stream L.mtx </dev/null
    no_output
}

run_cases "$@"
