#!/bin/bash
# tests/pipe/perf-predict-probe.sh: counters of programs of ours, against their closed forms; early counters; runs that fail; tables; the way to a prediction.
. "$(dirname "$0")/lib.sh"
prog=$HU_BUILD/perf-predict
samples=$HU_SRC/samples

needs_gcc() { needs gcc; needs gcov; }
needs_mpi() { needs_gcc; needs mpicc.mpich; needs mpiexec.mpich; }

# line FILE TEXT: the number of the line that has the text.
line() { grep -n -F -- "$2" "$1" | head -1 | cut -d: -f1; }

# has FILE NAME VALUE: the last row's field under NAME.
has() {
    local got
    got=$(column "$1" "$2") || fail "$1 has no column $2"
    [[ $got == "$3" ]] || fail "$1: $2 is $got, expected $3"
}
lacks() { ! head -1 "$1" | tr ',' '\n' | grep -qE "$2" || fail "$1 has a column $2"; }

build_pairs() {
    cp "$samples/pairs.c" .
    run 0 "$prog" probe cc "$@" -- gcc -O2 -o pairs pairs.c
    outer=pairs.c:count_pairs:$(line pairs.c 'for (int i')
    inner=pairs.c:count_pairs:$(line pairs.c 'for (int j')
    odd=pairs.c:count_pairs:$(line pairs.c 'odd++')
}
build_heat() {
    cp "$samples/heat.c" .
    run 0 "$prog" probe cc "$@" -- mpicc.mpich -O2 -o heat heat.c
    rows=heat.c:advance:$(line heat.c 'for (int i = 1')
    cells=heat.c:advance:$(line heat.c 'for (int j = 1')
    steps=heat.c:run:$(line heat.c 'step < steps')
}

case_loops_and_branches_of_a_serial_program() {
    needs_gcc
    build_pairs
    run 0 ./pairs 9 # unprobed it runs as ever
    [[ "$(cat out)" == 6 && ! -s err ]] || fail "pairs says $(cat out err)"
    local n m
    for n in 1 2 7 100 1001; do
        run 0 "$prog" probe run --set size=$n -o r.csv -- ./pairs $n
        m=$((n / 2))
        has r.csv size $n
        has r.csv status ok
        has r.csv mode post
        has r.csv cut end
        has r.csv ranks 1
        has r.csv counted 1
        has r.csv "$outer:b0" $n
        has r.csv "$outer:b1" 1
        has r.csv "$inner:b0" $((n * (n - 1) / 2))
        has r.csv "$inner:b1" $n
        has r.csv "$odd" $((m * (m - 1) / 2))
        less 0 "$(column r.csv seconds)" "no time"
        lacks r.csv 'MPI_|:max$|:v'
    done
    only pairs.c pairs pairs-pairs.gcno r.csv
}

case_values_of_comparisons() {
    needs_gcc
    needs addr2line
    build_pairs --values
    run 0 "$prog" probe run -o r.csv -- ./pairs 100
    # the outer comparison is left out before the first trip: 100 times n against i = 1 .. 100
    has r.csv "$outer:v" 100
    has r.csv "$outer:v:left:min" 100
    has r.csv "$outer:v:left:max" 100
    has r.csv "$outer:v:right:min" 1
    has r.csv "$outer:v:right:max" 100
    has r.csv "$outer:v:right:last" 100
    has r.csv "$outer:v:right:mean" 50.5
    has r.csv "$inner:b0" 4950
}

case_calls_and_loops_of_an_mpi_program() {
    needs_mpi
    build_heat
    local p n=40 t=20 most
    for p in 1 2 3; do
        run 0 "$prog" probe run --set n=$n -o r.csv -- mpiexec.mpich -n $p ./heat $n $t
        most=$(((n + p - 1) / p))
        has r.csv ranks $p
        has r.csv counted $p
        has r.csv "$cells:b0" $((n * n * t))
        has r.csv "$cells:b0:max" $((most * n * t))
        has r.csv "$rows:b0" $((n * t))
        has r.csv "$rows:b0:max" $((most * t))
        has r.csv MPI_Sendrecv:calls $((2 * t * p))
        has r.csv MPI_Sendrecv:calls:max $((2 * t))
        has r.csv MPI_Sendrecv:bytes $((2 * (p - 1) * t * (n + 2) * 8))
        has r.csv MPI_Sendrecv:peers $((2 * (p - 1)))
        has r.csv MPI_Sendrecv:peers:max $((p > 2 ? 2 : p - 1))
        has r.csv MPI_Allreduce:calls $((t / 10 * p))
        has r.csv MPI_Allreduce:bytes $((t / 10 * p * 8))
        has r.csv MPI_Allreduce:peers 0
    done
}

# What a call hands over, for each kind of call; the answers are worked out by hand for 3 processes.
case_bytes_of_each_kind_of_call() {
    needs_mpi
    cat >calls.c <<'EOF'
#include <mpi.h>
int main(int argc, char **argv)
{
    int rank, n[3] = {1, 2, 3}, at[3] = {0, 1, 3}, one[3] = {1, 1, 1}, flag;
    double a[9] = {0}, b[9] = {0};
    MPI_Request request[2];
    MPI_Comm other;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Isend(a, 2, MPI_DOUBLE, (rank + 1) % 3, 0, MPI_COMM_WORLD, &request[0]);
    MPI_Irecv(b, 2, MPI_DOUBLE, (rank + 2) % 3, 0, MPI_COMM_WORLD, &request[1]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    MPI_Bcast(a, 4, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Reduce(a, b, 3, MPI_DOUBLE, MPI_SUM, 1, MPI_COMM_WORLD);
    MPI_Gather(a, 2, MPI_INT, b, 2, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Scatter(a, 2, MPI_INT, b, 2, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Scatterv(a, n, at, MPI_INT, b, n[rank], MPI_INT, 2, MPI_COMM_WORLD);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, a, 2, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Alltoall(a, 1, MPI_DOUBLE, b, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Alltoallv(a, one, at, MPI_INT, b, one, at, MPI_INT, MPI_COMM_WORLD);
    MPI_Reduce_scatter_block(a, b, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0, -rank, &other); /* {0}, {2, 1} */
    if (rank == 1) MPI_Send(a, 5, MPI_CHAR, 0, 0, other);    /* to 2 */
    if (rank == 2) MPI_Recv(b, 5, MPI_CHAR, MPI_ANY_SOURCE, 0, other, MPI_STATUS_IGNORE);
    MPI_Iprobe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
EOF
    run 0 "$prog" probe cc -- mpicc.mpich -O1 -o calls calls.c
    run 0 "$prog" probe run -o r.csv -- mpiexec.mpich -n 3 ./calls
    has r.csv status ok
    local want
    for want in Isend:calls=3 Isend:bytes=48 Isend:peers=3 Isend:peers:max=1 Irecv:calls=3 Irecv:bytes=0 Irecv:peers=3 Waitall:calls=3 Bcast:calls=3 Bcast:bytes=16 Bcast:bytes:max=16 \
        Reduce:bytes=72 Gather:bytes=24 Scatter:bytes=24 Scatterv:bytes=24 Scatterv:calls=3 Allgather:bytes=48 Alltoall:bytes=72 Alltoallv:bytes=36 Reduce_scatter_block:bytes=72 \
        Comm_split:calls=3 Send:calls=1 Send:bytes=5 Send:peers=1 Send:peers:max=1 Recv:calls=1 Recv:peers=0 Iprobe:calls=3 Barrier:calls=3; do
        has r.csv "MPI_${want%=*}" "${want##*=}"
    done
}

case_objects_by_make() {
    needs_gcc
    mkdir -p src/a src/b
    printf 'int work(int n); int other(int n);\nint main(void)\n{\n    return work(5) + other(7) != 12;\n}\n' >src/main.c
    printf 'int work(int n)\n{\n    int s = 0;\n    for (volatile int i = 0; i < n; i++) s++;\n    return s;\n}\n' >src/a/part.c
    sed 's|work|other|' src/a/part.c >src/b/part.c
    local object
    for object in main a/part b/part; do run 0 "$prog" probe cc -- gcc -O1 -c -o "$(tr / _ <<<$object).o" "src/$object.c"; done
    run 0 "$prog" probe cc -- gcc -o app main.o a_part.o b_part.o
    run 0 "$prog" probe run -o r.csv -- ./app
    has r.csv status ok
    has r.csv a/part.c:work:4:b0 5 # named from the folder that all share
    has r.csv b/part.c:other:4:b0 7
    has r.csv main.c:main:4 1
    # the same names after building anew
    run 0 "$prog" probe cc -- gcc -O1 -c -o a_part.o src/a/part.c
    run 0 "$prog" probe cc -- gcc -o app main.o a_part.o b_part.o
    run 0 "$prog" probe run -o s.csv -- ./app
    head -1 r.csv >r
    head -1 s.csv >s
    same r s
    # what is no call for objects passes as it is
    run 0 "$prog" probe cc -- gcc --version
    grep -q '^gcc' out || fail "gcc --version says something else"
    run 0 "$prog" probe cc -- gcc -E src/main.c
    run 1 "$prog" probe cc -- gcc -c nothing.c
}

case_threads_are_counted_exactly() {
    needs_gcc
    cat >t.c <<'EOF'
static __attribute__((noinline)) int work(int i)
{
    int n = 0;
    for (volatile int j = 0; j < 3; j++)
        n += i >= 0;
    return n;
}
int main(void)
{
    long n = 0;
#pragma omp parallel for reduction(+ : n) num_threads(4)
    for (int i = 0; i < 100000; i++)
        n += work(i);
    return n != 300000;
}
EOF
    run 0 "$prog" probe cc --values -- gcc -O1 -fopenmp -o t t.c
    run 0 "$prog" probe run -o r.csv -- ./t
    has r.csv status ok
    has r.csv t.c:work:4:b0 300000
    has r.csv t.c:work:4:b1 100000
    has r.csv t.c:work:4:c 400000
}

case_early_counters() {
    needs_gcc
    needs objdump
    build_pairs --values
    local at=${outer##*:} cut
    for cut in 500 50%; do
        run 0 "$prog" probe run --cut=pairs.c:$at:$cut -o r.csv -- ./pairs 1000
        has r.csv mode early
        has r.csv cut "pairs.c:$at:$cut"
        has r.csv "$outer:b0" 500
        has r.csv "$inner:b0" $((500 * 499 / 2))
        has r.csv "$odd" $((250 * 249 / 2))
        has r.csv "$outer:v:right:max" 500
    done
    # a run that ends before the cut has none
    run 0 "$prog" probe run --cut=pairs.c:$at:2000 -o r.csv -- ./pairs 1000
    says '1 of 1 processes left no counters \(they ended before the cut\)'
    has r.csv status ok
    has r.csv ranks 1
    has r.csv counted 0
    lacks r.csv pairs
    # by time: somewhere on the way
    run 0 "$prog" probe run --cut=time:0.05 -o r.csv -- ./pairs 12000
    has r.csv mode early
    less "$(column r.csv "$odd")" $((6000 * 5999 / 2)) "the counters at 0.05 s are those of the end"
}

case_early_counters_of_an_mpi_program() {
    needs_mpi
    needs objdump
    build_heat --values
    local n=30
    run 0 "$prog" probe run --cut=MPI_Allreduce:2 -o r.csv -- mpiexec.mpich -n 2 ./heat $n 100
    has r.csv counted 2
    has r.csv "$cells:b0" $((n * n * 20)) # the second residual stands behind step 20
    has r.csv MPI_Allreduce:calls 4
    has r.csv MPI_Sendrecv:calls $((2 * 2 * 20))
    run 0 "$prog" probe run --cut=heat.c:${steps##*:}:10% -o r.csv -- mpiexec.mpich -n 2 ./heat $n 100
    has r.csv "$cells:b0" $((n * n * 10))
    has r.csv MPI_Sendrecv:calls $((2 * 2 * 10))
    has r.csv "$steps:v:left:max" 10
    # counters of a small run, the time of the whole
    run 0 "$prog" probe run --small='mpiexec.mpich -n 2 ./heat 10 10' -o r.csv -- mpiexec.mpich -n 3 ./heat $n 100
    has r.csv mode early
    has r.csv cut small
    has r.csv ranks 2
    has r.csv "$cells:b0" 1000
}

case_runs_that_fail_are_rows() {
    needs_gcc
    build_pairs
    run 0 "$prog" probe run --set k=1 --save=fails -o r.csv -- ./pairs 0
    has r.csv status 'exit 2'
    has r.csv counted 1 # it left through exit(), so its counters are there
    has r.csv "$outer:b0" 0
    run 0 "$prog" probe run --set k=2 --save=killed -o r.csv -- sh -c 'kill -9 $$'
    says 'nothing was counted'
    has r.csv status 'signal 9'
    has r.csv ranks 0
    printf '#include <unistd.h>\nint main(int c, char **v) { (void)v; if (c > 1) sleep(30); _exit(c); }\n' >leaves.c
    run 0 "$prog" probe cc -- gcc -o leaves leaves.c
    run 0 "$prog" probe run --set k=3 -o r.csv -- ./leaves
    says '1 of 1 processes left no counters \(they were killed, or left by _exit\(\)\)'
    has r.csv status 'exit 1'
    has r.csv counted 0
    run 0 "$prog" probe run --set k=4 --limit=0.3 -o r.csv -- ./leaves sleep
    has r.csv status late
    less "$(column r.csv seconds)" 8 "the limit did not end it"
    run 0 "$prog" probe run --set k=5 --save=good -o r.csv -- ./pairs 10
    # all in one table, which train reads
    run 0 "$prog" probe collect -o t.csv fails killed good
    [[ $(wc -l <t.csv) -eq 4 ]] || fail "not three rows"
    has t.csv k 5
    run 0 "$prog" train -y seconds --fail-col=status --drop=mode,cut,counted -o m.ppm t.csv
    says '2 of 3 runs failed'
}

case_killed_ranks() {
    needs_mpi
    build_heat --values
    # one process of two is killed on its way: the whole has no counters, unless they were taken before
    run 0 "$prog" probe run -o r.csv -- mpiexec.mpich -n 2 sh -c 'if [ $PMI_RANK = 1 ]; then ./heat 200 1000000 & sleep 0.5; kill -9 $!; wait $!; else exec ./heat 200 1000000; fi'
    says 'left no counters'
    [[ $(column r.csv status) != ok ]] || fail "a killed run is ok"
    has r.csv counted 0
    run 0 "$prog" probe run --limit=1 --cut=heat.c:${steps##*:}:5 -o r.csv -- mpiexec.mpich -n 2 ./heat 200 1000000
    has r.csv status late
    has r.csv counted 2
    has r.csv "$cells:b0" $((200 * 200 * 5))
}

case_tables() {
    needs_gcc
    build_pairs
    local n
    for n in 10 20 30; do run 0 "$prog" probe run --set n=$n --save=run$n -o row$n.csv -- ./pairs $n; done
    run 0 "$prog" probe collect run10 run20 run30
    head -1 out >names
    head -1 row10.csv | cmp -s - names || fail "the columns are not those of a row"
    tail -n +2 out >rows
    tail -qn 1 row10.csv row20.csv row30.csv | cmp -s - rows || fail "the rows are not those of the runs"
    # elsewhere, later, without the program
    mkdir away
    mv run10 run20 run30 away
    rm pairs pairs-pairs.gcno
    run 0 "$prog" probe collect --prune --groups=g.csv -o t.csv away/run10 away/run20 away/run30
    lacks t.csv "^$outer:b1$" # 1 in all
    # the outer line runs n + 1 times, its branch n; the inner exit n too, so one stands for the other
    has t.csv "$outer:b0" 30
    lacks t.csv "^$inner:b1$"
    grep -qx "$outer:b0,$inner:b1" g.csv || fail "the group is not told"
    perl -e 'open F, "<t.csv"; <F>; my (@c, %seen); while (<F>) { chomp; my @f = split /,/; push @{$c[$_]}, $f[$_] for 0 .. $#f }
             for (@c[8 .. $#c]) { my $k = join ",", @$_; die "a column twice: $k\n" if $seen{$k}++; die "a constant column\n" unless grep { $_ ne $$_[0] } @$_ }' || fail "not pruned"
}

case_programs_built_anew() {
    needs_gcc
    build_pairs
    # compiled again while it runs
    cat >again.sh <<'EOF'
"$1" probe run -o r.csv -- sh -c './pairs 10; sed -i "s/odd++;/odd += 1; if (n < 0) return 1;/" pairs.c; "$0" probe cc -- gcc -O2 -o pairs pairs.c' "$1"
EOF
    run 3 sh again.sh "$prog"
    says 'pairs-pairs.gcno: the program that ran was not built with this file'
    absent r.csv
    build_pairs
    rm pairs-pairs.gcno
    run 4 "$prog" probe run -o r.csv -- ./pairs 10
    says 'pairs-pairs.gcno: No such file'
    absent r.csv
}

case_damaged_folders() {
    needs_gcc
    build_pairs --values
    run 0 "$prog" probe run --save=good -- ./pairs 10
    mv out want.csv
    run 3 "$prog" probe collect .
    says 'is no folder of a probed run'
    run 4 "$prog" probe collect nowhere; says 'nowhere'
    local process
    process=$(cd good && ls -d */end)
    damage() { rm -rf bad; cp -r good bad; }
    damage; truncate -s -5 "bad/$process/values"; run 3 "$prog" probe collect bad; says 'ends within a record'
    damage; printf 'x' | dd of="bad/$process/values" conv=notrunc status=none; run 3 "$prog" probe collect bad; says 'is no file of counters'
    damage; printf 'zz\n' >bad/places; run 3 "$prog" probe collect bad; says 'places: a damaged line'
    damage; printf '{' >bad/run.json; run 3 "$prog" probe collect bad; says 'run.json:1'
    damage; sed -i 's/"post"/"later"/' bad/run.json; run 3 "$prog" probe collect bad; says 'mode'
    damage; sed -i '/written/d' bad/*/process; run 0 "$prog" probe collect bad; has out counted 0 # killed before it wrote
    damage; printf 'written en' >>bad/*/process; run 0 "$prog" probe collect bad; same out want.csv
    damage; rm "bad/$process/0.gcda"; run 0 "$prog" probe collect bad; lacks out 'pairs.c:main:[0-9]*$'
    run 0 "$prog" probe collect good
    same out want.csv
}

case_usage() {
    needs_gcc
    build_pairs
    run 2 "$prog" probe; says 'COMMAND'
    run 2 "$prog" probe cc gcc -c x.c; says 'put -- before the command'
    run 2 "$prog" probe cc --; says 'there is no command behind --'
    run 2 "$prog" probe run ./pairs; says 'put -- before the command'
    run 2 "$prog" probe run --set=n -- ./pairs 3; says 'expected NAME=VALUE'
    run 2 "$prog" probe run --set=seconds=1 -- ./pairs 3; says 'has a column of that name anyway'
    run 2 "$prog" probe run --cut=x -- ./pairs 3; says 'expected time:SECONDS'
    run 2 "$prog" probe run --cut=time:0 -- ./pairs 3; says 'expected time:SECONDS'
    run 2 "$prog" probe run --cut=MPI_Send:x -- ./pairs 3; says 'expected time:SECONDS'
    run 2 "$prog" probe run --cut=pairs.c:12:200% -- ./pairs 3; says 'expected time:SECONDS'
    run 2 "$prog" probe run --cut=pairs.c:12:1 -- true; says 'no program in the command that probe cc linked'
    run 2 "$prog" probe run --cut=pairs.c:9999:1 --program=./pairs -- ./pairs 3; says 'knows no such line'
    run 2 "$prog" probe run --cut=time:1 --small=true -- ./pairs 3; says 'choose one'
    run 2 "$prog" probe run -- ./nothing; says 'nothing: cannot be started'
    run 2 "$prog" probe run --limit=0 -- ./pairs 3; says '--limit'
    run 2 "$prog" probe collect; says 'no folder'
    run 2 "$prog" probe collect --groups=g.csv x; says 'needs --prune'
    mkdir full
    touch full/file
    run 4 "$prog" probe run --save=full -- ./pairs 3; says 'must be new or empty'
    run 2 "$prog" probe cc -- gcc -shared -o x.so pairs.c; says 'libraries are not probed'
    run 2 "$prog" probe cc --values=pairs.c -- gcc -o x pairs.c other.c; says 'compile those by a call of their own'
    run 4 "$prog" probe run --gcov=no-such-gcov -- ./pairs 3; says 'no-such-gcov is not there'
    run 4 "$prog" probe run -o /dev/full -- ./pairs 3
    [[ -z $(find . -name 'hpcutils-probe*') ]] || fail "a folder is left behind"
}

# The table to train on, and the way to an unseen size: by counters of a tenth of the run. What the whole run will count has a closed form, so that this can be
# held against it exactly; its time is held loosely.
case_from_counters_to_a_prediction() {
    needs_gcc
    needs objdump
    build_pairs --values
    local n at=${outer##*:}
    for n in 400 600 900 1300 1900 2800; do
        run 0 "$prog" probe run --set trips=$((n * (n - 1) / 2)) --cut=pairs.c:$at:10% --save=run$n -- ./pairs $n
    done
    run 0 "$prog" probe collect --prune -o t.csv run*
    run 0 "$prog" train -y trips -x "$inner:b0" --scale="$inner:b0" -o trips.ppm t.csv
    run 0 "$prog" train -y seconds -x "$inner:b0" --scale="$inner:b0" -o seconds.ppm t.csv
    n=6000
    run 0 "$prog" probe run --cut=pairs.c:$at:10% -o row.csv -- ./pairs $n
    run 0 "$prog" predict --flag-range trips.ppm row.csv
    has out range out
    perl -e 'exit !(abs($ARGV[0] / $ARGV[1] - 1) < 0.02)' -- "$(column out predicted)" $((n * (n - 1) / 2)) || fail "predicted $(column out predicted) trips"
    run 0 "$prog" predict seconds.ppm row.csv
    perl -e 'my ($p, $t) = @ARGV; exit !($p > 0.2 * $t && $p < 5 * $t)' -- "$(column out predicted)" "$(column row.csv seconds)" || fail "predicted $(column out predicted) s, took $(column row.csv seconds)"
}

run_cases "$@"
