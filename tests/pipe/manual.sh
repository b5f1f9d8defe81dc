#!/bin/bash
# tests/pipe/manual.sh: the manual pages: clean mdoc, the same options as --help both ways, examples that run.
. "$(dirname "$0")/lib.sh"

case_lint() {
    needs mandoc
    local page bad=0
    for page in "$HU_SRC"/man/*.[1-9]; do
        mandoc -T lint -W style "$page" >lint 2>&1 || true
        # the references to pages that only the installed system has are not faults of the text
        grep -v 'referenced manual not found\|outdated mandoc.db\|unknown font' lint | sed "s|$HU_SRC/||; s/^/# /" >rest || true
        [[ -s rest ]] && { cat rest; bad=1; }
    done
    [[ $bad -eq 0 ]] || fail "mandoc has remarks"
}

case_options_are_those_of_help() { manual_has_the_options sptrsv-solve.1; }

case_scheme_words_are_documented() {
    local key
    for key in kind arith node rows merge index super fat rhs tile; do
        grep -Eq "^\.It (Cm )?$key" "$HU_SRC/man/sptrsv-solve.1" || fail "scheme key $key is not in the manual"
    done
}

# The displays of EXAMPLES that start with `$ ` are run one after another in one folder, with samples/ at hand.
case_examples_run() {
    local page n=0 line
    ln -s "$HU_SRC/samples" samples
    mkdir bin
    for page in "$HU_SRC"/man/*.1; do ln -s "$HU_BUILD/$(basename "$page" .1)" bin; done
    PATH=$PWD/bin:$PATH
    for page in "$HU_SRC"/man/*.1 "$HU_SRC/man/hpcutils.7"; do
        perl -e 'local $/; open my $f, "<", $ARGV[0]; my $t = <$f>; my ($x) = $t =~ /^\.Sh EXAMPLES\n(.*?)(?=^\.Sh |\z)/ms or exit; 
                 while ($x =~ /^\.Bd -literal[^\n]*\n(.*?)^\.Ed/msg) { my $d = $1; $d =~ s/\\e/\\/g; $d =~ s/\\\n\s*/ /g; print map { /^\$ (.*)/ ? "$1\n" : () } split /\n/, $d }' "$page" >commands
        while IFS= read -r line; do
            n=$((n + 1))
            run 0 bash -o pipefail -c "$line" </dev/null
        done <commands
    done
    [[ $n -ge 5 ]] || fail "only $n examples found"
}

run_cases "$@"
