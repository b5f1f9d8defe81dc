# tests/pipe/lib.sh: a small frame for tests that drive the programs as a user does. Read by every tests/pipe/*.sh.
#
# A test file defines functions case_NAME, then calls run_cases. Each case runs in its own empty folder, in its own shell with -e,
# and prints one TAP line. A case ends early through `fail WHY` or `skip WHY`. `tests/pipe/x.sh NAME` runs one case alone.
#
# Sections: paths, running and judging, making inputs, reading outputs, manuals, the frame.

set -uo pipefail
export LC_ALL=C
unset HPCUTILS_TESTING POSIXLY_CORRECT ARGP_HELP_FMT

# ---- paths -----------------------------------------------------------------------------------------------------------

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
HU_SRC=${HU_SRC:-$(cd "$here/../.." && pwd)}
HU_BUILD=${HU_BUILD:-$HU_SRC/build}
shared=${HPCUTILS_DATA:-$HU_SRC/../shared/data} # public inputs, not part of the project; tests that want them are skipped without
prog=$HU_BUILD/sptrsv-solve
PATH=$HU_BUILD:$PATH

sanitized() { grep -q '^#define HU_SANITIZED' "$HU_BUILD/config.h"; }

# ---- running and judging ---------------------------------------------------------------------------------------------

fail() { echo "# $*"; exit 1; }
skip() { echo "# skip: $*"; exit 77; }

# run CODE COMMAND...: the command must end with exit code CODE. Its output stays in the files out and err. Standard input is
# what the caller gives.
run() {
    local want=$1 got=0
    shift
    timeout -k 5 120 "$@" >out 2>err || got=$?
    [[ $got -eq $want ]] && return 0
    echo "# command: $*"
    sed 's/^/# stderr: /' err | head -8
    fail "exit code $got, expected $want"
}

# says REGEX / says_not REGEX: standard error of the last run.
says() { grep -Eq -- "$1" err || { sed 's/^/# stderr: /' err | head -8; fail "standard error lacks /$1/"; }; }
says_not() { ! grep -Eq -- "$1" err || { sed 's/^/# stderr: /' err | head -8; fail "standard error has /$1/"; }; }
silent() { [[ ! -s err ]] || { sed 's/^/# stderr: /' err | head -8; fail "standard error is not empty"; }; }
no_output() { [[ ! -s out ]] || fail "standard output is not empty"; }
same() { cmp -s "$1" "$2" || fail "$1 and $2 differ"; }
absent() { [[ ! -e $1 ]] || fail "$1 exists"; }
less() { perl -e 'exit !($ARGV[0] < $ARGV[1])' "$1" "$2" || fail "$3: $1 is not below $2"; }

# No file is in the folder but those named (hidden ones count).
only() {
    local extra
    extra=$(find . -mindepth 1 -maxdepth 1 -printf '%f\n' | grep -vxF -f <(printf '%s\n' out err "$@") || true)
    [[ -z $extra ]] || fail "left behind: $extra"
}

# Skips the case where the program does not list the option: a capability that this build does not have.
needs_option() { grep -Eq -- "(^|[ ,])$1([[ =,]|$)" <<<"$("$prog" --help)" || skip "no option $1 in this build"; }
needs() { command -v "$1" >/dev/null 2>&1 || skip "no $1 on this machine"; }
needs_shared() { [[ -e $shared/$1 ]] || skip "no shared data ($1)"; }

# Runs a command as a user whom file modes bind: root passes every check of theirs.
as_user() {
    if [[ $(id -u) -ne 0 ]]; then "$@"; return; fi
    setpriv --reuid=65534 --regid=65534 --clear-groups -- "$@"
}
needs_user() {
    [[ $(id -u) -ne 0 ]] && return
    command -v setpriv >/dev/null || skip "root, and no setpriv to become somebody else"
    chmod 755 . "$work" 2>/dev/null
    as_user test -x "$prog" 2>/dev/null || skip "root, and an ordinary user cannot reach the build folder"
}

# ---- making inputs ---------------------------------------------------------------------------------------------------

# coo FILE "ROWS COLS" "i j v"...: coordinate real general.
coo() {
    local file=$1 size=$2
    shift 2
    { echo '%%MatrixMarket matrix coordinate real general'; echo "$size $#"; [[ $# -eq 0 ]] || printf '%s\n' "$@"; } >"$file"
}

# vec FILE v...: a vector as array real general.
vec() {
    local file=$1
    shift
    { echo '%%MatrixMarket matrix array real general'; echo "$# 1"; printf '%s\n' "$@"; } >"$file"
}

# npy FILE DESCR FORTRAN(True|False) SHAPE LETTER v...: values in the order of the file, packed as perl's LETTER (d f q l).
npy() {
    perl -e '
        my ($file, $descr, $fortran, $shape, $letter, @v) = @ARGV;
        my $head = "{\x27descr\x27: \x27$descr\x27, \x27fortran_order\x27: $fortran, \x27shape\x27: ($shape), }";
        $head .= " " x ((64 - (10 + length($head) + 1) % 64) % 64) . "\n";
        open my $f, ">", $file or die; binmode $f;
        print $f "\x93NUMPY\x01\x00", pack("v", length $head), $head, pack("$letter<*", @v);
        close $f or die;' "$@"
}

# grid5 NX NY FILE: lower triangle of the 5-point Laplacian.
grid5() {
    perl -e '
        my ($nx, $ny) = @ARGV; my $n = $nx * $ny; my $nnz = $n + ($nx - 1) * $ny + $nx * ($ny - 1);
        print "%%MatrixMarket matrix coordinate real general\n$n $n $nnz\n";
        for my $j (0 .. $ny - 1) { for my $i (0 .. $nx - 1) {
            my $r = $i + $nx * $j + 1;
            print "$r ", $r - $nx, " -1\n" if $j; print "$r ", $r - 1, " -1\n" if $i; print "$r $r 4\n";
        } }' "$1" "$2" >"$3"
}

# exact N WIDTH MATRIX VECTOR SOLUTION: a lower system of small integers whose every partial sum is exact in double, so that the one
# right answer is known to the bit: entries -2..2, diagonal 1, -1, 2 or -4, x in -8..8, b = L x. Lines are shuffled.
exact() {
    perl -e '
        my ($n, $width, $matrix, $vector, $solution, $seed) = @ARGV; srand($seed || 7);
        my (@lines, @b); my @x = map { int(rand 17) - 8 } 1 .. $n;
        for my $i (0 .. $n - 1) {
            my $d = (1, -1, 2, -4)[int rand 4]; my $s = $d * $x[$i]; push @lines, ($i + 1) . " " . ($i + 1) . " $d"; my %seen;
            for (1 .. 4) { last unless $i; my $w = $width < $i ? $width : $i; my $j = $i - 1 - int rand $w; next if $seen{$j}++;
                my $v = int(rand 5) - 2; push @lines, ($i + 1) . " " . ($j + 1) . " $v"; $s += $v * $x[$j]; }
            push @b, $s;
        }
        for (my $k = @lines; --$k;) { my $m = int rand($k + 1); @lines[$k, $m] = @lines[$m, $k]; }
        open my $f, ">", $matrix or die; print $f "%%MatrixMarket matrix coordinate integer general\n$n $n ", scalar @lines, "\n", map { "$_\n" } @lines; close $f;
        open $f, ">", $vector or die; print $f "%%MatrixMarket matrix array real general\n$n 1\n", map { "$_\n" } @b; close $f;
        open $f, ">", $solution or die; print $f map { "$_\n" } @x; close $f;' "$@"
}

# ---- reading outputs -------------------------------------------------------------------------------------------------

# numbers FILE: the values of a dense array .mtx, .npy or .csv, one a line, column by column.
numbers() {
    perl -e '
        my ($file) = @ARGV; open my $f, "<", $file or die "$file: $!\n"; binmode $f; local $/; my $t = <$f>;
        if (substr($t, 0, 6) eq "\x93NUMPY") {
            my ($major) = unpack "x6 C", $t; my ($len, $at) = $major == 1 ? (unpack("x8 v", $t), 10) : (unpack("x8 V", $t), 12);
            my $head = substr $t, $at, $len; my ($d) = $head =~ /descr.: .([<|]..)./ or die "no descr"; my ($fortran) = $head =~ /fortran_order.: (\w+)/;
            my ($shape) = $head =~ /shape.: \(([^)]*)\)/; my @s = grep { length } split /[, ]+/, $shape;
            my %letter = ("<f8" => "d<", "<f4" => "f<", "<i8" => "q<", "<i4" => "l<"); my @v = unpack "($letter{$d})*", substr $t, $at + $len;
            if (@s == 2 && $fortran eq "False") { my ($r, $c) = @s; @v = map { my $j = $_; map { $v[$_ * $c + $j] } 0 .. $r - 1 } 0 .. $c - 1; }
            printf "%.17g\n", $_ for @v;
        } elsif ($t =~ /^%%MatrixMarket\s+matrix\s+array/i) {
            my @l = grep { !/^\s*(%|$)/ } split /\n/, $t; shift @l; printf "%.17g\n", $_ for map { split } @l;
        } else { # rows of CSV, a header line of words allowed
            my @l = grep { !/^\s*(#|%|$)/ && /^[-+\d.]/ } split /\r?\n/, $t; my @r = map { [split /[,\s]+/] } @l;
            for my $j (0 .. $#{$r[0]}) { printf "%.17g\n", $_->[$j] for @r; }
        }' "$1"
}

# gives FILE v...: exactly these values, column by column.
gives() {
    local file=$1 got
    shift
    got=$(numbers "$file" | tr '\n' ' ') || fail "$file cannot be read"
    perl -e 'my ($g, @w) = @ARGV; my @g = split " ", $g; exit 1 if @g != @w; $g[$_] == $w[$_] or exit 1 for 0 .. $#w;' -- "$got" "$@" ||
        fail "$file holds: $got; expected: $*"
}

# gives_file FILE LIST: the same with the expected values in a file, one a line.
gives_file() {
    perl -e 'my ($a, $b) = map { open my $f, "<", $_ or die; [map { $_ + 0 } <$f>] } @ARGV; exit 1 if @$a != @$b; $a->[$_] == $b->[$_] or exit 1 for 0 .. $#$a;' \
        <(numbers "$1") "$2" || fail "$1 does not hold the exact solution"
}

# split_npy FILE PREFIX: a run of vectors in double, one after another, into PREFIX.1, PREFIX.2, ...
split_npy() {
    perl -e 'my ($file, $prefix) = @ARGV; local $/; open my $f, "<", $file; my $t = <$f>; my $i = 0;
             while (length $t) { my $h = 10 + unpack "x8 v", $t; my ($n) = substr($t, 0, $h) =~ /shape.: \((\d+),?\)/; my $s = $h + 8 * $n;
                 open my $g, ">", "$prefix." . ++$i; print $g substr $t, 0, $s; substr($t, 0, $s) = "" }' "$1" "$2"
}

# column FILE.csv NAME: the last row's field under that header.
column() {
    perl -e '
        my ($file, $name) = @ARGV; open my $f, "<", $file or die "$file: $!\n"; my (@h, $last);
        while (<$f>) { next if /^#/; if (!@h) { s/[\r\n]+$//; @h = split /,/; next } $last = $_ }
        die "no row\n" unless defined $last;
        my @v; my $l = $last; $l =~ s/[\r\n]+$//;
        while ($l =~ s/^(?:"((?:[^"]|"")*)"|([^,]*))(,|$)//) { push @v, defined $1 ? $1 : $2; last if $3 eq ""; }
        for (0 .. $#h) { if ($h[$_] eq $name) { print "$v[$_]\n"; exit 0 } } die "no column $name\n";' "$1" "$2"
}

# ---- manuals ---------------------------------------------------------------------------------------------------------

# manual_has_the_options PAGE [COMMAND...]: every option of --help (of the program, or of each of its commands) stands in man/PAGE or
# hpcutils(7), every option of the page in a --help, and with an argument in both or in neither.
manual_has_the_options() {
    local page=$HU_SRC/man/$1 command
    shift
    [[ $# -gt 0 ]] || set -- ""
    for command; do
        "$prog" $command --help | perl -ne 'next unless /^ {1,8}-/; s/^\s+//; s/ {2,}.*//;
            while (/(?:^|, )(--?[A-Za-z0-9][-A-Za-z0-9]*)(\[?=| [A-Z])?/g) { $n = $1; $arg = defined $2; $any ||= $arg; push @n, $n }
            print map { "$_ " . ($any ? "yes" : "no") . "\n" } @n; @n = (); $any = 0'
    done | sort -u >help
    local read='$xo = 1 if /^\.It Xo/; $xo = 0 if /^\.Xc/; next unless /^\.It Fl / || ($xo && /^\.Fl /); my $arg = /\b(Ar|Cm|Ns =)\b/ ? "yes" : "no"; print "-$1 $arg\n" while /Fl (-?[A-Za-z0-9?][-A-Za-z0-9]*)/g'
    perl -ne "$read" "$page" | sort -u >page
    perl -ne "$read" "$HU_SRC/man/hpcutils.7" | sort -u >common
    [[ -s help && -s page && -s common ]] || fail "no options found"
    grep -v '^-? ' page >page_only || true
    sort -u page common >documented
    comm -23 help documented >undocumented
    comm -13 help page_only >invented
    [[ ! -s undocumented ]] || fail "in --help, not in the manual: $(tr '\n' ';' <undocumented)"
    [[ ! -s invented ]] || fail "in the manual, not in --help: $(tr '\n' ';' <invented)"
}

# ---- the frame -------------------------------------------------------------------------------------------------------

work=
finish_frame() { [[ -z $work ]] || { chmod -R u+w "$work" 2>/dev/null; rm -rf "$work"; }; }

run_cases() {
    local names name rc n=0 bad=0 skipped=0 why
    if [[ $# -gt 0 ]]; then names=("$@"); else mapfile -t names < <(sed -n 's/^case_\([a-z0-9_]*\)().*/\1/p' "$0"); fi
    if [[ ! -x $prog ]]; then
        echo "1..1"; echo "not ok 1 - $(basename "$0"): $prog is not built"; exit 1
    fi
    work=$(mktemp -d "${TMPDIR:-/tmp}/hpcutils-pipe.XXXXXX")
    trap finish_frame EXIT
    echo "1..${#names[@]}"
    for name in "${names[@]}"; do
        n=$((n + 1))
        mkdir "$work/$name"
        ( cd "$work/$name" && set -e && "case_$name" ) >"$work/$name.log" 2>&1 </dev/null
        rc=$?
        case $rc in
            0) echo "ok $n - $name" ;;
            77) why=$(sed -n 's/^# skip: //p' "$work/$name.log" | tail -1)
                echo "ok $n - $name # SKIP $why"; skipped=$((skipped + 1)) ;;
            *) echo "not ok $n - $name"; sed 's/^\(# \)\{0,1\}/# /' "$work/$name.log"; bad=$((bad + 1)) ;;
        esac
        [[ $rc -eq 0 || $rc -eq 77 ]] && { chmod -R u+w "$work/$name" 2>/dev/null; rm -rf "${work:?}/$name"; }
    done
    [[ $bad -eq 0 ]] || exit 1
    [[ $skipped -lt $n ]] || exit 77
    exit 0
}
