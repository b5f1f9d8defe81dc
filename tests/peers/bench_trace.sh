#!/bin/bash
# bench_trace.sh: the bars of trace-compress, as CSV; scripts/bench trace-compress runs it.
#
# Bars: D1 and D2 size without times (peer: zstd -19 --long=27 on the text), D3 bytes an event with times, D5 a million polls, D6 cost of recording, D7 speed.
# Cases are the programs of samples/mpi, and those that HPCUTILS_MPI_APPS names, for instance "cg=/path/cg.S.x lu=/path/lu.S.x", on four ranks.
set -euo pipefail
export LC_ALL=C
tool=$HU_BUILD/trace-compress library=$HU_BUILD/libmpitrace.so
quick=no wanted=()
for word; do
    case $word in --quick) quick=yes ;; *) wanted+=("$word") ;; esac
done
work=$(mktemp -d "${TMPDIR:-/tmp}/hpcutils-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"

wants() { [[ ${#wanted[@]} -eq 0 || " ${wanted[*]} " = *" $1 "* ]]; }

# row BAR CASE OURS UNIT PEER THEIRS FLOOR least|most: a bar that wants at most, or at least, FLOOR.
row() {
    perl -e 'my ($bar, $case, $ours, $unit, $peer, $theirs, $floor, $way) = @ARGV; my $ratio = $theirs eq "" ? ($way eq "most" ? $floor / $ours : $ours / $floor) : $theirs / $ours;
             my $pass = $way eq "most" ? $ours <= $floor : $ours >= $floor; printf "%s,%s,%.4g,%s,%s,%s,%.3g,,%.4g,%s\n", $bar, $case, $ours, $unit, $peer, $theirs, $ratio, $floor, $pass ? "pass" : "short"' "$@"
}

median() { sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
bytes() { stat -c %s "$1"; }

echo "# $(uname -srm), $(nproc) processors, load $(cut -d' ' -f1 /proc/loadavg); $(mpichversion 2>/dev/null | head -1); $(zstd --version)"
echo "bar,case,ours,unit,peer,theirs,ratio,limit_share,floor,verdict"
command -v mpicc.mpich >/dev/null && command -v mpiexec.mpich >/dev/null && [[ -e $library ]] || { echo "all,,,,MPICH,,,,,skipped"; exit 0; }

cases=()
for name in ring halo2d; do
    mpicc.mpich -w -O2 "$HU_SRC/samples/mpi/$name.c" -o "$name"
    cases+=("$name=$work/$name 1000")
done
for app in ${HPCUTILS_MPI_APPS-}; do cases+=("$app"); done

for item in "${cases[@]}"; do
    name=${item%%=*}
    wants D1 || wants D2 || wants D3 || continue
    "$tool" record -o t.mtz -- mpiexec.mpich -n 4 ${item#*=} >/dev/null 2>&1
    events=$("$tool" cat t.mtz | wc -l)
    for time in none exact rel=0.05 rel=0.1; do "$tool" compress --time=$time t.mtz -o "$time.mtz"; done
    if wants D1 || wants D2; then
        theirs=$("$tool" cat --no-time t.mtz | zstd -19 --long=27 -c | wc -c)
        row D2 "$name" "$(bytes none.mtz)" bytes "zstd -19 --long=27" "$theirs" "$((theirs / 2 + 1))" most
    fi
    wants D3 || continue
    row D3 "$name exact" "$(perl -e 'print $ARGV[0] / $ARGV[1]' "$(bytes exact.mtz)" "$events")" "bytes an event" "" "" 2.6 most
    row D3 "$name 5 %" "$(perl -e 'print $ARGV[0] / $ARGV[1]' "$(bytes rel=0.05.mtz)" "$events")" "bytes an event" "" "" 1.5 most
    row D3 "$name 10 %" "$(perl -e 'print $ARGV[0] / $ARGV[1]' "$(bytes rel=0.1.mtz)" "$events")" "bytes an event" "" "" 1.2 most
done

if wants D5; then
    mpicc.mpich -w -O2 "$HU_SRC/samples/mpi/polls.c" -o polls
    for n in 1 1000000; do "$tool" record -- mpiexec.mpich -n 2 ./polls $n 2>/dev/null | "$tool" compress --time=none - -o "polls.$n"; done
    row D5 "a million polls" "$(perl -e 'print $ARGV[0] > 1 ? $ARGV[0] : 1' $(($(bytes polls.1000000) - $(bytes polls.1))))" bytes "" "" 64 most
fi

if wants D6; then
    mpicc.mpich -w -O2 "$HU_SRC/tests/peers/overhead.c" -o overhead
    rounds=5
    [[ $quick = yes ]] && rounds=2
    for ((i = 0; i < rounds; i++)); do
        ./overhead >>plain
        rm -rf spool && mkdir spool
        MPITRACE_DIR=$PWD/spool LD_PRELOAD=$library ./overhead >>traced
    done
    column=0
    for call in Sendrecv Irecv+Send+Wait Iprobe; do
        column=$((column + 1))
        cost=$(paste plain traced | awk -v c=$column '{ print $(c + 3) - $c }' | median)
        row D6 "$call" "$cost" "CPU ns an event" "" "" 150 most
    done
fi

if wants D7; then
    [[ -x overhead ]] || mpicc.mpich -w -O2 "$HU_SRC/tests/peers/overhead.c" -o overhead
    "$tool" record -o long.mtz -- ./overhead >/dev/null
    events=$("$tool" stat long.mtz | awk -F, 'NR > 1 { n += $2 } END { print n }')
    seconds() { perl -e 'use Time::HiRes "time"; my $t = time; system(@ARGV) == 0 or exit 1; printf "%.6f\n", time - $t' "$@"; }
    for time in none exact; do
        for ((i = 0; i < 3; i++)); do
            seconds "$tool" compress --time=$time long.mtz -o small.mtz >>"c.$time"
            seconds "$tool" decompress small.mtz -o raw.mtz >>"d.$time"
        done
        row D7 "compress, times $time" "$(perl -e 'print $ARGV[0] / $ARGV[1] / 1e6' "$events" "$(median <"c.$time")")" "M events/s" "" "" 2 least
        row D7 "decompress, times $time" "$(perl -e 'print $ARGV[0] / $ARGV[1] / 1e6' "$events" "$(median <"d.$time")")" "M events/s" "" "" 5 least
    done
fi
