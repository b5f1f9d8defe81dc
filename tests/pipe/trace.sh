#!/bin/bash
# tests/pipe/trace.sh: trace-compress: programs of MPI recorded as they are, whatever ends them, and read again.
. "$(dirname "$0")/lib.sh"
prog=$HU_BUILD/trace-compress
LC_ALL=C

needs_mpi() {
    needs mpicc.mpich
    needs mpiexec.mpich
    [[ -e $HU_BUILD/libmpitrace.so ]] || skip "the recorder is not built (no MPICH at configure)"
}

# program NAME: samples/mpi or tests/pipe/mpi NAME.c, built once; its path is in $program.
program() {
    needs_mpi
    program=$work/$1
    [[ -x $program ]] && return
    local source=$HU_SRC/samples/mpi/$1.c
    [[ -e $source ]] || source=$HU_SRC/tests/pipe/mpi/$1.c
    mpicc.mpich -w -O1 "$source" -o "$program" -lpthread || fail "$1.c does not build"
}

mpi() { timeout -k 5 60 mpiexec.mpich "$@"; }

# traced N CASE: faults CASE on N ranks gives the same lines with and without the recorder; the trace is in t.mtz, its text in t.txt.
traced() {
    program faults
    mpi -n "$1" "$program" "$2" 2>/dev/null | sort >plain
    run 0 "$prog" record -o t.mtz -- mpiexec.mpich -n "$1" "$program" "$2"
    sort out >with
    same plain with
    run 0 "$prog" cat --no-time t.mtz
    mv out t.txt
}

# lines N REGEX: so many lines of t.txt match.
lines() {
    local n
    n=$(grep -Ec -- "$2" t.txt) || true
    [[ $n -eq $1 ]] || { head -40 t.txt | sed 's/^/# /'; fail "$n lines match /$2/, expected $1"; }
}

case_ring_has_its_closed_form() {
    program ring
    run 0 "$prog" record -o t.mtz -- mpiexec.mpich -n 3 "$program" 7
    [[ $(cat out) == 3 ]] || fail "the program printed $(cat out)"
    only t.mtz
    run 0 "$prog" cat --no-time t.mtz
    mv out t.txt
    lines 21 ' MPI_Irecv '
    lines 21 ' MPI_Isend '
    lines 21 ' MPI_Waitall '
    lines 3 ' MPI_Allreduce buf=0 buf=0 count=1 type=MPI_INT op=3 comm=0$'
    lines 7 '^1 MPI_Waitall count=2 requests=\[0,1\] statuses=\[\(0,5,4\),\(-2,-1,0\)\]$'
    lines 3 ' MPI_Finalize$'
    lines 72 ""
}

case_halo_with_edges() {
    program halo2d
    run 0 "$prog" record -o t.mtz -- mpiexec.mpich -n 4 "$program" 5 8
    run 0 "$prog" cat --no-time t.mtz
    mv out t.txt
    lines 80 ' MPI_Sendrecv '
    lines 40 ' MPI_Sendrecv .*count=8 type=MPI_DOUBLE peer=-1 .* count=8'
    lines 20 ' MPI_Allreduce .*comm=2$'
}

case_wildcards_have_their_sender() {
    program workers
    run 0 "$prog" record -o t.mtz -- mpiexec.mpich -n 3 "$program" 12
    [[ $(cat out) == 506 ]] || fail "the program printed $(cat out)"
    run 0 "$prog" cat --no-time t.mtz
    mv out t.txt
    lines 14 '^0 MPI_Send '
    lines 12 '^0 MPI_Recv .*peer=-2 tag=2 comm=0 status=\([12],2,4\)$'
    lines 12 '^[12] MPI_Recv .*tag=-1 .*status=\(0,1,4\)$'
}

case_polls_are_folded() {
    program polls
    run 0 "$prog" record -o t.mtz -- mpiexec.mpich -n 2 "$program" 100000
    [[ $(cat out) == 42 ]] || fail "the program printed $(cat out)"
    run 0 "$prog" cat --no-time t.mtz
    mv out t.txt
    local n
    n=$(sed -n 's/^0 MPI_Test .*flag=0 .*polls=\([0-9]*\).*/\1/p' t.txt | awk '{ n += $1 } END { print n }')
    [[ $n -ge 100000 ]] || fail "$n failed polls, expected at least 100000"
    [[ $(wc -l <t.txt) -le 12 ]] || fail "polls are not folded: $(wc -l <t.txt) events"
    lines 1 '^0 MPI_Test request=0 flag=1 status=\(1,1,4\)$'
}

case_same_handles() {
    traced 2 same_handles
    lines 2 'MPI_Waitall count=4 requests=\[4,5,6,7\] statuses=\[\(-2,-1,0\),\(-2,-1,0\),\(-2,-1,0\),\(-2,-1,0\)\]'
    lines 2 'MPI_Waitall count=4 requests=\[0,1,2,3\] statuses=\[\([01],0,4\),\([01],1,4\),\([01],2,4\),\([01],3,4\)\]'
}

case_reused_handles() {
    traced 2 reused_handles
    for c in 2 3 4; do lines 2 "MPI_Comm_dup comm=0 newcomm=$c\$"; done
    for b in 4 8 12; do lines 2 "MPI_Type_contiguous .*newtype=\\([0-9]+,$b,0,$b\\)"; done
    [[ $(grep -o 'newtype=([0-9]*' t.txt | sort -u | wc -l) -eq 3 ]] || fail "datatypes are not distinct"
    lines 0 '=-2( |$)'
}

case_holes_in_requests() {
    traced 2 holes
    lines 2 'MPI_Waitany count=4 requests=\[-1,-1,-1,-1\] index=-32766'
    lines 2 'MPI_Waitsome count=4 requests=\[-1,-1,-1,-1\] indices=\[\] statuses=\[\]'
    lines 4 'MPI_Waitany count=4 requests=\[-1,0,-1,1\] index=1'
    lines 4 'MPI_Waitany count=4 requests=\[-1,0,-1,1\] index=3'
}

case_pauses() {
    traced 2 pauses
    lines 4 'MPI_Sendrecv '
    lines 2 'MPI_Sendrecv .*tag=3 .* gap$'
    lines 2 'MPI_Wait request=-2 '
    program faults
    run 0 "$prog" record --off-start -o t.mtz -- mpiexec.mpich -n 2 "$program" pauses
    run 0 "$prog" cat --no-time t.mtz
    mv out t.txt
    lines 2 'MPI_Sendrecv .*tag=3 .* gap$'
    lines 0 'tag=0 '
}

case_threads() {
    traced 2 threads
    lines 400 'MPI_Sendrecv '
    local t
    for t in 1 2 3 4; do lines 50 "^0\\.$t MPI_Sendrecv .*comm=[2-5] "; done
}

case_communicators() {
    traced 4 communicators
    lines 1 '^0 MPI_Comm_split comm=0 int=-32766 int=0 newcomm=-1$'
    lines 4 'MPI_Intercomm_merge '
    lines 4 'MPI_Neighbor_allgather '
    lines 4 'MPI_Comm_idup .*newrequest=0$'
    lines 0 'comm=-2'
}

case_collectives_out_of_order() {
    traced 2 overlap
    lines 2 'MPI_Iallreduce .*comm=2 newrequest=0$'
    lines 2 'MPI_Wait request=2 '
}

case_calls_inside_mpi() {
    traced 2 nested
    lines 0 'MPI_Sendrecv'
    lines 2 'MPI_Allreduce .*op=64 comm=0$'
}

case_sizes_beyond_32_bits() {
    traced 2 large
    lines 2 'newtype=\([0-9]*,4294967296,0,4294967296\)'
    lines 2 'MPI_Send_c buf=0 count=5000000000 type=MPI_BYTE peer=-1 '
}

case_datatypes() {
    traced 2 types
    lines 2 'MPI_Type_create_resized .*newtype=\([0-9]*,24,-4,96\)'
    lines 2 'MPI_Type_create_struct .*newtype=\([0-9]*,24,-4,96\)'
    lines 2 'MPI_Sendrecv .*status=\([01],0,48\)'
    lines 2 'MPI_Alltoallw .*types=\[(MPI_INT,MPI_FLOAT|MPI_FLOAT,MPI_INT)\]'
}

case_windows_files_and_sessions() {
    traced 2 memory
    lines 4 'MPI_Win_fence int=0 win=0$'
    traced 2 files
    lines 2 'MPI_File_write_at_all file=0 int=[04] .*status=\(-2,-1,4\)'
    traced 2 sessions
    lines 2 'MPI_Comm_create_from_group group=0 newcomm=2$'
    lines 2 'MPI_Allreduce .*comm=2$'
}

case_fortran_f08() {
    needs_mpi
    needs gfortran
    needs mpif90.mpich
    mpif90.mpich -w "$HU_SRC/samples/mpi/ring_f08.f90" -o ring_f08 >build.log 2>&1 || skip "mpif90.mpich cannot build a program of mpi_f08"
    run 0 "$prog" record -o t.mtz -- mpiexec.mpich -n 3 ./ring_f08
    [[ $(cat out) == 3 ]] || fail "the program printed $(cat out)"
    run 0 "$prog" cat --no-time t.mtz
    mv out t.txt
    lines 3 'MPI_Init$'
    lines 30 'MPI_Isend '
    lines 30 'MPI_Waitall count=2 requests=\[0,1\] statuses=\[\([012],5,4\),'
    lines 3 'MPI_Barrier '
    lines 3 'MPI_Comm_split comm=0 int=[01] int=[012] newcomm=2$'
    lines 3 'MPI_Finalize$'
}

# Whatever ends a run: what was recorded is there, and the exit code is the program's.
case_killed_aborted_left() {
    program faults
    local how code
    for how in killed:9 aborted:7 exits:3; do
        code=${how#*:}
        run "$code" "$prog" record -o t.mtz -- mpiexec.mpich -n 2 "$program" "${how%:*}"
        run 0 "$prog" cat --no-time t.mtz
        mv out t.txt
        lines 200 'MPI_Barrier '
    done
}

case_full_disc_stops_the_trace_alone() {
    traced 2 same_handles
    run 0 "$prog" record --max-bytes=2000000 -o t.mtz -- mpiexec.mpich -n 2 "$program" many
    [[ $(sort out | tr '\n' ' ') == "0 1 " ]] || fail "the program printed $(cat out)"
    says 'rank 0: the recording stopped early'
    local most
    run 0 "$prog" cat --no-time t.mtz
    most=$(wc -l <out)
    [[ $most -gt 10000 && $most -lt 200000 ]] || fail "$most events are left"
    ( ulimit -f 5000; exec "$prog" record --keep --dir=spool -o t.mtz -- mpiexec.mpich -n 2 "$program" many ) >out 2>err || fail "a limit of file sizes ended the run"
    [[ $(sort out | tr '\n' ' ') == "0 1 " ]] || fail "the program printed $(cat out)"
    run 0 "$prog" cat t.mtz
}

case_trace_through_a_pipe() {
    program ring
    "$prog" record -- mpiexec.mpich -n 2 "$program" 3 2>err | "$prog" cat --no-time - >t.txt || fail "the pipe failed"
    grep -qx 1 err || fail "the program's own output is not on standard error"
    lines 6 'MPI_Waitall'
    run 2 "$prog" record -o t.mtz
    says 'no command to run'
    run 127 "$prog" record -o t.mtz -- ./no-such-program
    absent t.mtz
}

case_environment() {
    program ring
    mkdir spool
    run 0 "$prog" env --shell --dir="$PWD/spool"
    grep -q 'LD_PRELOAD=.*libmpitrace.so MPITRACE_DIR=' out || fail "$(cat out)"
    run 0 env $(cat out) mpiexec.mpich -n 2 "$program" 3
    [[ $(ls spool/*.spool | wc -l) -eq 2 ]] || fail "not one file a rank"
    run 0 "$prog" recover spool -o a.mtz
    run 0 "$prog" merge spool/*.spool -o b.mtz
    same a.mtz b.mtz
    run 0 "$prog" env --dir=/x --max-bytes=5 --off-start
    [[ $(cat out) == LD_PRELOAD=*,MPITRACE_DIR=/x,MPITRACE_MAX_BYTES=5,MPITRACE_START=off ]] || fail "$(cat out)"
    env MPITRACE_OFF=1 MPITRACE_DIR="$PWD/spool2" LD_PRELOAD="$HU_BUILD/libmpitrace.so" mpiexec.mpich -n 2 "$program" 3 >out 2>err
    absent spool2
    run 0 env $("$prog" env --shell --dir="$PWD/spool") mpiexec.mpich -n 2 "$program" 3
    run 3 "$prog" recover spool
    says 'both of rank 0: there are files of several runs'
    mkdir empty
    run 3 "$prog" recover empty
    says 'no process has recorded anything'
    run 2 "$prog" merge
}

# A trace that is cut anywhere is refused by cat and kept as far as it is whole by recover.
case_cut_and_damaged_traces() {
    program ring
    run 0 "$prog" record -o t.mtz -- mpiexec.mpich -n 4 "$program" 2000
    run 0 "$prog" cat --no-time t.mtz
    mv out whole.txt
    zstd -dcq t.mtz >t.tar
    local size k
    size=$(stat -c %s t.tar)
    head -c $((size * 3 / 5)) t.tar >cut.mtz
    run 3 "$prog" cat cut.mtz
    says 'cut.mtz: '
    run 0 "$prog" recover cut.mtz -o kept.mtz
    says 'members before it are kept'
    run 0 "$prog" cat --no-time kept.mtz
    [[ -s out ]] || fail "nothing was kept"
    cmp -n "$(stat -c %s out)" out whole.txt || fail "what was kept is not the beginning"
    run 0 "$prog" recover t.mtz -o again.mtz
    says 'is whole'
    run 0 "$prog" cat --no-time again.mtz
    same out whole.txt
    for k in 3 5 7; do
        perl -e 'my ($k) = @ARGV; local $/; my $t = <STDIN>; substr($t, int(length($t) * $k / 9), 1) ^= "\x10"; print $t' "$k" <t.tar >flipped.mtz
        run 3 "$prog" cat flipped.mtz
    done
    perl -pe 's/"major": 1/"major": 2/' t.tar >newer.mtz
    run 3 "$prog" cat newer.mtz
    says 'a newer hpcutils is needed'
    : >none.mtz
    run 3 "$prog" cat none.mtz
    echo hello >none.mtz
    run 3 "$prog" cat none.mtz
    run 4 "$prog" cat absent.mtz
    run 4 "$prog" cat t.mtz -o /dev/full
}

case_a_reader_of_100_lines_agrees() {
    needs zstd
    perl -MJSON::PP -e 1 2>/dev/null || skip "perl has no JSON::PP"
    [[ $(wc -l <"$HU_SRC/tests/tools/mtz-read.pl") -le 100 ]] || fail "it has more than 100 lines"
    local c
    for c in communicators types holes; do
        traced 4 "$c"
        zstd -dcq t.mtz | perl "$HU_SRC/tests/tools/mtz-read.pl" >read.txt
        same t.txt read.txt
    done
}

# Compressed and back: the same text, to the byte with exact times; the same calls without.
case_compression_loses_nothing() {
    program ring
    local c n
    for c in communicators:4 types:2 holes:2 pauses:2 overlap:2 threads:2 nested:2 files:2; do
        n=${c#*:}
        traced "$n" "${c%:*}"
        sort t.txt >want.txt # threads of a rank alternate
        run 0 "$prog" cat t.mtz
        sort out >timed.txt
        run 0 "$prog" compress t.mtz -o s.mtz
        run 0 "$prog" cat s.mtz
        sort out >again.txt
        same timed.txt again.txt
        "$prog" compress --time=none <t.mtz | "$prog" decompress | "$prog" cat - | sort >none.txt
        same want.txt none.txt
    done
    traced 4 communicators
    run 0 "$prog" compress t.mtz -o a.mtz
    run 0 "$prog" compress -m lossless --threads=2 a.mtz -o b.mtz
    same a.mtz b.mtz
}

case_polls_stay_small() {
    program polls
    local few many
    run 0 "$prog" record -o t.mtz -- mpiexec.mpich -n 2 "$program" 1000000
    run 0 "$prog" compress --time=none t.mtz -o few.mtz
    run 0 "$prog" cat few.mtz
    grep -Eq '^0 MPI_Test .*flag=0 .*polls=[0-9]{7}' out || fail "the number of polls is lost"
    run 0 "$prog" record -o t.mtz -- mpiexec.mpich -n 2 "$program" 1
    run 0 "$prog" compress --time=none t.mtz -o many.mtz
    [[ $(stat -c %s few.mtz) -le $(($(stat -c %s many.mtz) + 64)) ]] || fail "a million polls take $(stat -c %s few.mtz) bytes, one $(stat -c %s many.mtz)"
}

# Ten times the rounds: a tenth more bytes at most.
case_repetition_is_free() {
    program ring
    run 0 "$prog" record -o a.mtz -- mpiexec.mpich -n 4 "$program" 200
    run 0 "$prog" record -o b.mtz -- mpiexec.mpich -n 4 "$program" 2000
    run 0 "$prog" compress --time=none a.mtz -o as.mtz
    run 0 "$prog" compress --time=none b.mtz -o bs.mtz
    [[ $(stat -c %s bs.mtz) -le $(($(stat -c %s as.mtz) * 11 / 10)) ]] || fail "$(stat -c %s as.mtz) bytes became $(stat -c %s bs.mtz)"
}

case_times_within_the_error() {
    program ring
    run 0 "$prog" record -o t.mtz -- mpiexec.mpich -n 3 "$program" 300
    "$prog" cat t.mtz >exact.txt
    local e
    for e in 0.001 0.05 0.5; do
        "$prog" compress --time=rel=$e t.mtz | "$prog" cat - >rel.txt
        paste exact.txt rel.txt | perl -ane '
            BEGIN { our $e = shift @ARGV } my ($r, $at, $d) = @F[0 .. 2]; my $half = @F / 2; my ($s, $at2, $d2) = @F[$half .. $half + 2]; die "other calls: $_" if $r ne $s || $F[3] ne $F[$half + 3];
            my ($gap, $gap2) = ($at - ($end{$r} // $at), $at2 - ($end2{$r} // $at2)); ($end{$r}, $end2{$r}) = ($at + $d, $at2 + $d2);
            die "gap $gap became $gap2\n" if abs($gap - $gap2) > $e * $gap; die "duration $d became $d2\n" if abs($d - $d2) > $e * $d; $n++; END { exit($? || $n != 2709) }' $e ||
            fail "a time is not within $e"
    done
    [[ $(stat -c %s t.mtz) -gt 0 ]]
    "$prog" compress -m bounded t.mtz >a.mtz
    "$prog" compress --time=rel=0.05 t.mtz >b.mtz
    same a.mtz b.mtz
    run 2 "$prog" compress -m lossless --time=none t.mtz
    says '-m lossless keeps exact times'
    run 2 "$prog" compress -m bounded --time=exact t.mtz
    run 2 "$prog" compress --time=rel=0.9 t.mtz
    run 2 "$prog" compress --time=maybe t.mtz
    says 'none of exact, rel=E, none'
    zstd -dcq a.mtz >a.tar
    head -c $(($(stat -c %s a.tar) - 3000)) a.tar >cut.mtz
    run 3 "$prog" cat cut.mtz
    perl -e 'local $/; my $t = <STDIN>; my $at = index($t, "grammar") + 520; substr($t, $at, 1) ^= "\x01"; print $t' <a.tar >flipped.mtz
    run 3 "$prog" decompress flipped.mtz
    says 'member grammar is damaged'
    run 4 "$prog" compress t.mtz -o /dev/full
}

# entries FILE: rows, columns and values of a Matrix Market file, sorted.
entries() { grep -v '^%' "$1" | tail -n +2 | sort; }

case_matrix_has_its_closed_form() {
    program ring
    run 0 "$prog" record -o t.mtz -- mpiexec.mpich -n 4 "$program" 7
    "$prog" compress t.mtz >s.mtz
    local f
    for f in t.mtz s.mtz; do
        run 0 "$prog" matrix "$f"
        head -1 out | grep -qx '%%MatrixMarket matrix coordinate integer general' || fail "$(head -1 out)"
        [[ $(entries out | tr '\n' ';') == "1 2 28;2 3 28;3 4 28;4 1 28;" ]] || fail "$(cat out)"
        run 0 "$prog" matrix --what=count <"$f"
        [[ $(entries out | tr '\n' ';') == "1 2 7;2 3 7;3 4 7;4 1 7;" ]] || fail "$(cat out)"
    done
    program halo2d
    run 0 "$prog" record -o t.mtz -- mpiexec.mpich -n 4 "$program" 5 8
    run 0 "$prog" matrix --what=count t.mtz
    [[ $(entries out | awk '{ n += $3 } END { print n }') -eq 40 ]] || fail "not 2 N (2 px py - px - py) messages"
    program alltoallv
    run 0 "$prog" record -o t.mtz -- mpiexec.mpich -n 3 "$program" 5
    run 0 "$prog" matrix t.mtz
    [[ -z $(entries out) ]] || fail "a collective counts as messages"
    run 0 "$prog" matrix --coll=flat t.mtz
    [[ $(entries out | tr '\n' ';') == "1 2 80;1 3 120;2 1 80;2 3 160;3 1 120;3 2 160;" ]] || fail "$(cat out)"
}

case_matrix_of_derived_types_and_nowhere() {
    traced 2 types
    run 0 "$prog" matrix t.mtz
    [[ $(entries out | tr '\n' ';') == "1 2 48;2 1 48;" ]] || fail "$(cat out)"
    traced 2 large
    run 0 "$prog" matrix t.mtz
    [[ -z $(entries out) ]] || fail "messages to MPI_PROC_NULL count"
    traced 2 holes
    run 0 "$prog" matrix --what=count t.mtz
    [[ $(entries out | tr '\n' ';') == "1 2 2;2 1 2;" ]] || fail "persistent sends: $(cat out)"
    traced 4 communicators
    run 0 "$prog" stat --by=comm t.mtz
    [[ $(tail -n +2 out | cut -d, -f1,2 | grep -c ',4$') -ge 4 ]] || fail "$(cat out)"
}

case_stat_adds_up() {
    program workers
    run 0 "$prog" record -o t.mtz -- mpiexec.mpich -n 3 "$program" 12
    run 0 "$prog" stat t.mtz
    grep -q '^MPI_Send,26,0,0,[0-9]*,26,96,0$' out || fail "$(cat out)"
    grep -q '^MPI_Recv,26,0,0,[0-9]*,0,0,96$' out || fail "$(cat out)"
    run 0 "$prog" stat --by=rank t.mtz
    [[ $(column out calls) -gt 0 && $(wc -l <out) -eq 4 ]] || fail "$(cat out)"
    grep -q '^0,0,1,0,' out || fail "$(cat out)"
    run 0 "$prog" stat --by=size t.mtz
    [[ $(tail -n +2 out | tr '\n' ';') == "0,0,2,0;4,7,24,96;" ]] || fail "$(cat out)"
    traced 2 nested
    run 0 "$prog" stat --by=rank t.mtz
    [[ $(column out nested) -gt 0 ]] || fail "calls inside MPI are not counted"
    run 2 "$prog" stat --by=colour t.mtz
}

case_verify_tells_traces_apart() {
    program ring
    run 0 "$prog" record -o a.mtz -- mpiexec.mpich -n 3 "$program" 7
    run 0 "$prog" record -o b.mtz -- mpiexec.mpich -n 3 "$program" 8
    run 0 "$prog" compress --time=none a.mtz -o s.mtz
    run 0 "$prog" verify a.mtz s.mtz
    grep -q '^bytes,84,84,0,0,within$' out || fail "$(cat out)"
    run 1 "$prog" verify a.mtz b.mtz
    says '7 metrics are outside'
    grep -q '^calls:MPI_Isend,21,24,3,0,outside$' out || fail "$(cat out)"
    grep -q '^channels,3,3,3,0,outside$' out || fail "$(cat out)"
    printf 'metric,tolerance\nchannels,3\nbytes,0.2\nmessages,0.2\nrank_calls,9\ncalls:MPI_Isend,3\ncalls:MPI_Irecv,3\n' >tol.csv
    run 1 "$prog" verify --tol=tol.csv a.mtz b.mtz
    says '1 metrics are outside'
    echo calls:MPI_Waitall,3 >>tol.csv
    run 0 "$prog" verify --tol=tol.csv a.mtz b.mtz
    echo 'a,b' >bad.csv
    run 3 "$prog" verify --tol=bad.csv a.mtz b.mtz
    says 'expected a column metric'
    run 2 "$prog" verify a.mtz
    run 4 "$prog" verify a.mtz absent.mtz
}

case_slices() {
    program ring
    run 0 "$prog" record -o t.mtz -- mpiexec.mpich -n 4 "$program" 30
    run 0 "$prog" slice --ranks=1,3-3 t.mtz -o s.mtz
    "$prog" cat t.mtz | grep '^[13] ' >want.txt
    run 0 "$prog" cat s.mtz
    same out want.txt
    run 0 "$prog" slice --from=0 --to=1e8 t.mtz -o s.mtz
    "$prog" cat t.mtz >want.txt
    run 0 "$prog" cat s.mtz
    same out want.txt
    run 0 "$prog" slice --from=1e8 t.mtz -o s.mtz
    run 0 "$prog" cat s.mtz
    no_output
    run 2 "$prog" slice --ranks=4 t.mtz
    says 'there is no rank 4; the trace has ranks 0 to 3'
    run 2 "$prog" slice --ranks=2-1 t.mtz
    run 2 "$prog" slice --ranks=a t.mtz
    "$prog" compress --time=none t.mtz >n.mtz
    run 2 "$prog" slice --from=1 n.mtz
    says 'has no times'
}

# A clock five seconds ahead and too fast: corrected, no message comes (much) before it was sent; the times themselves are kept.
case_clocks_are_corrected() {
    program ring
    gcc -w -shared -fPIC "$HU_SRC/tests/pipe/mpi/skew.c" -o skew.so || skip "no compiler for the wrong clock"
    mkdir spool
    run 0 env MPITRACE_DIR="$PWD/spool" LD_PRELOAD="$HU_BUILD/libmpitrace.so:$PWD/skew.so" mpiexec.mpich -n 2 "$program" 200
    run 0 "$prog" recover spool -o t.mtz
    "$prog" cat t.mtz | perl -ane '
        push @{$sent[$F[0]]}, $F[1] if $F[3] eq "MPI_Isend"; push @{$got[$F[0]]}, $F[1] + $F[2] if $F[3] eq "MPI_Waitall";
        END { for my $r (0, 1) { for my $i (0 .. 199) { my $d = $got[1 - $r][$i] - $sent[$r][$i]; die "message $i of rank $r took $d ns\n" if $d < -5e6 || $d > 4e9; $n++ } } exit($? || $n != 400) }' ||
        fail "the clocks are not corrected"
}

case_times_add_up() {
    program ring
    run 0 "$prog" record -o t.mtz -- mpiexec.mpich -n 2 "$program" 50
    run 0 "$prog" cat t.mtz
    perl -ane 'die "goes back: $_" if $F[1] < ($end[$F[0]] // 0) || $F[2] < 0; $end[$F[0]] = $F[1] + $F[2]' out || fail "times of a rank overlap"
}

case_csv() {
    program workers
    run 0 "$prog" record -o t.mtz -- mpiexec.mpich -n 2 "$program" 3
    run 0 "$prog" cat --csv t.mtz
    [[ $(head -1 out) == rank,thread,enter_ns,duration_ns,function,polls,error,gap,arguments ]] || fail "$(head -1 out)"
    "$prog" cat t.mtz >t.txt
    perl -ne 'chomp; next if $. == 1; /^(\d+),0,(\d+),(\d+),(MPI_\w+),0,0,0,(.*)$/ or die "row $_\n"; my ($r, $at, $d, $f, $a) = ($1, $2, $3, $4, $5); $a =~ s/^"(.*)"$/$1/; print "$r $at $d $f", ($a ne "" ? " $a" : ""), "\n"' out >again.txt || fail "no CSV"
    same t.txt again.txt
    run 0 "$prog" cat --csv --no-time t.mtz
    [[ $(head -1 out) == rank,thread,function,polls,error,gap,arguments ]] || fail "$(head -1 out)"
}

case_usage() {
    run 0 "$prog" --help
    run 2 "$prog"
    run 2 "$prog" cat a b
    run 2 "$prog" nonsense
}

case_manual_has_the_options_of_help() {
    local command
    for command in $("$prog" --help | sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p'); do grep -q "^\.Cm $command" "$HU_SRC/man/trace-compress.1" || fail "the manual lacks $command"; done
    manual_has_the_options trace-compress.1 $("$prog" --help | sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p')
}

run_cases "$@"
