#!/bin/bash
# tests/pipe/plan.sh: plan files: saving, using, misfits, damage.
. "$(dirname "$0")/lib.sh"

system() { # L.mtx, b.mtx, x.txt: exact
    exact 500 30 L.mtx b.mtx x.txt 21
}

case_save_and_use() {
    system
    run 0 "$prog" --analyze -o p.plan L.mtx
    no_output
    [[ -s p.plan ]] || fail "no plan"
    run 0 "$prog" --plan=p.plan L.mtx -b b.mtx
    gives_file out x.txt
    local t
    for t in 1 2 7; do
        run 0 "$prog" --plan=p.plan --threads=$t L.mtx -b b.mtx
        gives_file out x.txt
    done
}

case_every_kind_has_a_plan() {
    system
    grid5 30 20 G.mtx
    perl -e 'print "%%MatrixMarket matrix array real general\n600 1\n", "1\n" x 600' >g.mtx
    local scheme
    for scheme in kind:serial kind:level kind:barrier kind:task kind:task,node:chain,rows:4 kind:task,super:1 kind:task,fat:3; do
        run 0 "$prog" --scheme=$scheme --threads=2 --analyze -o p.plan L.mtx
        run 0 "$prog" --plan=p.plan --threads=2 L.mtx -b b.mtx
        gives_file out x.txt
    done
    run 0 "$prog" --scheme=kind:grid --analyze -o p.plan G.mtx
    run 0 "$prog" --plan=p.plan G.mtx -b g.mtx
    mv out a
    run 0 "$prog" G.mtx -b g.mtx
    same out a
}

case_plan_is_a_bundle() {
    system
    run 0 "$prog" --analyze -o p.plan L.mtx
    tar -tf p.plan >list 2>tarerr || zstd -dc p.plan 2>/dev/null | tar -tf - >list || fail "tar cannot list the plan"
    [[ $(head -1 list) == manifest.json ]] || fail "first member: $(head -1 list)"
}

case_equal_plans_are_equal_files() {
    system
    run 0 "$prog" --threads=2 --analyze -o a.plan L.mtx
    run 0 "$prog" --threads=2 --analyze -o b.plan L.mtx
    same a.plan b.plan
}

case_plan_of_another_precision() {
    system
    local made used
    for made in --f64 --f32 --mixed; do
        run 0 "$prog" $made --analyze -o p.plan L.mtx
        for used in --f64 --f32 --mixed; do
            if [[ $made == "$used" ]]; then
                run 0 "$prog" $used --plan=p.plan L.mtx -b b.mtx
                gives_file out x.txt
            else
                run 12 "$prog" $used --plan=p.plan L.mtx -b b.mtx
                says "p\\.plan: .*$made.*$used"
                no_output
            fi
        done
    done
}

case_values_are_not_stored() {
    coo old.mtx "2 2" "1 1 2" "2 1 1" "2 2 2"
    coo new.mtx "2 2" "1 1 4" "2 1 3" "2 2 8"
    vec b.mtx 4 11
    run 0 "$prog" --analyze -o p.plan old.mtx
    run 0 "$prog" --analyze -o q.plan new.mtx
    same p.plan q.plan
    run 0 "$prog" --plan=p.plan new.mtx -b b.mtx
    gives out 1 1
}

case_misfits() {
    system
    run 0 "$prog" --analyze -o p.plan L.mtx
    exact 500 30 M.mtx b2.mtx x2.txt 22
    run 12 "$prog" --plan=p.plan M.mtx -b b2.mtx
    says 'p\.plan|plan'
    no_output
    exact 499 30 N.mtx b3.mtx x3.txt 21
    run 12 "$prog" --plan=p.plan N.mtx -b b3.mtx
    run 12 "$prog" --plan=p.plan -T L.mtx -b b.mtx
    run 12 "$prog" --plan=p.plan --diag=unit L.mtx -b b.mtx
}

case_no_plan_at_all() {
    system
    echo "not a plan" >p.plan
    local got=0
    "$prog" --plan=p.plan L.mtx -b b.mtx >out 2>err || got=$?
    [[ $got -eq 3 || $got -eq 12 ]] || fail "exit code $got, expected 3 or 12"
    says 'p\.plan'
    run 4 "$prog" --plan=absent L.mtx -b b.mtx
}

# Every shorter plan and many damaged ones: refused, or (where the damage hit nothing that matters) still the right answer.
case_damaged_plans() {
    coo L.mtx "6 6" "1 1 1" "2 1 1" "2 2 1" "3 3 1" "4 2 1" "4 3 1" "4 4 1" "5 5 1" "6 4 1" "6 5 1" "6 6 1"
    vec b.mtx 1 2 1 4 1 6
    printf '%s\n' 1 1 1 2 1 3 >x.txt
    run 0 "$prog" --scheme=kind:task --threads=2 --analyze -o p.plan L.mtx
    local size i got
    size=$(stat -c %s p.plan)
    for ((i = 0; i < size; i += size / 24 + 1)); do
        head -c "$i" p.plan >cut.plan
        got=0
        timeout 20 "$prog" --plan=cut.plan L.mtx -b b.mtx >out 2>err || got=$?
        [[ $got -eq 3 || $got -eq 12 ]] || { [[ $got -eq 0 ]] && gives_file out x.txt; } || fail "cut at $i: exit code $got: $(head -1 err)"
    done
    for ((i = 0; i < 150; i++)); do
        perl -e 'my ($seed, $flips) = @ARGV; srand $seed; local $/; open my $f, "<", "p.plan"; my $t = <$f>;
                 substr($t, int rand length $t, 1) = chr int rand 256 for 1 .. $flips; open $f, ">", "bad.plan"; print $f $t' "$i" $((i % 4 + 1))
        got=0
        timeout 20 "$prog" --plan=bad.plan --threads=2 L.mtx -b b.mtx >out 2>err || got=$?
        [[ $got -eq 3 || $got -eq 12 ]] || { [[ $got -eq 0 ]] && gives_file out x.txt; } || fail "damage $i: exit code $got: $(head -1 err)"
    done
}

case_plan_from_a_pipe() {
    system
    run 0 "$prog" --analyze -o - L.mtx
    mv out p.plan
    run 0 "$prog" --plan=p.plan L.mtx -b b.mtx
    gives_file out x.txt
}

run_cases "$@"
