#!/usr/bin/perl
# mtz-read.pl: prints a trace of form 1.x as trace-compress cat --no-time does, from the description in hpcutils-trace(5) alone.
# Usage: zstd -dc F.mtz | mtz-read.pl
use strict;
use warnings;
use JSON::PP;

binmode STDIN;
local $/;
my $tar = <STDIN>;
my ($bytes, $at);

sub unsigned { my ($v, $s) = (0, 0); while (1) { my $b = ord substr $bytes, $at++, 1; $v |= ($b & 127) << $s; return $v if $b < 128; $s += 7 } }
sub signed { my $u = unsigned(); return $u & 1 ? -($u >> 1) - 1 : $u >> 1 }
sub list { my ($n, @l) = (signed()); while (@l < $n) { my ($f, $s, $c) = (signed(), signed(), signed()); push @l, map { $f + $s * $_ } 0 .. $c - 1 } return @l }

my %name = (n => 'count', t => 'type', p => 'peer', g => 'tag', c => 'comm', k => 'root', o => 'op', i => 'int', u => 'buf', r => 'request', q => 'newrequest', m => 'message',
    M => 'newmessage', e => 'group', E => 'newgroup', w => 'win', W => 'newwin', h => 'file', H => 'newfile', y => 'session', L => 'newsession', O => 'newop', f => 'flag',
    x => 'index', C => 'newcomm', s => 'status', Y => 'newtype', N => 'counts', D => 'ints', T => 'types', P => 'peers', R => 'requests', X => 'indices', Z => 'statuses');
my %width = (s => 3, Z => 3, Y => 4);
my ($head, @function, @type, @stream);

sub defs {
    my @world = list();
    for (1 .. signed()) {
        push @stream, [signed(), signed()];
        signed() for 1 .. 4;
        next if $head->{time} eq 'none';
        signed();
        for (1 .. 2) { if (signed() >= 0) { signed(); signed() } }
    }
}

sub value { my ($letter, $v) = @_; return ($letter eq 't' || $letter eq 'T') && $v >= 0 && $v < @type ? $type[$v][0] : $v }

sub argument {
    my ($letter) = @_;
    my $array = $letter =~ /[NDTPRXZ]/;
    my $width = $width{$letter} || 1;
    my $n = $array ? signed() : 1;
    my @item = map { my @v = map { value($letter, signed()) } 1 .. $width; $width > 1 ? '(' . join(',', @v) . ')' : $v[0] } 1 .. $n;
    return " $name{$letter}=" . ($array ? '[' . join(',', @item) . ']' : $item[0]);
}

sub events {
    my $stream = $stream[unsigned()];
    my $n = unsigned();
    signed();
    for (1 .. $n) {
        my $code = unsigned();
        signed() for 1 .. 2;
        my $polls = $code & 2 ? unsigned() : 0;
        unsigned() if $code & 2;
        my $f = $function[$code >> 3];
        print $stream->[0], ($stream->[1] ? ".$stream->[1]" : ''), " $f->[0]", (map { argument($_) } split //, $f->[1]), ($code & 2 ? " polls=$polls busy=0" : ''),
            ($code & 1 ? ' error' : ''), ($code & 4 ? ' gap' : ''), "\n";
    }
}

for (my $p = 0; $p < length $tar;) {
    my $name = unpack 'Z100', substr $tar, $p, 100;
    last if $name eq '';
    my $size = oct unpack 'Z12', substr $tar, $p + 124, 12;
    $bytes = substr $tar, $p + 512, $size;
    $p += 512 + int(($size + 511) / 512) * 512;
    if ($name eq 'manifest.json') {
        my $m = decode_json($bytes);
        die "no trace of form 1.x\n" unless $m->{kind} eq 'mpi-trace' && $m->{major} == 1;
        $head = $m->{content};
        @function = @{$head->{functions}};
        @type = @{$head->{types}};
    }
    $bytes = substr $bytes, 0, -4; # the CRC
    $at = 0;
    defs() if $name eq 'defs';
    events() if $name =~ m{^events/};
    exit 0 if $name eq 'index';
}
die "cut short\n";
