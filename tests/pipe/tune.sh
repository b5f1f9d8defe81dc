#!/bin/bash
# tests/pipe/tune.sh: the scheme by a learned model: --tune, --model, HPCUTILS_SHARE, and the table of --bench that models are trained on.
. "$(dirname "$0")/lib.sh"

pp=$HU_BUILD/perf-predict
inputs=n,nnz,mean_row,threads,columns,kind,node,rows,index,estimate

large() { # L.mtx: large enough for a choice to matter, and no grid; b.mtx: ones
    exact 9000 700 L.mtx b.mtx x.txt 5
}

# tiny.ppm: a model trained here, on systems like L.mtx, by the pipeline of the manual.
own_model() {
    local seed
    for seed in 1 2; do
        exact $((8000 + 1500 * seed)) 700 T.mtx t.mtx tx.txt $seed
        "$prog" -q --bench=1 --space=ranked --threads=2 T.mtx
    done | awk 'NR == 1 || !/^matrix,/' >table.csv
    "$pp" train -q -y cost -x $inputs --model=boost --target=log --trees=20 table.csv >tiny.ppm
}

case_the_model_chooses() {
    large
    run 0 "$prog" --info --threads=2 L.mtx
    grep -q '^why  *by the model: ' out || fail "why: $(grep '^why' out)"
    grep -Eq '^ranking  *of [0-9]+ schemes by .*sptrsv-schemes.ppm' out || fail "no ranking"
    [[ $(grep -c 'predicted: kind:.*(taken)' out) -eq 1 ]] || fail "not one scheme is taken"
    [[ $(grep -c "predicted: kind:.*(the rule's)" out) -eq 1 ]] || fail "the rule's scheme is not shown once"
    local taken
    taken=$(sed -n 's/.*predicted: \(kind:[^ ]*\).*(taken).*/\1/p' out)
    grep -q "^scheme  *$taken\$" out || fail "taken is $taken, but $(grep '^scheme' out)"
    # the ranking ascends
    sed -n 's/^ *\([0-9]*\)  *\([0-9.e-]*\) ms predicted:.*/\1 \2/p' out | awk '$1 <= place || $2 < time { exit 1 } { place = $1; time = $2 }' || fail "the ranking does not ascend"
    run 0 "$prog" L.mtx -b b.mtx --threads=2 -v
    says 'chosen by the (model|rule)'
    gives_file out x.txt
}

case_the_choice_is_the_same_each_time() { # whatever else the machine does
    large
    run 0 "$prog" --analyze --threads=2 -o a.plan L.mtx
    (while :; do :; done) & local busy=$!
    run 0 "$prog" --analyze --threads=2 -o b.plan L.mtx
    run 0 nice -n 19 "$prog" --analyze --threads=2 -o c.plan L.mtx
    kill $busy
    same a.plan b.plan
    same a.plan c.plan
}

case_rule_and_search_stay() {
    large
    run 0 "$prog" --info --tune=rule L.mtx
    grep -q '^why  *by the rule: ' out || fail "why: $(grep '^why' out)"
    ! grep -q '^ranking' out || fail "the rule has no ranking"
    run 0 "$prog" --info --scheme=kind:level L.mtx
    grep -q '^why  *by the options: ' out || fail "why: $(grep '^why' out)"
    ! grep -q '^ranking' out || fail "--scheme changes the rule's choice"
    run 0 "$prog" --tune=search:0.1 --analyze -o s.plan L.mtx
    tar -xOf s.plan manifest.json | grep -q '"chosen_by": *"search"' || fail "the plan does not say who chose"
}

case_a_plan_says_who_chose() {
    large
    run 0 "$prog" --analyze --threads=2 -o m.plan L.mtx
    tar -xOf m.plan manifest.json | grep -q '"chosen_by": *"model"' || fail "the plan does not say who chose"
    run 0 "$prog" --info --plan=m.plan --threads=2 L.mtx
    grep -q '^why  *by the plan file, chosen by the model: ' out || fail "why: $(grep '^why' out)"
    run 0 "$prog" --analyze --tune=rule -o r.plan L.mtx
    tar -xOf r.plan manifest.json | grep -q '"chosen_by": *"rule"' || fail "the plan does not say who chose"
    run 0 "$prog" --analyze --scheme=kind:serial -o u.plan L.mtx
    tar -xOf u.plan manifest.json | grep -q '"chosen_by": *"user"' || fail "the plan does not say who chose"
}

case_without_a_model_the_rule_chooses() { # and says so
    large
    mkdir empty
    run 0 env HPCUTILS_SHARE=empty "$prog" L.mtx -b b.mtx
    says 'warning: sptrsv-schemes.ppm is not there; it was looked for in empty.*the rule chooses'
    gives_file out x.txt
    run 0 env HPCUTILS_SHARE=empty "$prog" --info L.mtx
    grep -q '^why  *by the rule: ' out || fail "why: $(grep '^why' out)"
    run 0 env HPCUTILS_SHARE=empty "$prog" --tune=rule L.mtx -b b.mtx
    silent
    run 0 env HPCUTILS_SHARE=empty "$prog" --scheme=kind:level L.mtx -b b.mtx
    silent
}

case_a_damaged_model() { # of the program: said, and the rule chooses; of --model: bad input
    large
    local model=$HU_BUILD/share/sptrsv-schemes.ppm size
    [[ -f $model ]] || model=$HU_SRC/share/sptrsv-schemes.ppm
    size=$(stat -c %s "$model")
    mkdir damaged
    head -c $((size / 2)) "$model" >damaged/sptrsv-schemes.ppm
    run 0 env HPCUTILS_SHARE=damaged "$prog" L.mtx -b b.mtx
    says 'warning: damaged/sptrsv-schemes.ppm: .*the rule chooses'
    gives_file out x.txt
    run 3 "$prog" --model=damaged/sptrsv-schemes.ppm L.mtx -b b.mtx
    says 'damaged/sptrsv-schemes.ppm'
    no_output
    perl -e 'local $/; open my $f, "<", $ARGV[0]; my $t = <$f>; substr($t, length($t) / 2, 1) ^= "\x40"; open $f, ">", "flipped.ppm"; print $f $t' "$model"
    run 3 "$prog" --model=flipped.ppm L.mtx -b b.mtx
    echo "not a model" >text.ppm
    run 3 "$prog" --model=text.ppm L.mtx -b b.mtx
    run 4 "$prog" --model=absent.ppm L.mtx -b b.mtx
    says 'absent\.ppm'
}

case_a_model_of_something_else() {
    large
    printf '%s\n' n,time 1,1 2,2 3,3 4,4 | "$pp" train -q -y time --model=linear >time.ppm
    run 3 "$prog" --model=time.ppm L.mtx -b b.mtx
    says 'time\.ppm: is a model of time, not of cost'
    printf '%s\n' n,colour,cost 1,red,1 2,blue,2 3,red,3 4,blue,4 | "$pp" train -q -y cost --model=rf --trees=5 >colour.ppm
    run 3 "$prog" --model=colour.ppm L.mtx -b b.mtx
    says 'colour\.ppm: the model predicts by colour'
    no_output
    coo small.mtx "1 1" "1 1 2"
    vec one.mtx 4
    run 3 "$prog" --model=colour.ppm small.mtx -b one.mtx # also where it would not be asked
}

case_a_model_of_ones_own() {
    large
    own_model
    run 0 "$prog" --info --model=tiny.ppm --threads=2 L.mtx
    grep -Eq '^ranking  *of [0-9]+ schemes by tiny.ppm' out || fail "no ranking: $(grep -E 'ranking|model' out)"
    run 0 "$prog" --model=tiny.ppm --threads=2 L.mtx -b b.mtx
    silent
    gives_file out x.txt
    # what it was not trained on is the rule's: aloud where the model was asked for
    run 0 "$prog" --model=tiny.ppm --threads=1 L.mtx -b b.mtx
    says 'the rule chooses, not the model: .*threads'
    run 0 "$prog" --model=tiny.ppm --threads=2 --columns=8 L.mtx -b b.mtx
    says 'the rule chooses, not the model: .*columns'
    run 0 "$prog" --info --model=tiny.ppm --threads=1 L.mtx
    grep -q '^model  *not asked: .*threads' out || fail "--info does not say why"
}

case_small_and_complex_systems() { # are the rule's; silently, unless the model was asked for
    coo small.mtx "2 2" "1 1 2" "2 1 1" "2 2 4"
    vec b.mtx 2 5
    run 0 "$prog" small.mtx -b b.mtx
    silent
    run 0 "$prog" --tune=model small.mtx -b b.mtx
    says 'the rule chooses, not the model: .*short'
    run 0 "$prog" --info small.mtx
    grep -q '^why  *by the rule: ' out || fail "why: $(grep '^why' out)"
    printf '%s\n' '%%MatrixMarket matrix coordinate complex general' '1 1 1' '1 1 0 2' >z.mtx
    printf '%s\n' '%%MatrixMarket matrix array complex general' '1 1' '0 4' >zb.mtx
    run 0 "$prog" --tune=model z.mtx -b zb.mtx
    says 'the rule chooses, not the model: .*complex'
}

case_the_table() { # the columns a model is trained on
    large
    run 0 "$prog" --bench=1 --space=ranked --columns=4 --threads=2 L.mtx
    local name
    for name in relative cost naive_s rule estimate columns kind node rows merge index super rhs tile natural_s shared scattered; do
        column out "$name" >/dev/null || fail "no column $name"
    done
    [[ $(column out columns) == 4 ]] || fail "columns: $(column out columns)"
    local ranked
    ranked=$(wc -l <out)
    run 0 "$prog" --bench=1 --space=all --threads=2 L.mtx
    [[ $(wc -l <out) -gt $((2 * ranked)) ]] || fail "all: $(wc -l <out) rows, ranked: $ranked"
}

run_cases "$@"
