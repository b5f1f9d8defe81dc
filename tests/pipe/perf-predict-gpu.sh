#!/bin/bash
# tests/pipe/perf-predict-gpu.sh: occupancy of kernels in tables and traces, and schedules of jobs that share GPUs.
. "$(dirname "$0")/lib.sh"
prog=$HU_BUILD/perf-predict

# event NAME DURATION REGISTERS SHARED GRID BLOCK [DEVICE]: a kernel as kineto writes it.
event() { printf '{"ph": "X", "cat": "kernel", "name": "%s", "ts": 1, "dur": %s, "args": {"device": %s, "registers per thread": %s, "shared memory": %s, "grid": %s, "block": %s}}' "$1" "$2" "${7:-0}" "$3" "$4" "$5" "$6"; }
a100='{"id": 0, "name": "A100", "computeMajor": 8, "computeMinor": 0, "numSms": 108}'

case_a_table_of_kernels() {
    printf 'name,threads,registers,shared,grid\nfull,256,32,0,8000\nhalf,1024,64,0,8000\nsmem,128,32,49152,8000\nsmall,256,32,0,54\n' >k.csv
    run 0 "$prog" occupancy --gpu=a100 --kernels=k.csv
    cut -d, -f1,9- out >got
    printf '%s\n' name,blocks_per_sm,warps_per_sm,theoretical,estimated,limit full,8,64,1,1,warps+registers half,1,32,0.5,0.5,registers smem,3,12,0.1875,0.1875,shared \
        small,8,64,1,0.0625,grid >want
    same got want
    run 0 "$prog" occupancy --gpu=A100 --kernels=- <k.csv
    run 0 "$prog" occupancy --gpu=cc=8.0 --kernels=k.csv
    [[ "$(sed -n 2p out)" == *,1,,warps+registers ]] || fail "an estimate without a number of SMs: $(sed -n 2p out)"
}

# Each hint allows more, and one beyond it does not.
case_hints_do_what_they_say() {
    printf 'threads,registers,shared\n256,72,20000\n512,96,0\n64,20,70000\n' >k.csv
    run 0 "$prog" occupancy --gpu=h100 --kernels=k.csv --hints
    cp out hints
    perl -F, -lane 'next if $. == 1; my ($t, $r, $s, $h, $hs) = @F[2, 3, 4, 13, 14]; print join ",", $t, length $h ? $h : $r, length $hs ? $hs : $s;
                    print join ",", $t, length $h ? $h + 1 : $r, length $h ? $s : $hs + 1' hints | { echo threads,registers,shared; cat; } >tried.csv
    run 0 "$prog" occupancy --gpu=h100 --kernels=tried.csv
    perl -F, -lane 'push @b, $F[8] if $. > 1; END { open my $f, "<", "hints"; my @h = map { (split /,/)[8] } grep { !/^name/ } <$f>; for (0 .. 2) { $b[2 * $_] > $h[$_] && $b[2 * $_ + 1] == $h[$_] or die "row $_\n" } }' out ||
        fail "a hint does not hold"
}

case_a_trace() {
    { printf '{"schemaVersion": 1, "deviceProperties": [%s], "traceEvents": [{"ph": "M", "name": "x [{\\"", "args": {}},\n' "$a100"
      event gemm 40 128 16384 '[784, 1, 1]' '[128, 1, 1]'; echo ,; event gemm 20 128 16384 '[784, 1, 1]' '[128, 1, 1]'; echo ,; event add 30 32 0 '[54, 1, 1]' '[16, 16, 1]'
      printf '\n], "traceName": "t"}\n'; } >t.json
    run 0 "$prog" occupancy --trace=t.json
    cut -d, -f1-3,8- out >got
    printf '%s\n' name,gpu,threads,duration_us,blocks_per_sm,warps_per_sm,theoretical,estimated,limit gemm,A100,128,40,4,16,0.25,0.25,registers gemm,A100,128,20,4,16,0.25,0.25,registers \
        add,A100,256,30,8,64,1,0.0625,grid >want
    same got want
    run 0 "$prog" occupancy --trace=t.json --total
    printf '%s\n' metric,value launches,3 duration_us,90 theoretical,0.5 estimated,0.1875 time_by_registers,0.6666666666666666 time_by_grid,0.3333333333333333 >want
    same out want
    run 0 "$prog" occupancy --trace=t.json --by-name
    printf '%s\n' name,launches,duration_us,share,theoretical,estimated,limit gemm,2,60,0.6666666666666666,0.25,0.25,registers add,1,30,0.3333333333333333,1,0.0625,grid >want
    same out want
    gzip -k t.json
    run 0 "$prog" occupancy --trace=t.json.gz --by-name --report=r.csv
    same out want
    [[ "$(column r.csv theoretical)" = 0.5 ]] || fail "the report lacks the mean"
    run 0 "$prog" occupancy --trace=t.json --gpu=v100 --total # what if
    { echo '['; event k 1 32 0 '[1]' '[32]'; echo ']'; } >list.json
    run 0 "$prog" occupancy --trace=list.json --gpu=v100
}

case_traces_that_are_none() {
    echo 'name,threads' >t.json
    run 3 "$prog" occupancy --trace=t.json
    says 't.json:1: no JSON document'
    printf '{"traceEvents": [\n{"ph": "X"},\n{"ph"' >t.json
    run 3 "$prog" occupancy --trace=t.json
    says 't.json:3: the document ends in the middle'
    printf '{"traceEvents": [{"ph": "X"}]}' >t.json
    run 3 "$prog" occupancy --trace=t.json
    says 'no kernel with registers, grid and block'
    { printf '{"traceEvents": [\n\n'; event k 1 32 '"much"' '[1,1,1]' '[32,1,1]'; echo ']}'; } >t.json
    run 3 "$prog" occupancy --trace=t.json --gpu=a100
    says 'event of line 3: args.shared memory: expected an integer'
    { printf '{"traceEvents": ['; event k 1 32 0 '[1,1,1]' '[32,0,1]'; echo ']}'; } >t.json
    run 3 "$prog" occupancy --trace=t.json --gpu=a100
    says 'args.block\[1\]'
    { printf '{"traceEvents": ['; event k 1 32 0 '[999999999999,999999999999,1]' '[32,1,1]'; echo ']}'; } >t.json
    run 3 "$prog" occupancy --trace=t.json --gpu=a100
    { printf '{"traceEvents": ['; event k 1 32 0 '[1,1,1]' '[32,1,1]' 3; echo ']}'; } >t.json
    run 3 "$prog" occupancy --trace=t.json
    says 'does not describe device 3 of kernel k: say it by --gpu'
    { printf '{"deviceProperties": [{"id": 0, "name": "old", "computeMajor": 6, "computeMinor": 0, "numSms": 56}], "traceEvents": ['; event k 1 32 0 '[1,1,1]' '[32,1,1]'; echo ']}'; } >t.json
    run 3 "$prog" occupancy --trace=t.json
    says 'compute capability 6.0, which is not known'
    { printf '{"traceEvents": ['; event k 1 32 0 '[1,1,1]' '[32,1,1]'; echo ', ]}'; } >t.json
    run 3 "$prog" occupancy --trace=t.json --gpu=a100
    says 'a value is missing behind a comma'
}

case_tables_of_kernels_that_are_wrong() {
    local bad
    printf 'threads\n32\n' >k.csv
    run 3 "$prog" occupancy --gpu=a100 --kernels=k.csv
    says 'k.csv:1: there is no column registers'
    for bad in 0,32 -1,32 1.5,32 x,32 32,-1 32,x ,32 nan,32 1e99,32; do
        printf 'threads,registers\n64,32\n%s\n' "$bad" >k.csv
        run 3 "$prog" occupancy --gpu=a100 --kernels=k.csv
        says 'k.csv:3: column [12] \((threads|registers)\)'
        [[ ! -s out ]] || fail "output in spite of $bad"
    done
    printf 'threads,registers\n' >k.csv
    run 3 "$prog" occupancy --gpu=a100 --kernels=k.csv
    says 'no row'
    printf 'threads,registers\n2048,32\n1024,80\n64,32\n' >k.csv
    run 1 "$prog" occupancy --gpu=a100 --kernels=k.csv
    says '2 kernels cannot be launched'
    [[ "$(sed -n 2,3p out | cut -d, -f9,13 | tr '\n' ' ')" = '0,warps 0,registers ' ]] || fail "not 0 blocks: $(cat out)"
}

case_usage_of_occupancy() {
    run 2 "$prog" occupancy
    run 2 "$prog" occupancy --kernels=k.csv
    says 'on which GPU'
    run 2 "$prog" occupancy --kernels=k.csv --trace=t.json --gpu=a100
    run 2 "$prog" occupancy --kernels=k.csv --gpu=a100 --total --by-name
    run 2 "$prog" occupancy --kernels=k.csv --gpu=k80
    says "'k80' is none of v100"
    run 2 "$prog" occupancy --kernels=k.csv --gpu=a100,sms=none
    run 4 "$prog" occupancy --kernels=nothing.csv --gpu=a100
    [[ -e /dev/full ]] || skip "no /dev/full"
    printf 'threads,registers\n64,32\n' >k.csv
    run 4 "$prog" occupancy --kernels=k.csv --gpu=a100 -o /dev/full
}

# 17,640 kernels of real traces: the estimate is the recorded one, to the point that it is rounded to.
case_recorded_traces() {
    needs_shared kineto
    local trace n=0
    for trace in "$shared"/kineto/*.json.gz; do
        run 0 "$prog" occupancy --trace="$trace"
        tail -n +2 out | perl -ne 's/"(?:[^"]|"")*"/q/g; print 100 * (split /,/)[11], "\n"' >ours
        gzip -dc "$trace" | sed -n 's/.*"est. achieved occupancy %": *\([0-9.]*\).*/\1/p' >theirs
        paste ours theirs | perl -ane '$n++; abs($F[0] - $F[1]) <= 0.5 + 1e-9 or die "kernel $n: $F[0], recorded $F[1]\n"; END { exit !($n > 8000) }' || fail "$trace"
        n=$((n + 1))
    done
    [[ $n -ge 2 ]] || fail "no trace"
}

# ---- schedules --------------------------------------------------------------------------------------------------------

case_a_schedule_by_hand() {
    printf 'node,gpus\na,1\n' >n.csv
    printf 'job,submit,duration,occupancy\nA,0,10,0.5\nB,1,4,0.5\nC,2,5,0.6\n' >j.csv
    run 0 "$prog" simulate --cluster=n.csv --jobs=j.csv --policy=excl
    printf '%s\n' job,submit,start,end,wait,jct,slowdown,node,gpus A,0,0,10,0,10,1,a,0 B,1,10,14,9,13,1,a,0 C,2,14,19,12,17,1,a,0 >want
    same out want
    run 0 "$prog" simulate --cluster=n.csv --jobs=- --policy=pack <j.csv
    printf '%s\n' job,submit,start,end,wait,jct,slowdown,node,gpus A,0,0,10,0,10,1,a,0 B,1,1,5,0,4,1,a,0 C,2,10,15,8,13,1,a,0 >want
    same out want
    run 0 "$prog" simulate --cluster=n.csv --jobs=j.csv --policy=pack --summary --report=r.csv
    grep -qx makespan_s,15 out && grep -qx mean_jct_s,9 out && grep -qx utilisation,0.6666666666666666 out || fail "summary: $(tr '\n' ' ' <out)"
    run 0 "$prog" simulate --cluster=n.csv --jobs=j.csv --policy=excl --summary --report=r.csv
    [[ $(wc -l <r.csv) -eq 3 && "$(column r.csv policy)" = excl && "$(column r.csv makespan_s)" = 19 ]] || fail "report: $(cat r.csv)"
}

case_more_than_is_there() {
    printf 'node,gpus\na,2\n' >n.csv
    printf 'job,submit,duration,gpus,occupancy,real_occupancy\nbig,0,10,3,0.5,0.5\nfull,0,4,2,0.9,0.9\nlow,0,5,1,0.1,0.4\n' >j.csv
    run 1 "$prog" simulate --cluster=n.csv --jobs=j.csv --policy=occ
    says '1 jobs can never run .*: big$'
    grep -qx 'big,0,,,,,,never,' out || fail "big is not named: $(cat out)"
    grep -q '^full,0,0,' out && grep -q '^low,0,0,' out || fail "the others did not run: $(cat out)"
    says 'beyond the cap for 5.2 GPU seconds, at most 1.3' # 4 s at 1 / 1.3, on one of the two
    grep -q '^full,0,0,5.2,' out && grep -q '^low,0,0,6.2,' out || fail "not slowed down: $(cat out)"
    run 1 "$prog" simulate --cluster=n.csv --jobs=j.csv --policy=occ --cap=0.85
    says '2 jobs can never run .*: big, full$'
}

case_interference() {
    printf 'node,gpus\na,1\n' >n.csv
    printf 'job,submit,duration,occupancy,kind\nA,0,10,0.5,slow\nB,0,10,0.5,fast\n' >j.csv
    printf 'kind,load,slowdown\nslow,0.5,2\nfast,0.5,1\n' >i.csv
    run 0 "$prog" simulate --cluster=n.csv --jobs=j.csv --policy=pack --interference=i.csv
    printf '%s\n' job,submit,start,end,wait,jct,slowdown,node,gpus A,0,0,15,0,15,1.5,a,0 B,0,0,10,0,10,1,a,0 >want
    same out want
    printf 'kind,load,slowdown\nslow,0.5,2\n' >i.csv
    run 3 "$prog" simulate --cluster=n.csv --jobs=j.csv --policy=pack --interference=i.csv
    says 'j.csv:3: .*no curve for this kind'
    printf 'load,slowdown\n0.5,2\n0.5,3\n' >i.csv
    run 3 "$prog" simulate --cluster=n.csv --jobs=j.csv --policy=pack --interference=i.csv
    says 'i.csv:3: .*must ascend'
    printf 'load,slowdown\n0.5,0.9\n' >i.csv
    run 3 "$prog" simulate --cluster=n.csv --jobs=j.csv --policy=pack --interference=i.csv
    says 'i.csv:2: column 2 \(slowdown\)'
}

case_wrong_tables() {
    printf 'node,gpus\na,1\n' >n.csv
    printf 'job,submit,duration\nA,0,10\n' >j.csv
    local bad
    for bad in -1,10 0,-1 0,inf nan,1 x,1 ,1 0, ; do
        printf 'job,submit,duration\nA,0,10\nB,%s\n' "$bad" >bad.csv
        run 3 "$prog" simulate --cluster=n.csv --jobs=bad.csv --policy=fifo
        says 'bad.csv:3: column [23]'
        no_output
    done
    for bad in 0,1 1.5,1 1,1.1 1,-0.1; do
        printf 'job,submit,duration,gpus,occupancy\nA,0,10,%s\n' "$bad" >bad.csv
        run 3 "$prog" simulate --cluster=n.csv --jobs=bad.csv --policy=fifo
        says 'bad.csv:2: column [45]'
    done
    for bad in 'node,gpus\na,0\n' 'node,gpus\na,x\n' 'node,gpus\n' 'node\na\n' ''; do
        printf "$bad" >bad.csv
        run 3 "$prog" simulate --cluster=bad.csv --jobs=j.csv --policy=fifo
        says 'bad.csv'
    done
    run 2 "$prog" simulate --cluster=n.csv --jobs=j.csv
    run 2 "$prog" simulate --cluster=- --jobs=- --policy=fifo
    run 2 "$prog" simulate --cluster=n.csv --jobs=j.csv --policy=magic
    run 2 "$prog" simulate --cluster=n.csv --jobs=j.csv --policy=fifo --cap=0
    run 2 "$prog" simulate --jobs=j.csv --policy=fifo
    run 2 "$prog" simulate --cluster=n.csv --policy=fifo
    run 4 "$prog" simulate --cluster=n.csv --jobs=nothing.csv --policy=fifo
    [[ -e /dev/full ]] || skip "no /dev/full"
    run 4 "$prog" simulate --cluster=n.csv --jobs=j.csv --policy=fifo -o /dev/full
}

# 20,000 jobs on 300 nodes, each policy: done at once, the same again, and no GPU is promised more than the whole.
case_a_large_schedule() {
    perl -e 'srand 4; print "node,gpus\n"; printf "n%d,%d\n", $_, (2, 4, 8)[int rand 3] for 1 .. 300' >n.csv
    perl -e 'srand 5; print "job,submit,duration,gpus,occupancy\n"; my $t = 0; for (1 .. 20000) { $t += rand 2; printf "j%d,%.2f,%.2f,%d,%.2f\n", $_, $t, 10 + rand 3000, (1, 1, 1, 2, 4, 8)[int rand 6], 0.05 + rand 0.95 }' >j.csv
    local policy
    for policy in fifo excl pack bestfit occ; do
        run 0 timeout 60 "$prog" simulate --cluster=n.csv --jobs=j.csv --policy=$policy
        cp out first
        perl -e '
            my (%occupancy, %edge); open my $j, "<", "j.csv"; <$j>; while (<$j>) { chomp; my @f = split /,/; $occupancy{$f[0]} = $f[4] }
            open my $s, "<", "first"; <$s>; my $n = 0;
            while (<$s>) { chomp; my @f = split /,/; $n++; for my $g (split /;/, $f[8]) { push @{$edge{"$f[7]/$g"}}, [$f[2], 1, $occupancy{$f[0]}], [$f[3], 0, -$occupancy{$f[0]}] } }
            for my $list (values %edge) { my $load = 0; for (sort { $a->[0] <=> $b->[0] || $a->[1] <=> $b->[1] } @$list) { $load += $_->[2]; $load < 1 + 1e-9 or die "load $load\n" } }
            $n == 20000 or die "$n jobs\n"' || fail "$policy"
        run 0 "$prog" simulate --cluster=n.csv --jobs=j.csv --policy=$policy --threads=2
        same out first
    done
}

run_cases "$@"
