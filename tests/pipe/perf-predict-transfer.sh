#!/bin/bash
# tests/pipe/perf-predict-transfer.sh: a model of one machine on another: what each command makes of it, what is refused, the same bytes everywhere.
. "$(dirname "$0")/lib.sh"
prog=$HU_BUILD/perf-predict

# machine N SEED FACTOR POWER MODES: runs of a machine whose times are FACTOR t^POWER of the first one's.
machine() {
    perl -e '
        my ($n, $seed, $factor, $power, @modes) = @ARGV; srand $seed; print "n,tile,mode,omp,time\n";
        for (1 .. $n) { my ($a, $b, $c, $d) = (1 + int rand 40, 2 ** int rand 6, $modes[int rand @modes], int rand 2);
            my $t = ($a * (1 + abs($b - 8) / 8) * ($c eq "slow" ? 2 : 1) / (1 + $d) + 1) * (1 + 0.05 * rand);
            printf "%d,%d,%s,%d,%.6f\n", $a, $b, $c, $d, $factor * $t ** $power }' "$@"
}

# The model of the first machine.
first_machine() {
    machine 400 1 1 1 slow fast odd >first.csv
    run 0 "$prog" train -q -y time --model=rf --target=log --trees=60 -o first.ppm first.csv
}

mape() { sed -n 's/^mape,//p' "$1"; }

# In the mean of three draws: better than the runs alone, and not far from what the source reaches at home.
case_few_runs_suffice() {
    first_machine
    machine 300 4 1 1 slow fast odd >again.csv
    run 0 "$prog" eval first.ppm again.csv
    cp out own
    machine 300 3 0.4 1.1 slow fast odd >others.csv
    local draw
    for draw in 11 12 13; do
        machine 30 $draw 0.4 1.1 slow fast odd >few.csv
        run 0 "$prog" transfer --trees=30 -o other.ppm first.ppm <few.csv
        says 'error of rows held out'
        run 0 "$prog" eval other.ppm others.csv
        cat out >>with
        run 0 "$prog" transfer -q --trees=30 --method=alone -o alone.ppm first.ppm few.csv
        run 0 "$prog" eval alone.ppm others.csv
        cat out >>without
    done
    mean() { awk -F, -v name="$2" '$1 == name { s += $2; n++ } END { print s / n }' "$1"; }
    less "$(mean with mape)" "$(perl -e "print 2 * $(mape own)")" "error, and twice that of the source on its own machine"
    less "$(mean with mape)" "$(perl -e "print 0.9 * $(mean without mape)")" "error with and without the source"
    less 0.8 "$(mean with coverage)" "coverage of the band of 0.9"
}

case_the_result_is_a_model_like_any_other() {
    first_machine
    machine 25 2 3 1 slow fast odd >few.csv
    local method
    for method in residual feature weight shift alone; do
        run 0 "$prog" transfer -q --trees=20 --method=$method -o m.ppm first.ppm few.csv
        run 0 "$prog" predict m.ppm --interval=0.8 --per-tree --flag-range few.csv
        [[ $(wc -l <out) -eq 26 ]] || fail "$method: not 25 predictions"
        run 0 "$prog" dump --trees m.ppm
        if [[ $method = alone ]]; then ! grep -q '^source:' out || fail "alone has a source"; else grep -q '^source: .* 60 trees$' out || fail "$method: no source in the dump"; fi
        run 0 "$prog" export --format=json m.ppm
        perl -MJSON::PP -e 'my $method = shift; local $/; my $m = JSON::PP->new->decode(<STDIN>); exit !($method eq "alone" ? !$m->{source} : @{$m->{source}{trees}} == 60)' $method <out || fail "$method: the JSON lacks the trees of the source"
        run 0 "$prog" importance m.ppm few.csv
        [[ $(wc -l <out) -eq 5 ]] || fail "$method: not the importance of 4 columns"
        if [[ $method = feature ]]; then
            run 0 "$prog" importance m.ppm
            [[ "$(sed -n 2p out)" == "(source),"* ]] || fail "the source is not what matters most: $(sed -n 2p out)"
        fi
        [[ $method = alone ]] || { run 2 "$prog" importance --kind=drop m.ppm few.csv; says 'column of its source'; }
    done
    run 2 "$prog" importance <few.csv first.ppm --kind=perm-oob
}

# Also of a raw model as the source of one of logarithms, and of a model that was taken over twice.
case_exported_c_gives_the_same_bits() {
    needs cc
    first_machine
    machine 40 2 3 1.1 slow fast odd >few.csv
    machine 60 4 3 1.1 slow fast odd | cut -d, -f1-4 >p.csv
    run 0 "$prog" train -q -y time --model=hybrid --target=raw --trees=30 -o raw.ppm first.csv
    run 0 "$prog" transfer -q --trees=20 --method=feature -o twice.ppm first.ppm few.csv
    local source method
    for source in first raw twice; do
        for method in residual feature shift weight; do
            run 0 "$prog" transfer -q --trees=20 --method=$method --target=$([[ $method = shift ]] && echo raw || echo log) -o m.ppm $source.ppm few.csv
            run 0 "$prog" export --format=c --name=runs -o model.c m.ppm
            perl -e '
                my %level = (fast => 0, odd => 1, slow => 2); <>; my @rows = map { chomp; my @f = split /,/; $f[2] = $level{$f[2]}; "{" . join(",", @f) . "}" } <>;
                print "#include <stdio.h>\ndouble runs_predict(const double *);\nint main(void) { static const double x[][4] = {", join(",", @rows), "};\n",
                      "for (int i = 0; i < ", scalar @rows, "; i++) printf(\"%.17g\\n\", runs_predict(x[i]));\nreturn 0; }\n"' p.csv >main.c
            cc -std=c11 -O1 -Wall -Wextra -Werror -ffp-contract=off model.c main.c -lm -o exported || fail "$source $method: the source does not compile"
            ./exported >theirs
            run 0 "$prog" predict m.ppm p.csv
            tail -n +2 out | cut -d, -f1 | perl -ne 'printf "%.17g\n", $_' >ours
            same ours theirs
        done
    done
}

case_columns_in_any_order_and_failed_runs() {
    first_machine
    machine 25 2 2 1 slow fast odd >few.csv
    run 0 "$prog" transfer -q --trees=10 -o a.ppm first.ppm few.csv
    perl -F, -lane 'print join ",", "note$.", @F[4, 2, 0, 3, 1]' few.csv >turned.csv
    run 0 "$prog" transfer -q --trees=10 -o b.ppm first.ppm turned.csv
    same a.ppm b.ppm
    { cat few.csv; echo 3,8,odd,1,nan; } >failed.csv
    run 3 "$prog" transfer first.ppm failed.csv
    says 'failed.csv:27: column 5 \(time\)'
    no_output
    run 0 "$prog" transfer -q --fails=drop --trees=10 -o b.ppm first.ppm failed.csv
    same a.ppm b.ppm
}

case_levels_that_the_source_has_not_seen() {
    first_machine
    machine 40 2 2 1 slow fast new >few.csv
    run 0 "$prog" transfer -q --trees=20 --method=residual -o m.ppm first.ppm few.csv
    run 0 "$prog" predict m.ppm few.csv
    printf 'n,tile,mode,omp\n4,8,new,1\n4,8,odd,1\n' >p.csv # known to one of the two each
    run 0 "$prog" predict m.ppm p.csv
    printf 'n,tile,mode,omp\n4,8,newer,1\n' >p.csv
    run 11 "$prog" predict m.ppm p.csv
    run 0 "$prog" transfer -q --trees=20 --method=alone -o m.ppm first.ppm few.csv
    printf 'n,tile,mode,omp\n4,8,odd,1\n' >p.csv # alone does not know what only the source saw
    run 11 "$prog" predict m.ppm p.csv
    says "'odd' is a level that the model has not seen"
}

case_tables_that_do_not_fit() {
    first_machine
    printf 'n,tile,omp,time\n1,2,0,3\n' >t.csv
    run 11 "$prog" transfer first.ppm t.csv
    says 't.csv: the table has no column mode'
    printf 'n,tile,mode,omp,time\n1,2,odd,0,3\nmany,2,odd,0,3\n' >t.csv
    run 11 "$prog" transfer first.ppm t.csv
    says "t.csv:3: column 1 \(n\): is no number"
    printf 'n,tile,mode,omp,seconds\n1,2,odd,0,3\n' >t.csv
    run 3 "$prog" transfer first.ppm t.csv
    says 'no column time'
    run 0 "$prog" transfer -y seconds -o m.ppm first.ppm t.csv
    says 'shift: 1 runs are too few'
    printf 'n,tile,mode,omp,time\n' >t.csv
    run 3 "$prog" transfer first.ppm t.csv
    printf 'n,tile,mode,omp,time\n1,2,odd,0,-3\n2,2,odd,0,1\n' >t.csv
    run 3 "$prog" transfer --target=log first.ppm t.csv
    says 'the logarithm needs targets above 0'
    run 0 "$prog" transfer --trees=10 -o m.ppm first.ppm t.csv
    run 3 "$prog" transfer t.csv t.csv
    run 4 "$prog" transfer nothing.ppm t.csv
}

case_usage() {
    run 2 "$prog" transfer </dev/null
    says 'no model'
    run 2 "$prog" transfer -
    says 'cannot both be standard input'
    run 2 "$prog" transfer a b c
    run 2 "$prog" transfer --method=magic a b
    says 'residual'
    run 2 "$prog" transfer -x n a b
    says 'the columns are those of the model'
    run 2 "$prog" transfer --drop=n a b
    run 2 "$prog" transfer --trees=0 a b
    run 5 "$prog" transfer --device=cuda a b
}

case_at_most_four_sources() {
    first_machine
    machine 12 2 2 1 slow fast odd >few.csv
    cp first.ppm 0.ppm
    local k
    for k in 1 2 3 4; do run 0 "$prog" transfer -q --method=shift -o $k.ppm $((k - 1)).ppm few.csv; done
    run 0 "$prog" predict 4.ppm few.csv
    run 2 "$prog" transfer --method=shift -o 5.ppm 4.ppm few.csv
    says 'taken over 4 times'
    absent 5.ppm
}

case_the_same_bytes_everywhere() {
    first_machine
    machine 35 2 2 1 slow fast odd >few.csv
    run 0 "$prog" transfer -q --trees=30 --threads=1 -o a.ppm first.ppm few.csv
    local variant
    for variant in --threads=2 --threads=7; do
        run 0 "$prog" transfer -q --trees=30 $variant -o b.ppm first.ppm few.csv
        same a.ppm b.ppm
    done
    HPCUTILS_CPU=base run 0 "$prog" transfer -q --trees=30 -o b.ppm first.ppm few.csv
    same a.ppm b.ppm
    run 0 "$prog" transfer -q --trees=30 --seed=2 -o b.ppm first.ppm few.csv
    ! cmp -s a.ppm b.ppm || fail "the seed does nothing"
    cat first.ppm | run 0 "$prog" transfer -q --trees=30 -o b.ppm - few.csv
    same a.ppm b.ppm
}

case_damaged_models() {
    first_machine
    machine 20 2 2 1 slow fast odd >few.csv
    run 0 "$prog" transfer -q --trees=5 --method=feature -o m.ppm first.ppm few.csv
    local size at k got
    size=$(stat -c %s m.ppm)
    for at in 0 100 $((size / 2)) $((size - 1)); do
        head -c "$at" m.ppm >cut.ppm
        run 3 "$prog" predict cut.ppm few.csv
    done
    perl -e 'srand 5; local $/; open my $f, "<", "m.ppm"; my $m = <$f>; for my $k (1 .. 20) { my $d = $m; my $p = int rand length $d; substr($d, $p, 1) ^= chr(1 << int rand 8); open my $g, ">", "flip$k.ppm"; print $g $d }'
    for k in $(seq 20); do
        got=0
        timeout 60 "$prog" predict "flip$k.ppm" few.csv >out 2>err || got=$?
        [[ $got -eq 3 || $got -eq 0 ]] || fail "flip$k: exit code $got: $(cat err)"
    done
}

# What the manifest says of the source is checked, and what it leaves out is missed.
case_manifests_that_lie() {
    needs bsdtar
    first_machine
    machine 20 2 2 1 slow fast odd >few.csv
    run 0 "$prog" transfer -q --trees=5 --method=residual -o m.ppm first.ppm few.csv
    mkdir d
    bsdtar -xf m.ppm -C d
    again() {
        cp -r d e
        perl -0pi -e "$1" e/manifest.json
        cmp -s d/manifest.json e/manifest.json && fail "nothing changed: $1"
        ( cd e && bsdtar --format pax --uid 0 --gid 0 -cf ../new.ppm manifest.json $(find . -type f ! -name manifest.json | sed 's|^\./||' | LC_ALL=C sort) )
        rm -r e
        run 3 "$prog" predict new.ppm few.csv
        says "$2"
        no_output
    }
    again 's/"feature": true/"feature": false/' 'new.ppm'
    again 's/"model": "rf"(?!.*"model": "rf")/"model": "linear"/s' 'new.ppm'
    again 's/"slope": [-0-9.e]+/"slope": "x"/' 'source.slope'
    again 's/"major": 2/"major": 3/' 'new.ppm'
    again 's/"source": \{/"sauce": {/' 'new.ppm'
    again 's/"transform": "log"/"transform": "raw"/; s/("source": \{.*?"least": )[0-9.e-]+/${1}0/s' 'least answer has no logarithm'
}

case_output_is_atomic() {
    first_machine
    machine 20 2 2 1 slow fast odd >few.csv
    echo old >m.ppm
    printf 'n,tile,mode,omp,time\n1,2\n' >bad.csv
    run 3 "$prog" transfer -o m.ppm first.ppm bad.csv
    [[ $(cat m.ppm) = old ]] || fail "the old file is gone"
    [[ -e /dev/full ]] || skip "no /dev/full"
    run 4 "$prog" transfer -q --trees=10 -o /dev/full first.ppm few.csv
    run 0 "$prog" transfer -q --trees=10 --report=r.csv -o m.ppm first.ppm few.csv
    [[ "$(column r.csv command)" = transfer && "$(column r.csv rows)" = 20 ]] || fail "the report lacks the run"
}

# The published measurements: Kernel Tuner's convolution on an A100, and 30 runs on an A4000.
case_from_an_a100_to_an_a4000() {
    needs_shared tuning/convolution-A4000.csv
    sanitized && skip "too slow under a sanitizer"
    local d=$shared/tuning
    run 0 "$prog" train -q -y time --model=rf --target=log --trees=100 -o a100.ppm "$d/convolution-A100.csv"
    perl -e 'srand 2; my ($h, @l) = <>; for (my $i = @l; --$i;) { my $j = int rand($i + 1); @l[$i, $j] = @l[$j, $i] } open my $a, ">", "few.csv"; print $a $h, @l[0 .. 29]; open my $b, ">", "rest.csv"; print $b $h, @l[30 .. $#l]' "$d/convolution-A4000.csv"
    run 0 "$prog" transfer -q --trees=100 -o m.ppm a100.ppm few.csv
    run 0 "$prog" eval m.ppm rest.csv
    less "$(mape out)" 0.25 "error of one draw of 30 runs (0.18 in the mean of several)"
}

run_cases "$@"
