#!/bin/bash
# tests/pipe/spmm-pack.sh: products of sparse and dense matrices: the faults that users of other tools reported, formats, packed files, every way to err.
. "$(dirname "$0")/lib.sh"
prog=$HU_BUILD/spmm-pack

# sparse FILE KIND "ROWS COLS" ENTRY...: coordinates of a kind, as "pattern general".
sparse() {
    local file=$1 kind=$2 size=$3
    shift 3
    { echo "%%MatrixMarket matrix coordinate $kind"; echo "$size $#"; [[ $# -eq 0 ]] || printf '%s\n' "$@"; } >"$file"
}

# Every strategy gives the same answer.
mul_gives() {
    local strategy
    for strategy in csr neighbor bin panel auto; do
        run 0 "$prog" mul --strategy=$strategy -o c.npy "${product[@]}"
        gives c.npy "$@"
    done
}

# ---- faults of other tools

case_unsorted_entries() {
    sparse a.mtx "real general" "2 3" "2 1 5" "1 3 2" "1 1 1"
    vec b.mtx 1 10 100
    product=(-a a.mtx -b b.mtx)
    mul_gives 201 5
    vec b.mtx 1 10
    product=(-a a.mtx -b b.mtx --transpose)
    mul_gives 51 0 2
}

case_symmetric_is_expanded() {
    sparse a.mtx "real symmetric" "3 3" "1 1 2" "2 1 3" "3 3 4" "3 2 5"
    vec b.mtx 1 1 1
    product=(-a a.mtx -b b.mtx)
    mul_gives 5 8 9
    product=(-a a.mtx -b b.mtx --symmetric=keep)
    mul_gives 2 3 9
}

case_skew_symmetric() {
    sparse a.mtx "integer skew-symmetric" "3 3" "2 1 4" "3 1 -1"
    vec b.mtx 1 1 1
    product=(-a a.mtx -b b.mtx)
    mul_gives -3 4 -1
    sparse a.mtx "integer skew-symmetric" "3 3" "2 1 4" "2 2 1"
    run 3 "$prog" mul -a a.mtx -b b.mtx
    says 'a.mtx:4:'
    no_output
}

case_pattern() {
    sparse a.mtx "pattern general" "2 3" "1 3" "2 1" "2 2"
    vec b.mtx 1 10 100
    product=(-a a.mtx -b b.mtx)
    mul_gives 100 11
    printf '%%%%MatrixMarket matrix coordinate pattern general\n2 3\n1 3\n' >a.mtx
    run 3 "$prog" mul -a a.mtx -b b.mtx
    says 'a.mtx:2:'
}

case_greatest_and_least() {
    sparse a.mtx "pattern general" "3 2" "1 1" "1 2" "3 1"
    vec b.mtx -200000 -150000
    run 0 "$prog" mul --reduce=max -a a.mtx -b b.mtx -o c.npy --arg-out arg.npy
    gives c.npy -150000 0 -200000
    gives arg.npy 2 -1 1
    run 0 "$prog" mul --reduce=min -a a.mtx -b b.mtx -o c.npy --arg-out arg.npy
    gives c.npy -200000 0 -200000
    gives arg.npy 1 -1 1
    run 2 "$prog" mul --reduce=sum -a a.mtx -b b.mtx --arg-out arg.npy
    says 'arg-out needs'
}

# softmax FILE: the logits of row 1 come from X Y with one column.
case_softmax_is_stable_and_by_row() {
    sparse s.mtx "pattern general" "2 3" "1 1" "1 2" "1 3"
    npy x.npy '<f8' False '2, 1' d 1 1
    npy y.npy '<f8' False '3, 1' d 1000 1000 999
    run 0 "$prog" sddmm -s s.mtx -x x.npy -y y.npy --softmax=row -o e.npy
    perl -e 'my @w = (.422319, .422319, .155362); my @g = split " ", shift; exit 1 if @g != 3; abs($g[$_] - $w[$_]) < 1e-6 or exit 1 for 0 .. 2' "$(numbers e.npy | tr '\n' ' ')" || fail "softmax: $(numbers e.npy)"
    # edges 1->3, 2->3, 1->4: grouped by the destination
    printf '1,3\n2,3\n1,4\n' >edges.csv
    npy x.npy '<f8' False '4, 1' d 0 0 0 0
    run 0 "$prog" sddmm -s edges.csv --base=1 -x x.npy --softmax=row -o e.npy
    gives e.npy .5 .5 1
}

# A GAT head by hand: h = (1,2,4), edges to node 3 from 1, 2 and 3, a_s = .5, a_d = -1: weights .289433 .319873 .390694.
case_attention_by_hand() {
    sparse s.mtx "pattern general" "3 3" "3 1" "3 2" "3 3"
    npy x.npy '<f8' False '3, 1' d -1 -2 -4
    npy y.npy '<f8' False '3, 1' d .5 1 2
    run 0 "$prog" sddmm -s s.mtx -x x.npy -y y.npy --op=add --leaky=0.2 --softmax=row -o e.mtx
    vec h.mtx 1 2 4
    run 0 "$prog" mul -a e.mtx -b h.mtx -o c.npy
    perl -e 'abs($ARGV[0] - 2.491955) < 1e-6 or exit 1' "$(numbers c.npy | tail -1)" || fail "attention gave $(numbers c.npy | tail -1)"
}

# Values of a matrix, one a line, row by row, against those expected within 1e-6.
near() {
    local got
    got=$(grep -v '^%' "$1" | tail -n +2 | cut -d' ' -f3 | tr '\n' ' ')
    shift
    perl -e 'my ($g, @w) = @ARGV; my @g = split " ", $g; exit 1 if @g != @w; abs($g[$_] - $w[$_]) < 1e-6 or exit 1 for 0 .. $#w' -- "$got" "$@" || fail "values $got, expected $*"
}

case_self_loops() {
    sparse a.mtx "pattern general" "2 2" "1 1" "1 2" "2 1"
    run 0 "$prog" unpack --self-loops=add --norm=gcn -o n.mtx a.mtx
    near n.mtx .666667 .408248 .408248 .5
    run 0 "$prog" unpack --self-loops=remaining --norm=gcn -o n.mtx a.mtx
    near n.mtx .5 .5 .5 .5
    run 0 "$prog" unpack --self-loops=add -o n.mtx a.mtx
    near n.mtx 2 1 1 1
    run 0 "$prog" unpack --self-loops=remove -o n.mtx a.mtx
    near n.mtx 1 1
    run 0 "$prog" unpack --norm=row -o n.mtx a.mtx
    near n.mtx .5 .5 1
    run 0 "$prog" unpack --norm=col -o n.mtx a.mtx
    near n.mtx .5 1 .5
    sparse a.mtx "pattern general" "2 3" "1 1"
    run 3 "$prog" unpack --self-loops=add a.mtx
    says 'square'
    run 3 "$prog" unpack --norm=gcn a.mtx
    says 'square'
    run 3 "$prog" pack --reorder=rcm a.mtx
    says 'square'
    sparse a.mtx "real general" "2 2" "1 1 -3"
    run 3 "$prog" unpack --norm=gcn a.mtx
    says 'row 1'
}

case_empty_rows_and_shapes() {
    sparse a.mtx "real general" "4 4" "3 2 7"
    vec b.mtx 1 2 3 4
    product=(-a a.mtx -b b.mtx)
    mul_gives 0 0 14 0
    sparse a.mtx "real general" "3 2"
    npy b.npy '<f4' False '2, 2' f 1 2 3 4
    product=(-a a.mtx -b b.npy)
    mul_gives 0 0 0 0 0 0
    run 0 "$prog" mul -a a.mtx -b b.npy -o c.npy
    grep -aq "'<f4'.*(3, 2)" c.npy || fail "wrong type or shape"
    sparse a.mtx "real general" "0 2"
    run 0 "$prog" mul -a a.mtx -b b.npy -o c.npy
    grep -aq "(0, 2)" c.npy || fail "0 rows"
    sparse a.mtx "real general" "3 0"
    npy b.npy '<f4' False '0, 2' f
    run 0 "$prog" mul -a a.mtx -b b.npy -o c.npy
    gives c.npy 0 0 0 0 0 0
    npy b.npy '<f4' False '0, 0' f
    run 0 "$prog" mul -a a.mtx -b b.npy -o c.npy
    grep -aq "(3, 0)" c.npy || fail "0 columns"
}

case_any_width() {
    local k
    sparse a.mtx "integer general" "1 2" "1 1 1" "1 2 2"
    for k in 1 3 15 16 17 31 33 143 300; do
        npy b.npy '<f4' False "2, $k" f $(seq 0 $((k - 1))) $(yes 1 | head -$k)
        product=(-a a.mtx -b b.npy)
        mul_gives $(seq 2 $((k + 1)))
    done
}

case_types_mix() {
    sparse a.mtx "integer general" "1 1" "1 1 3"
    npy b.npy '<f4' False '1, 1' f 0.5
    product=(-a a.mtx -b b.npy)
    mul_gives 1.5
    run 0 "$prog" mul -a a.mtx -b b.npy --out-dtype=f64 -o c.npy
    grep -aq "'<f8'" c.npy || fail "not f64"
    gives c.npy 1.5
    run 0 "$prog" mul -a a.mtx -b b.npy --dtype=f16 --out-dtype=f32 -o c.npy
    gives c.npy 1.5
    run 0 "$prog" mul -a a.mtx -b b.npy --acc=f64 -o c.npy
    gives c.npy 1.5
}

case_mean_counts_stored_entries() {
    sparse a.mtx "real general" "3 2" "1 1 0" "1 2 1" "2 1 2" "2 1 4"
    vec b.mtx 1 1
    product=(--reduce=mean -a a.mtx -b b.mtx)
    mul_gives .5 6 0
}

case_trailing_isolated_node() {
    sparse a.mtx "pattern general" "3 3" "1 2"
    vec b.mtx 5 7 9
    product=(-a a.mtx -b b.mtx)
    mul_gives 7 0 0
    printf '0 1\n' >edges.txt
    run 0 "$prog" mul -a edges.txt --base=0 --nodes=3 -b b.mtx -o c.npy
    gives c.npy 0 5 0
}

case_order_of_arrays() {
    sparse a.mtx "pattern general" "2 2" "1 1" "2 2"
    npy c.npy '<f8' False '2, 3' d 1 2 3 4 5 6
    npy f.npy '<f8' True '2, 3' d 1 4 2 5 3 6
    npy big.npy '>f8' False '2, 3' 'q' 0 0 0 0 0 0
    perl -e 'local $/; open my $f, "<", "big.npy"; my $t = <$f>; substr($t, -48) = pack "d>*", 1 .. 6; open $f, ">", "big.npy"; print $f $t'
    run 0 "$prog" mul -a a.mtx -b c.npy -o 1.npy
    run 0 "$prog" mul -a a.mtx -b f.npy -o 2.npy
    run 0 "$prog" mul -a a.mtx -b big.npy -o 3.npy
    cat f.npy | "$prog" mul -q -a a.mtx -b - >4.npy
    cat a.mtx | "$prog" mul -q -b f.npy >5.npy
    for i in 2 3 4 5; do same 1.npy $i.npy; done
    gives 1.npy 1 4 2 5 3 6
}

case_direction_of_edges() {
    printf '# a comment\n1 2\n' >edges.txt
    vec b.mtx 5 7
    run 0 "$prog" mul -a edges.txt --base=1 -b b.mtx -o c.npy
    gives c.npy 0 5
    run 0 "$prog" mul -a edges.txt --base=1 --edge-order=dst-src -b b.mtx -o c.npy
    gives c.npy 7 0
    printf 'src,dst,weight\n1,2,3\n1,2,4\n' >edges.csv
    run 0 "$prog" mul -a edges.csv --base=1 -b b.mtx -o c.npy
    gives c.npy 0 35
    printf '1\t2\n' >edges.tsv
    run 0 "$prog" mul -a edges.tsv --base=1 -b b.mtx -o c.npy
    gives c.npy 0 5
    run 2 "$prog" mul -a edges.txt -b b.mtx
    says '--base'
    run 3 "$prog" mul -a edges.txt --base=1 --nodes=1 -b b.mtx
    says 'edges.txt:2:'
    printf '0 1\n' >edges.txt
    run 3 "$prog" mul -a edges.txt --base=1 -b b.mtx
    says 'edges.txt:1:'
    printf '1 x\n' >edges.txt
    run 3 "$prog" mul -a edges.txt --format=edges --base=1 -b b.mtx
}

case_duplicates() {
    local how want
    sparse a.mtx "real general" "1 1" "1 1 3" "1 1 5" "1 1 4"
    vec b.mtx 1
    while read -r how want; do
        run 0 "$prog" mul --dups=$how -a a.mtx -b b.mtx -o c.npy
        gives c.npy $want
    done <<<'sum 12
first 3
last 4
max 5'
    run 3 "$prog" mul --dups=error -a a.mtx -b b.mtx
    says 'more than once'
}

# ---- formats

case_pruned_pattern() {
    printf '2, 3, 3\n0 1 3 \n2 0 1 \n' >w.smtx
    npy b.npy '<f8' False '3,' d 1 10 100
    run 0 "$prog" mul -a w.smtx -b b.npy -o c.npy
    gives c.npy 100 11
    printf '2, 3, 3\n0 1 3\n2 0\n' >w.smtx
    run 3 "$prog" mul -a w.smtx -b b.npy
    says 'w.smtx:3:'
    printf '2, 3, 3\n0 1 3\n2 0 3\n' >w.smtx
    run 3 "$prog" mul -a w.smtx -b b.npy
    says 'w.smtx:3: a column is outside'
    printf '2, 3, 3\n0 2 1\n2 0 1\n' >w.smtx
    run 3 "$prog" mul -a w.smtx -b b.npy
    says 'w.smtx:2:'
    printf '2000000000, 3, 1000000000000\n0 2 1\n2 0 1\n' >w.smtx
    run 3 "$prog" mul -a w.smtx -b b.npy
    says 'do not fit'
}

case_dense_as_sparse() {
    npy a.npy '<f4' True '2, 3' f 1 0 0 4 5 0
    run 0 "$prog" unpack a.npy -o a.mtx
    [[ "$(grep -v '^%' a.mtx | tr '\n' ';')" == '2 3 3;1 1 1;1 3 5;2 2 4;' ]] || fail "$(cat a.mtx)"
}

case_packed_round_trip() {
    local strategy dtype
    "$prog" gen powerlaw --rows=400 --degree=9 --max-degree=200 --values=integer --seed=3 -o a.mtx
    "$prog" unpack a.mtx -o plain.mtx
    "$prog" gen pruned --rows=400 --cols=7 --density=1 --values=integer --seed=5 | "$prog" unpack -o b.mtx
    run 0 "$prog" mul -a a.mtx -b b.mtx --strategy=csr -o right.npy
    for strategy in csr neighbor bin; do
        for dtype in f64 f32 f16 bf16; do
            run 0 "$prog" pack -q --strategy=$strategy --bin=64 --row-panel=50 --np=40 --dtype=$dtype --verify a.mtx -o a.spk
            run 0 "$prog" unpack a.spk
            same out plain.mtx
            run 0 "$prog" mul -a a.spk -b b.mtx -o c.npy
            same c.npy right.npy
        done
        cat a.spk | "$prog" mul -q -b b.mtx >c.npy
        same c.npy right.npy
        run 0 "$prog" pack -q --zstd --index=64 --strategy=$strategy a.mtx -o a.spk
        run 0 "$prog" unpack a.spk
        same out plain.mtx
    done
    run 0 "$prog" pack -q --index=64 a.mtx -o a.spk
    run 0 "$prog" unpack a.spk
    same out plain.mtx
}

case_reordered_keeps_the_order_of_the_file() {
    local order
    "$prog" gen powerlaw --rows=300 --degree=6 --values=integer --seed=4 -o a.mtx
    "$prog" unpack a.mtx -o plain.mtx
    vec b.mtx $(seq 1 300)
    vec bias.mtx $(seq 1000 1299)
    run 0 "$prog" mul -a a.mtx -b b.mtx --bias=bias.mtx -o right.npy
    run 0 "$prog" mul -a a.mtx -b b.mtx --reduce=max --arg-out=rightarg.npy -o rightmax.npy
    for order in degree rcm cluster; do
        run 0 "$prog" pack -q --reorder=$order a.mtx -o a.spk
        run 0 "$prog" mul -a a.spk -b b.mtx --bias=bias.mtx -o c.npy
        same c.npy right.npy
        run 0 "$prog" mul -a a.spk -b b.mtx --reduce=max -o c.npy
        same c.npy rightmax.npy
        run 0 "$prog" unpack a.spk
        grep -v '^%' out >got
        grep -v '^%' plain.mtx >want
        same got want
    done
}

case_same_bits_for_any_threads() {
    local strategy threads
    "$prog" gen star --rows=500 --degree=5 --values=normal --seed=2 -o a.mtx
    "$prog" gen pruned --rows=500 --cols=33 --density=1 --values=normal --seed=5 -o b.csr
    "$prog" unpack b.csr -o b.mtx
    for strategy in csr neighbor bin; do
        for threads in 1 2 3; do
            run 0 "$prog" mul --threads=$threads --strategy=$strategy --np=64 --bin=32 --row-panel=40 -a a.mtx -b b.mtx --dtype=f32 --check -o $threads.npy
            says 'error at most'
        done
        same 1.npy 2.npy
        same 1.npy 3.npy
    done
    for threads in 1 2 3; do
        run 0 "$prog" sddmm --threads=$threads -s a.mtx -x b.mtx --heads=3 --softmax=row -o $threads.npy
    done
    same 1.npy 2.npy
    same 1.npy 3.npy
}

case_damaged_packed_files() {
    "$prog" gen regular --rows=50 --degree=5 -o a.mtx
    run 0 "$prog" pack -q --strategy=bin a.mtx -o a.spk
    head -c 3000 a.spk >cut.spk
    run 3 "$prog" unpack cut.spk
    no_output
    perl -e 'local $/; open my $f, "<", "a.spk"; my $t = <$f>; my $at = rindex $t, "REMA.ptr"; substr($t, $at + 512 + 40, 1) ^= "\x01"; print $t' >flip.spk
    run 3 "$prog" unpack flip.spk
    says 'REMA.ptr is damaged'
    printf 'x' | run 3 "$prog" unpack --format=spk -
    # right sums over wrong numbers: a column outside
    mkdir bundle
    bsdtar -xf a.spk -C bundle 2>/dev/null || tar -xf a.spk -C bundle
    [[ -e bundle/COLI && -e bundle/manifest.json ]] || fail "members are missing"
}

# ---- products

case_epilogue() {
    sparse a.mtx "real general" "2 2" "1 1 2" "2 2 -3"
    npy b.npy '<f8' False '2, 2' d 1 2 3 4
    npy c.npy '<f4' True '2, 2' f 10 30 20 40
    for strategy in csr neighbor bin; do
        run 0 "$prog" mul --strategy=$strategy -a a.mtx -b b.npy -c c.npy --alpha=2 --beta=.5 -o d.npy
        gives d.npy 9 -3 18 -4
        run 0 "$prog" mul --strategy=$strategy -a a.mtx -b b.npy -c c.npy --alpha=2 --beta=.5 --bias=1 --relu --cap=15 -o d.npy
        gives d.npy 10 0 15 0
        npy bias.npy '<f8' False '2,' d 100 200
        run 0 "$prog" mul --strategy=$strategy -a a.mtx -b b.npy --bias=bias.npy -o d.npy
        gives d.npy 102 191 104 188
        npy bias.npy '<f8' False '1, 2' d 100 200
        run 0 "$prog" mul --strategy=$strategy -a a.mtx -b b.npy --bias=bias.npy -o d.npy
        gives d.npy 102 91 204 188
    done
    npy bias.npy '<f8' False '3,' d 1 2 3
    run 3 "$prog" mul -a a.mtx -b b.npy --bias=bias.npy
    says 'bias'
}

# 4096 ones in f16 would stop at 2048, 1000 ones in bf16 at 256, were the sums kept in these.
case_halves_are_summed_in_float() {
    "$prog" gen pruned --rows=1 --cols=3000 --density=1 -o a.mtx
    npy b.npy '<f2' False '3000,' S $(yes 15360 | head -3000)
    for strategy in csr neighbor bin; do
        run 0 "$prog" mul --strategy=$strategy -a a.mtx -b b.npy --out-dtype=f32 -o c.npy
        gives c.npy 3000
    done
    npy b.npy '<u2' False '3000,' S $(yes 16256 | head -3000)
    run 0 "$prog" mul -a a.mtx -b b.npy --bf16 --out-dtype=f32 -o c.npy
    gives c.npy 3000
    run 3 "$prog" mul -a a.mtx -b a.mtx --bf16
}

# NaN and infinity of B spread as IEEE 754 has it, to rows that refer to them only.
case_not_a_number() {
    sparse a.mtx "pattern general" "3 2" "1 1" "2 2" "3 1" "3 2"
    npy b.npy '<f8' False '2,' d nan 1
    run 0 "$prog" mul -a a.mtx -b b.npy -o c.npy
    [[ "$(numbers c.npy | tr '\n' ' ' | tr 'A-Z' 'a-z' | sed 's/-nan/nan/g')" == 'nan 1 nan ' ]] || fail "$(numbers c.npy)"
    run 0 "$prog" mul --reduce=max -a a.mtx -b b.npy -o c.npy
    [[ "$(numbers c.npy | tr '\n' ' ' | tr 'A-Z' 'a-z' | sed 's/-nan/nan/g')" == 'nan 1 nan ' ]] || fail "$(numbers c.npy)"
    sparse a.mtx "real general" "1 2" "1 1 nan"
    run 3 "$prog" mul -a a.mtx -b b.npy
    says 'a.mtx:3:'
    run 0 "$prog" mul --keep-nonfinite -a a.mtx -b b.npy
}

case_sampled_products() {
    sparse s.mtx "real general" "2 2" "1 1 2" "2 1 3" "2 2 4"
    npy x.npy '<f4' False '2, 4' f 1 2 3 4 5 6 7 8
    npy y.npy '<f4' False '2, 4' f 1 0 1 0 0 1 0 2
    run 0 "$prog" sddmm -s s.mtx -x x.npy -y y.npy -o e.npy
    gives e.npy 4 12 22
    run 0 "$prog" sddmm -s s.mtx -x x.npy -y y.npy --mask=mul --alpha=.5 -o e.npy
    gives e.npy 4 18 44
    run 0 "$prog" sddmm -s s.mtx -x x.npy -y y.npy --heads=2 -o e.npy
    gives e.npy 1 5 6 3 7 16
    run 0 "$prog" sddmm -s s.mtx -x x.npy -y y.npy --op=sub -o e.npy
    gives e.npy 0 4 5 2 6 5 2 6 7 4 8 6
    run 0 "$prog" sddmm -s s.mtx -x x.npy -y y.npy --op=mul --array
    run 0 "$prog" sddmm -s s.mtx -x x.npy -y y.npy
    [[ "$(grep -v '^%' out | tr '\n' ';')" == '2 2 3;1 1 4;2 1 12;2 2 22;' ]] || fail "$(cat out)"
    run 3 "$prog" sddmm -s s.mtx -x x.npy -y y.npy --heads=3
    says 'heads'
    npy y.npy '<f4' False '3, 4' f 1 0 1 0 0 1 0 2 1 1 1 1
    run 3 "$prog" sddmm -s s.mtx -x x.npy -y y.npy
    says 'Y has 3 rows'
    run 2 "$prog" sddmm -s - -x -
    run 2 "$prog" sddmm -s s.mtx -x x.npy --op=add --heads=2
}

# ---- what the program says of itself

case_info() {
    "$prog" gen star --rows=100 --degree=3 -o a.mtx
    run 0 "$prog" info -k 16 a.mtx
    grep -qx 'rows,100' out && grep -qx 'row_max,100' out && grep -q '^k16.bound_ms,' out && grep -q '^k16.flops,' out || fail "$(cat out)"
    run 0 "$prog" pack -q a.mtx -o a.spk
    run 0 "$prog" info --no-measure a.spk
    grep -qx 'packed.strategy,neighbor' out || fail "$(cat out)"
    [[ $(sed -n 's/^nnz,//p' out) == $(sed -n 's/^packed.covered,//p' out) ]] || fail "not every entry is covered"
}

case_bench() {
    "$prog" gen regular --rows=200 --degree=20 -o a.mtx
    run 0 "$prog" bench -k 5,16 --rounds=1 --dtypes=f64,f16 a.mtx
    [[ $(head -1 out) == op,strategy,K,dtype,threads,pack_ms,ms_min,ms_med,gflops,gbs,roof_pct,err_ratio ]] || fail "header: $(head -1 out)"
    [[ $(grep -c ^mul, out) -ge 12 ]] || fail "rows: $(cat out)"
    run 0 "$prog" bench -k 16 --rounds=1 --op=sddmm a.mtx
    [[ $(grep -c ^sddmm, out) -eq 1 ]] || fail "$(cat out)"
}

case_report() {
    "$prog" gen regular --rows=200 --degree=20 -o a.mtx
    vec b.mtx $(seq 200)
    run 0 "$prog" mul --threads=1 -v -a a.mtx -b b.mtx --report=r.csv -o c.npy
    says 'share'
    [[ $(column r.csv nnz) -eq 4000 && $(column r.csv command) == mul ]] || fail "$(cat r.csv)"
}

case_generators() {
    local family
    for family in powerlaw rmat regular pruned block banded star; do
        run 0 "$prog" gen $family --rows=64 --seed=9 -o 1.mtx
        run 0 "$prog" gen $family --rows=64 --seed=9 -o 2.mtx
        same 1.mtx 2.mtx
        run 0 "$prog" gen $family --rows=64 --seed=10 -o 3.mtx
        ! cmp -s 1.mtx 3.mtx || fail "$family does not depend on the seed"
        run 0 "$prog" unpack 1.mtx
    done
    run 2 "$prog" gen nonsense
    run 2 "$prog" gen rmat --rows=4 --cols=5
    run 2 "$prog" gen
}

# ---- wrong use

case_wrong_use() {
    sparse a.mtx "real general" "2 2" "1 1 2"
    vec b.mtx 1 2 3
    run 2 "$prog" mul
    says 'both be standard input'
    run 2 "$prog" nonsense
    run 2 "$prog" mul -a a.mtx -b b.mtx extra
    run 2 "$prog" mul --strategy=best -a a.mtx -b b.mtx
    says 'none of'
    run 3 "$prog" mul -a a.mtx -b b.mtx
    says 'b.mtx: B is 3 x 1; 2 x 1 is needed'
    vec b.mtx 1 2
    vec c.mtx 1 2 3
    run 3 "$prog" mul -a a.mtx -b b.mtx -c c.mtx
    says 'c.mtx: C is 3 x 1'
    run 4 "$prog" mul -a none.mtx -b b.mtx
    run 2 "$prog" pack --np=5 --row-cost=10 --strategy=neighbor a.mtx
    says '--np must be greater'
    run 2 "$prog" pack --bin=1 --row-panel=1 --strategy=bin <(echo '%%MatrixMarket matrix coordinate pattern general'; echo '2000000 2000000 0')
    says 'take larger ones'
    run 5 "$prog" mul --device=cuda -a a.mtx -b b.mtx
    sparse a.mtx "complex general" "2 2" "1 1 2 1"
    run 3 "$prog" mul -a a.mtx -b b.mtx
    says 'complex'
    echo >empty
    run 3 "$prog" mul -a empty -b b.mtx
    run 3 "$prog" mul -a a.mtx -b empty
}

case_failures_leave_nothing() {
    sparse a.mtx "real general" "2 2" "1 1 2"
    vec b.mtx 1 2 3
    echo old >c.npy
    run 3 "$prog" mul -a a.mtx -b b.mtx -o c.npy
    [[ $(cat c.npy) == old ]] || fail "c.npy was touched"
    vec b.mtx 1 2
    if [[ -w /dev/full ]]; then
        run 4 "$prog" mul -a a.mtx -b b.mtx -o /dev/full
    fi
    only a.mtx b.mtx c.npy
}

case_hostile_matrix_market() {
    printf '%%%%MatrixMarket matrix coordinate real general\n3 3 1152921504606846976\n1 1 1\n' >a.mtx
    run 3 "$prog" unpack a.mtx
    printf '%%%%MatrixMarket matrix coordinate real hermitian\n1 1 1\n1 1 1\n' >a.mtx
    run 3 "$prog" unpack a.mtx
}

case_options_are_those_of_the_manual() { manual_has_the_options spmm-pack.1 $("$prog" --help | sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p'); }

# ---- real data

# Every mangled file is read or refused, never worse.
case_mangled_files() {
    needs_shared hostile
    local file code
    for file in "$shared"/hostile/*; do
        code=0
        timeout 20 "$prog" unpack "$file" >out 2>err || code=$?
        [[ $code -eq 0 || $code -eq 3 ]] || fail "$file: exit code $code: $(cat err)"
        [[ $code -eq 0 || -s err ]] || fail "$file: refused without a word"
    done
}

case_normalised_cora() {
    needs_shared graphs/cora/adjacency.mtx
    run 0 "$prog" info --no-measure --self-loops=add --norm=gcn "$shared/graphs/cora/adjacency.mtx"
    grep -qx 'nnz,13264' out || fail "$(cat out)"
    run 0 "$prog" unpack --self-loops=add --norm=gcn "$shared/graphs/cora/adjacency.mtx"
    mv out normalised
    run 0 "$prog" unpack --self-loops=add "$shared/graphs/cora/adjacency.mtx"
    # each entry is 1 / sqrt(degree degree); the published sum, 2505.339355, was taken in float
    perl -e 'sub entries { open my $f, "<", $_[0]; my @e = map { [split] } grep { !/^%/ } <$f>; shift @e; @e }
             my @n = entries("normalised"); my @a = entries("out"); my (%degree, $sum);
             $degree{$_->[0]}++ for @a;
             @n == @a or die "entries";
             for (@n) { $sum += $_->[2]; abs($_->[2] - 1 / sqrt($degree{$_->[0]} * $degree{$_->[1]})) < 1e-15 or die "@$_" }
             abs($sum - 2505.339355) < 2505 * 2 ** -23 && $n[0][2] == 0.25 or die "sum $sum, first $n[0][2]\n"' || fail "not the known values"
}

# 30 layers as a pipeline of products: 1200 images, all categories right, sum 622592.
case_graph_challenge() {
    needs_shared graphchallenge/n1024-l1.mtx.zst
    local d=$shared/graphchallenge layer
    # features by images: columns of the matrix of images become columns of B
    "$prog" unpack --transpose "$d/sparse-images-1024_subset.mtx.zst" -o images.mtx
    perl -e 'open my $f, "<", "images.mtx"; my ($r, $c, @v); while (<$f>) { next if /^%/; my @f = split; if (!$r) { ($r, $c) = @f; @v = (0) x ($r * $c); next } $v[($f[0] - 1) * $c + $f[1] - 1] = $f[2] }
             my $h = "{\x27descr\x27: \x27<f4\x27, \x27fortran_order\x27: False, \x27shape\x27: ($r, $c), }"; $h .= " " x ((64 - (10 + length($h) + 1) % 64) % 64) . "\n";
             open my $o, ">", "y.npy"; binmode $o; print $o "\x93NUMPY\x01\x00", pack("v", length $h), $h, pack("f<*", @v)'
    for layer in $(seq 30); do
        "$prog" mul -q -a "$d/n1024-l$layer.mtx.zst" --transpose -b y.npy --bias=-0.3 --relu --cap=32 -o z.npy
        mv z.npy y.npy
    done
    zstd -dcq "$d/neuron1024-l120-categories_subset.mtx.zst" | grep -v '^%' | tail -n +2 | cut -d' ' -f1 | sort -n >right
    perl -e 'local $/; open my $f, "<", "y.npy"; my $t = <$f>; my $h = 10 + unpack "x8 v", $t; my ($r, $c) = substr($t, 0, $h) =~ /shape.: \((\d+), (\d+)\)/; my @v = unpack "(f<)*", substr $t, $h;
             my ($sum, %on) = 0; for my $i (0 .. $#v) { $sum += $v[$i]; $on{$i % $c + 1} = 1 if $v[$i] } print STDERR "$sum\n"; print "$_\n" for sort { $a <=> $b } keys %on' >got 2>sum
    [[ $(cat sum) == 622592 ]] || fail "sum $(cat sum)"
    same got right
}

run_cases "$@"
