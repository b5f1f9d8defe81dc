#!/bin/bash
# tests/pipe/io.sh: where inputs come from and results go to: pipes, files, compressed files, archives, full discs, killed runs.
. "$(dirname "$0")/lib.sh"

small() { # L.mtx, b.mtx with the solution 1 1 1
    coo L.mtx "3 3" "1 1 1" "2 1 1" "2 2 2" "3 1 2" "3 2 -1" "3 3 4"
    vec b.mtx 1 3 5
}

# ---- pipes and files -------------------------------------------------------------------------------------------------

case_rhs_from_pipe() {
    small
    cat b.mtx | "$prog" L.mtx >out 2>err || fail "exit code $?"
    gives out 1 1 1
    silent
}

case_rhs_dash() {
    small
    run 0 "$prog" L.mtx -b - -o - <b.mtx
    gives out 1 1 1
}

case_matrix_dash() {
    small
    cat L.mtx | "$prog" - -b b.mtx >out 2>err || fail "exit code $?"
    gives out 1 1 1
}

case_both_dash() {
    small
    run 2 "$prog" - -b - <L.mtx
    no_output
}

case_output_file() {
    small
    run 0 "$prog" L.mtx -b b.mtx -o x.mtx
    no_output
    silent
    gives x.mtx 1 1 1
    only L.mtx b.mtx x.mtx
}

case_output_follows_suffix() {
    small
    for suffix in mtx npy csv; do
        run 0 "$prog" L.mtx -b b.mtx -o "x.$suffix"
        gives "x.$suffix" 1 1 1
    done
    [[ $(head -c 6 x.npy | od -An -tx1 | tr -d ' ') == 934e554d5059 ]] || fail "x.npy is no npy file"
    head -1 x.mtx | grep -q '^%%MatrixMarket matrix array real general$' || fail "x.mtx is no array file"
}

case_output_follows_rhs() {
    small
    run 0 "$prog" L.mtx -b b.mtx
    head -1 out | grep -q '^%%MatrixMarket matrix array' || fail "an mtx right-hand side gives no mtx"
    npy b.npy '<f8' False '3,' d 1 3 5
    run 0 "$prog" L.mtx -b b.npy
    [[ $(head -c 6 out | od -An -tx1 | tr -d ' ') == 934e554d5059 ]] || fail "an npy right-hand side gives no npy"
    gives out 1 1 1
    run 0 "$prog" L.mtx <b.npy
    gives out 1 1 1
}

case_output_replaces_file_and_keeps_mode() {
    small
    echo old >x.mtx
    chmod 640 x.mtx
    run 0 "$prog" L.mtx -b b.mtx -o x.mtx
    gives x.mtx 1 1 1
    [[ $(stat -c %a x.mtx) == 640 ]] || fail "mode $(stat -c %a x.mtx)"
}

case_output_through_link() {
    small
    echo old >target.mtx
    ln -s target.mtx x.mtx
    run 0 "$prog" L.mtx -b b.mtx -o x.mtx
    [[ -L x.mtx ]] || fail "the link was replaced"
    gives target.mtx 1 1 1
}

case_output_over_its_own_input() {
    small
    run 0 "$prog" L.mtx -b b.mtx -o b.mtx
    gives b.mtx 1 1 1
}

case_no_final_newline() {
    small
    printf '%s' "$(cat L.mtx)" >L2.mtx
    printf '%s' "$(cat b.mtx)" >b2.mtx
    run 0 "$prog" L2.mtx -b b2.mtx
    gives out 1 1 1
}

case_slow_pipe() { # bytes that come in small pieces
    small
    perl -e '$| = 1; open my $f, "<", "L.mtx"; while (read $f, my $c, 7) { print $c; select undef, undef, undef, 0.005 }' |
        "$prog" - -b b.mtx >out 2>err || fail "exit code $?"
    gives out 1 1 1
}

# ---- compressed files and archives -----------------------------------------------------------------------------------

compressed() { # compressed TOOL SUFFIX
    needs "$1"
    small
    "$1" -c L.mtx >"L.mtx.$2"
    "$1" -c b.mtx >"b.mtx.$2"
    run 0 "$prog" "L.mtx.$2" -b "b.mtx.$2"
    gives out 1 1 1
    run 0 "$prog" L.mtx <"b.mtx.$2"
    gives out 1 1 1
    head -c 40 "L.mtx.$2" >cut
    run 3 "$prog" cut -b b.mtx
    says 'cut'
}
case_gzip() { compressed gzip gz; }
case_xz() { compressed xz xz; }
case_zstd() { compressed zstd zst; }
case_bzip2() { compressed bzip2 bz2; }

case_gzip_two_members() {
    small
    { head -4 L.mtx | gzip -c; tail -n +5 L.mtx | gzip -c; } >L.mtx.gz
    run 0 "$prog" L.mtx.gz -b b.mtx
    gives out 1 1 1
}

case_suitesparse_archive() { # NAME.tar.gz holding NAME/NAME.mtx and others, as downloaded
    small
    mkdir toy
    mv L.mtx toy/toy.mtx
    cp b.mtx toy/toy_b.mtx
    tar -czf toy.tar.gz toy
    rm -r toy
    run 0 "$prog" toy.tar.gz -b toy.tar.gz:toy/toy_b.mtx
    gives out 1 1 1
    run 0 "$prog" - -b b.mtx <toy.tar.gz || true
}

case_archive_without_a_choice() {
    small
    cp L.mtx M.mtx
    tar -cf two.tar L.mtx M.mtx
    run 3 "$prog" two.tar -b b.mtx
    says 'L\.mtx'
    says 'M\.mtx'
    run 0 "$prog" two.tar:M.mtx -b b.mtx
    gives out 1 1 1
}

case_archive_with_one_matrix() {
    small
    echo words >README
    tar -cJf one.tar.xz README L.mtx
    run 0 "$prog" one.tar.xz -b b.mtx
    gives out 1 1 1
}

# What scipy.sparse.save_npz writes of lower triangular 1 0 0 / 1 2 0 / 2 -1 4: a zip of .npy members.
npz() { # npz FILE csr|csc METHOD(stored|deflate), in a folder with the .npy members
    perl -MIO::Compress::Zip=:all -e 1 2>/dev/null || skip "no IO::Compress::Zip in this perl"
    npy indices.npy '<i4' False '6,' l $(if [[ $2 == csr ]]; then echo 0 0 1 0 1 2; else echo 0 1 2 1 2 2; fi)
    npy data.npy '<f8' False '6,' d 1 1 2 2 -1 4
    npy indptr.npy '<i4' False '4,' l $(if [[ $2 == csr ]]; then echo 0 1 3 6; else echo 0 3 5 6; fi)
    npy shape.npy '<i8' False '2,' q 3 3
    npy format.npy '|S3' False '' d
    printf %s "$2" >>format.npy
    perl -MIO::Compress::Zip=:all -e '
        my ($out, $method) = @ARGV; my @in = map { "$_.npy" } qw(indices indptr format shape data);
        zip \@in => $out, Method => $method eq "stored" ? ZIP_CM_STORE : ZIP_CM_DEFLATE or die $ZipError' "$1" "$3"
}

case_npz() {
    small
    local kind method
    for kind in csr csc; do
        for method in stored deflate; do
            npz L.npz $kind $method
            run 0 "$prog" L.npz -b b.mtx
            gives out 1 1 1
        done
    done
    head -c $(($(stat -c %s L.npz) / 2)) L.npz >cut.npz
    run 3 "$prog" cut.npz -b b.mtx
    says 'cut\.npz'
    npz coo.npz coo deflate
    run 3 "$prog" coo.npz -b b.mtx
    says 'coo.*csr'
    run 3 "$prog" L.npz:absent.npy -b b.mtx
    says 'indptr\.npy'
    cp L.mtx fake.npz
    run 3 "$prog" fake.npz -b b.mtx
    says 'fake\.npz'
}

case_zip_with_one_matrix() {
    small
    perl -MIO::Compress::Zip=:all -e 'zip "L.mtx" => "L.zip" or die' 2>/dev/null || skip "no IO::Compress::Zip in this perl"
    run 0 "$prog" L.zip -b b.mtx
    gives out 1 1 1
    run 0 "$prog" - -b b.mtx <L.zip
    gives out 1 1 1
}

# ---- what goes wrong outside -----------------------------------------------------------------------------------------

case_absent_file() {
    small
    run 4 "$prog" absent.mtx -b b.mtx
    says 'absent\.mtx: .*No such file'
    run 4 "$prog" L.mtx -b absent.mtx
    says 'absent\.mtx'
}

case_folder_as_input() {
    small
    mkdir folder
    run 4 "$prog" folder -b b.mtx
    says 'folder'
    run 4 "$prog" L.mtx -b folder
    says 'folder'
}

case_folder_as_output() {
    small
    mkdir folder
    run 4 "$prog" L.mtx -b b.mtx -o folder
    says 'folder: .*directory'
    [[ -d folder ]] || fail "the folder is gone"
}

case_output_in_absent_folder() {
    small
    run 4 "$prog" L.mtx -b b.mtx -o absent/x.mtx
    says 'absent/x\.mtx'
    only L.mtx b.mtx
}

case_read_only_folder() {
    small
    needs_user
    mkdir shut
    chmod 555 shut
    touch out err
    chmod 666 out err L.mtx b.mtx
    chmod 755 .
    local got=0
    as_user "$prog" L.mtx -b b.mtx -o shut/x.mtx >out 2>err || got=$?
    [[ $got -eq 4 ]] || fail "exit code $got, expected 4: $(head -1 err)"
    says 'shut/x\.mtx: .*[Pp]ermission'
    absent shut/x.mtx
}

case_read_only_output_and_input() {
    small
    needs_user
    chmod 777 .
    echo old >x.mtx
    chmod 444 x.mtx
    local got=0
    as_user "$prog" L.mtx -b b.mtx -o x.mtx >out 2>err || got=$?
    [[ $got -eq 4 ]] || fail "read-only output: exit code $got, expected 4"
    [[ $(cat x.mtx) == old ]] || fail "a read-only file was replaced"
    chmod 000 L.mtx
    got=0
    as_user "$prog" L.mtx -b b.mtx >out 2>err || got=$?
    [[ $got -eq 4 ]] || fail "unreadable input: exit code $got, expected 4"
    chmod 644 L.mtx
}

case_full_disc() {
    small
    [[ -c /dev/full ]] || skip "no /dev/full"
    local got=0
    "$prog" L.mtx -b b.mtx >/dev/full 2>err || got=$?
    [[ $got -eq 4 ]] || fail "exit code $got, expected 4"
    says 'standard output: .*space'
    run 4 "$prog" L.mtx -b b.mtx -o /dev/full
    says '/dev/full: .*space'
    run 4 "$prog" L.mtx -b b.mtx --report=/dev/full
    says '/dev/full'
}

case_full_disc_for_text() { # --help, --version and --info are results too
    small
    [[ -c /dev/full ]] || skip "no /dev/full"
    local got=0
    "$prog" --info L.mtx >/dev/full 2>err || got=$?
    [[ $got -eq 4 ]] || fail "--info: exit code $got, expected 4"
}

case_file_size_limit() { # a write that fails in the middle leaves nothing
    big
    echo old >x.mtx
    local got=0
    (trap '' XFSZ; ulimit -f 64; "$prog" L.mtx -b b.mtx -o x.mtx >out 2>err) || got=$?
    [[ $got -eq 4 ]] || fail "exit code $got, expected 4"
    [[ $(cat x.mtx) == old ]] || fail "the target was touched"
    only L.mtx b.mtx x.mtx
}

big() { # a diagonal system whose answer is larger than any pipe's buffer
    perl -e 'my $n = 200000; open my $f, ">", "L.mtx"; print $f "%%MatrixMarket matrix coordinate real general\n$n $n $n\n"; print $f "$_ $_ 3\n" for 1 .. $n;
             open $f, ">", "b.mtx"; print $f "%%MatrixMarket matrix array real general\n$n 1\n", "1\n" x $n;'
}

case_closed_pipe() {
    big
    local status
    set +e
    "$prog" L.mtx -b b.mtx 2>err | head -c 0
    status=${PIPESTATUS[0]}
    set -e
    silent
    [[ $status -eq 141 || $status -eq 0 ]] || fail "exit code $status, expected the signal's 141"
    set +e
    "$prog" L.mtx -b b.mtx 2>err | head -1 >line
    status=${PIPESTATUS[0]}
    set -e
    silent
    [[ $status -eq 141 ]] || fail "exit code $status, expected the signal's 141"
    [[ $(cat line) == '%%MatrixMarket'* ]] || fail "no first line"
}

case_closed_pipe_when_sigpipe_is_ignored() { # as under some service managers
    big
    local status
    set +e
    (trap '' PIPE; exec "$prog" L.mtx -b b.mtx 2>err) | head -c 0
    status=${PIPESTATUS[0]}
    set -e
    says_not 'Broken pipe|Segmentation'
    [[ $status -ne 0 && $status -ne 139 ]] || fail "exit code $status"
}

case_closed_standard_output() {
    small
    local got=0
    "$prog" L.mtx -b b.mtx >&- 2>err || got=$?
    [[ $got -eq 4 ]] || fail "exit code $got, expected 4"
}

# A run that waits for its right-hand side while its output is open, then is killed: the target is untouched, nothing is left.
killed() { # killed SIGNAL
    small
    echo old >x.mtx
    mkfifo feed
    "$prog" --rhs-stream L.mtx -b - -o x.mtx <feed >out 2>err &
    local pid=$! rc=0
    exec 9>feed
    cat b.mtx >&9
    local i
    for i in $(seq 50); do # until it reads: then it is past its start
        [[ $(ls -l "/proc/$pid/fd" 2>/dev/null | wc -l) -gt 4 ]] && break
        sleep 0.05
    done
    sleep 0.2
    kill "-$1" "$pid" 2>/dev/null || fail "it ended before it was killed: $(head -1 err)"
    wait "$pid" || rc=$?
    exec 9>&-
    [[ $rc -gt 128 ]] || fail "exit code $rc, expected a signal's"
    [[ $(cat x.mtx) == old ]] || fail "the target was touched"
    only L.mtx b.mtx x.mtx feed
}
case_killed_by_kill() { needs_option --rhs-stream; killed KILL; }
case_killed_by_term() { needs_option --rhs-stream; killed TERM; }
case_interrupted() {
    needs_option --rhs-stream
    small
    echo old >x.mtx
    mkfifo feed
    perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' "$prog" --rhs-stream L.mtx -b feed -o x.mtx >out 2>err & # a shell lets background jobs ignore it
    local pid=$! rc=0
    exec 9>feed
    sleep 0.4
    kill -INT "$pid" 2>/dev/null || fail "it ended before it was interrupted: $(head -1 err)"
    wait "$pid" || rc=$?
    exec 9>&-
    [[ $rc -eq 130 ]] || fail "exit code $rc, expected 130"
    [[ $(cat x.mtx) == old ]] || fail "the target was touched"
    only L.mtx b.mtx x.mtx feed
}

case_truncated_pipe() {
    small
    head -c 60 L.mtx | { rc=0; "$prog" - -b b.mtx >out 2>err || rc=$?; [[ $rc -eq 3 ]] || fail "exit code $rc, expected 3"; }
    says 'standard input'
    no_output
}

case_empty_inputs() {
    small
    : >empty
    run 3 "$prog" empty -b b.mtx
    says 'empty'
    run 3 "$prog" L.mtx -b empty
    run 3 "$prog" L.mtx </dev/null
    no_output
}

case_out_of_memory() {
    sanitized && skip "a sanitized build needs the address space"
    coo L.mtx "2000000000 2000000000" "1 1 1"
    vec b.mtx 1
    local got=0
    (ulimit -v 3000000; timeout 60 "$prog" --threads=1 L.mtx -b b.mtx >out 2>err) || got=$?
    [[ $got -eq 4 ]] || fail "exit code $got, expected 4: $(head -1 err)"
    says 'memory'
}

case_memory_is_not_taken_on_trust() { # a header that promises entries which are not there
    vec b.mtx 1
    for size in "2 2 9000000000000000000" "9999999999 9999999999 1" "-3 -3 1" "3 3" "3 3 99999999999999999999999"; do
        printf '%s\n' '%%MatrixMarket matrix coordinate real general' "$size" '1 1 1' >L.mtx
        run 3 "$prog" L.mtx -b b.mtx
        says 'L\.mtx:[0-9]+: '
        no_output
    done
}

run_cases "$@"
