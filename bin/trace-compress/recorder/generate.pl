#!/usr/bin/perl
# generate.pl: writes the recorder's wrappers from MPICH's own prototypes.
#
#     generate.pl mpi_proto.h mpio.h mpi.h >wrappers.c
#
# Every parameter gets a letter by its type and name (%letter below; lib/io/trace.h lists the letters); inputs are written before the call, results behind it.
# A function none of whose arguments are wanted is only counted. Fortran: mpif.h and `use mpi` reach MPI_X, as do the routines of mpi_f08 with choice buffers;
# all others of mpi_f08 call PMPI_X from libmpichfort, so each PMPI_X is there too and records when it is called from that library alone.
use strict;
use warnings;

my $text = '';
my @types; # named datatypes: "name handle size"
my %pair = (MPI_FLOAT_INT => 8, MPI_DOUBLE_INT => 12, MPI_LONG_INT => 12, MPI_SHORT_INT => 6, MPI_LONG_DOUBLE_INT => 20);
for my $file (@ARGV) {
    open my $f, '<', $file or die "$file: $!\n";
    local $/;
    my $t = <$f>;
    while ($t =~ /^#define +(MPI_\w+) +\(\(MPI_Datatype\)(0x[0-9a-f]+)\)/mg) {
        my ($name, $handle) = ($1, $2); # a basic handle has its size in the second byte
        my $size = $pair{$name} // (hex($handle) >> 24 == 0x4c ? hex($handle) >> 8 & 255 : next);
        push @types, "$name $handle $size" unless $name =~ /^MPI_(DATATYPE_NULL|LB|UB)$/;
    }
    $t =~ s{/\*.*?\*/}{}gs;
    $t =~ s{^#.*$}{}gm;
    $text .= $t;
}
$text =~ s/\s+/ /g;

# Not interposed: pure arithmetic on values, conversions between languages, and what is written by hand below.
my %left = map { $_ => 1 } qw(MPI_DUP_FN MPI_Pcontrol MPI_Aint_add MPI_Aint_diff MPI_Wtime MPI_Wtick);
# Only counted: they neither move data nor wait, and their arguments are not wanted.
my $counted = qr/^MPI_(Info_|Attr_|Keyval_|Initialized|Finalized|Get_(version|library|processor|count|elements|address)|Address|Query_thread|Is_thread|Error_|Add_error|Errhandler|
    .*_(keyval|attr|errhandler|get_name|set_name|get_info|set_info)$|Comm_(rank|size|remote_size|test_inter|compare|get_parent|get_attr)|Group_(rank|size|compare|translate_ranks)|
    Type_(size|get_extent|get_true_extent|get_envelope|get_contents|extent|lb|ub|get_name|hindexed_x)|Status_|Test_cancelled|Cart_(coords|rank|shift|get|map)|Cartdim|Graphdims|Graph_(get|map|neighbors)|
    Dist_graph_neighbors|Topo_test|Dims_create|Pack_|Pack|Unpack|Alloc_mem|Free_mem|Buffer_|Op_commutative|Session_(get|set|call)|File_get_|File_(call|create|set)_errhandler|Win_get_|Register_datarep|
    Open_port|Close_port|Lookup_name|Publish_name|Unpublish_name|Grequest_complete|Reduce_local)/x;
my $poll = qr/^MPI_(Test|Testall|Testany|Testsome|Iprobe|Improbe|Request_get_status|Parrived|Win_test)$/;

my (@functions, %seen);
while ($text =~ /\bint (MPI_[A-Z][a-z]\w*) ?\(([^()]*)\)/g) {
    my ($name, $list) = ($1, $2);
    next if $left{$name} || $seen{$name}++ || $list !~ /[a-z]/;
    my @parameters;
    for my $p ($list =~ /^\s*void\s*$/ ? () : split /\s*,\s*/, $list) {
        $p =~ s/^\s+|\s+$//g;
        $p =~ /^(.*?)(\w+) ?((?:\[\d*\])*)$/ or die "$name: cannot read '$p'\n";
        my ($type, $id, $array) = ($1, $2, $3);
        $type =~ s/\bMPIO_Request\b/MPI_Request/;
        (my $base = "$type$array") =~ s/\bconst\b|\s//g;
        $base =~ s/\[\]/*/;
        push @parameters, {text => $p, id => $id, type => $base};
    }
    push @functions, {name => $name, parameters => \@parameters};
}
@functions = sort { $a->{name} cmp $b->{name} } @functions;
die "no prototypes found\n" unless @functions > 300;

# ---- a parameter's letter, and whether it is put before (in) or behind (out) the call

my %integer = map { $_ => 1 } qw(int MPI_Count MPI_Aint MPI_Offset);
my %object = (MPI_Comm => 'c', MPI_Datatype => 't', MPI_Op => 'o', MPI_Group => 'e', MPI_Win => 'w', MPI_File => 'h', MPI_Session => 'y', MPI_Request => 'r', MPI_Message => 'm');
my %made = (MPI_Comm => 'C', MPI_Datatype => 'Y', MPI_Op => 'O', MPI_Group => 'E', MPI_Win => 'W', MPI_File => 'H', MPI_Session => 'L', MPI_Request => 'q', MPI_Message => 'M');

sub neighbour { $_[0] =~ /eighbor/ }

# The number of items of an array, as C.
sub length_of {
    my ($f, $p) = @_;
    my ($name, $id) = ($f->{name}, $p->{id});
    my %has = map { $_->{id} => 1 } @{$f->{parameters}};
    return $id =~ /^send|^sdisp/ ? 'out_degree' : 'in_degree' if neighbour($name) && $id =~ /counts|displs|types/;
    return 'peers' if $id =~ /^(sendcounts|recvcounts|sdispls|rdispls|displs|sendtypes|recvtypes)$/;
    return 'nnodes' if $id eq 'indx';
    return '(nnodes > 0 ? indx[nnodes - 1] : 0)' if $id eq 'edges';
    return 'ndims' if $id =~ /^(dims|periods|array_of_(gsizes|distribs|dargs|psizes|sizes|subsizes|starts))$/;
    return 'indegree' if $has{indegree} && $id =~ /^source/;
    return $has{outdegree} ? 'outdegree' : 'edges_in_all' if $id =~ /^dest|^weights/;
    return 'recorder_dims(comm)' if $id eq 'remain_dims';
    return 'n' if $has{n};
    return 'length' if $id eq 'array_of_partitions';
    return $has{incount} ? 'incount' : 'count';
}

sub letter_of {
    my ($f, $p) = @_;
    my ($name, $id, $type) = ($f->{name}, $p->{id}, $p->{type});
    my $free = $name =~ /_(free|disconnect|close|finalize|finalize)$|_free$/;
    if ($integer{$type}) {
        return ('g', 'in') if $id =~ /tag$/;
        return ('p', 'in') if $id =~ /^(dest|source|target_rank)$/ || ($id eq 'rank' && $name =~ /^MPI_Win_/);
        return ('k', 'in') if $id eq 'root';
        return ('n', 'in') if $id =~ /count$|^partitions$/;
        return ('i', 'in');
    }
    return ($object{$type}, 'in') if $object{$type};
    if ($type =~ /^(const)?void\*$/) { return $id =~ /buf$|^buffer$|addr$/ ? ('u', 'in') : ('', '') }
    if ($type =~ /^(\w+)\*$/ && $object{$1}) {
        my $of = $1;
        return ($id =~ /types$/ ? 'T' : 'R', 'array') if $id =~ /^(array_of_requests|sendtypes|recvtypes|array_of_types|array_of_datatypes)$/;
        return ($object{$of}, 'inout') if $free || $name =~ /^MPI_(Wait|Test|Start|Cancel|Type_commit|Request_free|Imrecv|Mrecv)(_c)?$/ && $of ne 'MPI_Request' || $name =~ /^MPI_(Wait|Test|Start|Cancel|Request_free)$/;
        return ($object{$of}, 'inout') if $of eq 'MPI_Message' && $name =~ /mrecv/i;
        return ($made{$of}, 'out');
    }
    return ('f', 'out') if $type eq 'int*' && $id eq 'flag';
    return ('x', 'out') if $type eq 'int*' && $id eq 'indx' && $name =~ /any$/;
    return ('X', 'out') if $id eq 'array_of_indices';
    return ('s', 'out') if $type eq 'MPI_Status*' && $id eq 'status';
    return ('Z', 'out') if $id eq 'array_of_statuses';
    return ('', '') if $name =~ /^MPI_(Cart_(get|coords)|Dims_create)/ || $id =~ /weights$/; # MPI_UNWEIGHTED is no array
    if ($type =~ /^(int|MPI_Aint|MPI_Count)\*$/ && $p->{text} =~ /\[\]/) {
        return ($id =~ /counts$/ ? 'N' : $id =~ /^(sources|destinations|ranks)$/ ? 'P' : $id =~ /errcodes|ranks2/ ? '' : 'D', 'array');
    }
    return ('', '');
}

# Of rooted collectives one side counts at the root alone; elsewhere its arguments may be anything.
sub root_only {
    my ($name, $id) = @_;
    return 1 if $name =~ /^MPI_I?gatherv?(_init)?(_c)?$/i && $id =~ /^recv|^displs/;
    return 1 if $name =~ /^MPI_I?scatterv?(_init)?(_c)?$/i && $id =~ /^send|^displs/;
    return 0;
}

sub put_array {
    my ($f, $p, $letter) = @_;
    my $n = length_of($f, $p);
    my $guard = '';
    $guard = 'at_root' if root_only($f->{name}, $p->{id});
    my ($buffer) = grep { $_->{id} eq 'sendbuf' } @{$f->{parameters}};
    $guard = 'sendbuf != MPI_IN_PLACE' if !$guard && $buffer && $f->{name} =~ /lltoall[vw]/ && $p->{id} =~ /^send|^sdisp/;
    $n = "$guard ? $n : 0" if $guard;
    my $put = $p->{type} =~ /Aint|Count/ ? 'put_longs' : 'put_ints';
    my $cast = $p->{type} =~ /Count/ ? '(const MPI_Aint *)' : '';
    return "$put(rec, $cast$p->{id}, $n);";
}

sub put_in {
    my ($f, $p, $letter) = @_;
    my $value = $p->{id};
    my $cast = $letter eq 'h' ? '(int64_t)(intptr_t)' : '';
    return "put_buffer(rec, $value);" if $letter eq 'u';
    return "put(rec, at_root ? (int64_t)$value : " . ($letter eq 't' ? '(int64_t)MPI_DATATYPE_NULL' : '0') . ');' if root_only($f->{name}, $p->{id});
    return "put(rec, $cast$value);";
}

my %null = (q => 'MPI_REQUEST_NULL', O => 'MPI_OP_NULL', E => 'MPI_GROUP_NULL', W => 'MPI_WIN_NULL', H => '0', L => 'MPI_SESSION_NULL', M => 'MPI_MESSAGE_NULL', f => '0', x => 'MPI_UNDEFINED');

sub put_out {
    my ($f, $p, $letter) = @_;
    my $id = $p->{id};
    my $name = $f->{name};
    my %has = map { $_->{id} => 1 } @{$f->{parameters}};
    my $done = $has{flag} ? 'rc == MPI_SUCCESS && *flag' : 'rc == MPI_SUCCESS';
    if ($letter eq 'C') {
        my $of = $name =~ /idup/ ? 'comm' : "*$id";
        return "put_new_comm(rec, rc == MPI_SUCCESS ? *$id : MPI_COMM_NULL, rc == MPI_SUCCESS ? $of : MPI_COMM_NULL);";
    }
    return "put_new_type(rec, rc == MPI_SUCCESS ? *$id : MPI_DATATYPE_NULL);" if $letter eq 'Y';
    return "if ($done) put_status(rec, own_$id); else put_no_status(rec);" if $letter eq 's';
    if ($letter eq 'Z') {
        return "put_statuses(rec, own_$id, rc == MPI_SUCCESS && *outcount != MPI_UNDEFINED ? *outcount : 0);" if $has{outcount};
        $done = 'true' if !$has{flag};
        return "put_statuses(rec, own_$id, " . ($has{flag} ? "$done ? count : 0" : 'rc == MPI_SUCCESS || rc_class(rc) == MPI_ERR_IN_STATUS ? count : 0') . ');';
    }
    return "put_ints(rec, $id, rc == MPI_SUCCESS ? *outcount : 0);" if $letter eq 'X';
    my $value = $letter eq 'H' ? "(int64_t)(intptr_t)*$id" : "(int64_t)*$id";
    return "put(rec, rc == MPI_SUCCESS ? $value : (int64_t)$null{$letter});";
}

# ---- the source

print "/* Made by generate.pl from MPICH's prototypes; do not edit. */\n#include \"recorder.h\"\n\n";
print "#pragma GCC diagnostic ignored \"-Wdeprecated-declarations\"\n#define SHOWN __attribute__((visibility(\"default\")))\n";
print "static inline int rc_class(int rc) { return rc & 0x7f; }\n\n";
my (@table, @symbols);
my $number = 0;
for my $f (@functions) {
    my $name = $f->{name};
    my @p = @{$f->{parameters}};
    my ($letters_in, $letters_out, @in, @out, @own) = ('', '');
    my $only_counted = $name =~ $counted;
    for my $p (@p) {
        last if $only_counted;
        my ($letter, $when) = letter_of($f, $p);
        next unless $letter;
        if ($when eq 'in') { $letters_in .= $letter; push @in, put_in($f, $p, $letter) }
        elsif ($when eq 'inout') { $letters_in .= $letter; push @in, 'put(rec, ' . ($letter eq 'h' ? '(int64_t)(intptr_t)' : '') . "*$p->{id});" }
        elsif ($when eq 'array') { $letters_in .= $letter; push @in, put_array($f, $p, $letter) }
        else { $letters_out .= $letter; push @out, put_out($f, $p, $letter) }
        push @own, [$p, $letter] if $letter eq 's' || $letter eq 'Z';
    }
    my $arguments = join ', ', map { my $id = $_->{id}; (grep { $_->[0]{id} eq $id } @own) ? "own_$id" : $id } @p;
    my $plain = join ', ', map { $_->{id} } @p;
    my $types = @p ? join(', ', map { $_->{text} } @p) : 'void';
    $types =~ s/\bMPIO_Request\b/MPI_Request/g;
    push @table, "$name " . ($only_counted ? '=' : $letters_in . $letters_out);
    push @symbols, "P$name";
    my $call = "((int (*)($types))recorder_real[$number])";
    my $polled = $name =~ $poll ? 1 : 0;
    print "static int wrap_$name($types)\n{\n    if (RARELY(!recorder_ready)) recorder_resolve();\n";
    if ($only_counted) {
        print "    recorder_count($number);\n    return $call($plain);\n}\n";
    } else {
        print "    recorder_before_finalize();\n" if $name eq 'MPI_Finalize';
        print "    recorder *rec = recorder_enter($number, ", $polled ? 'true' : 'false', ");\n    if (!rec) ";
        my $after = $name =~ /^MPI_Init(_thread)?$/ ? 'if (rc == MPI_SUCCESS) recorder_after_init();' : $name eq 'MPI_Session_init' ? 'if (rc == MPI_SUCCESS) recorder_after_session(*session);' :
            $name =~ /^MPI_(Session_f|F)inalize$/ ? 'recorder_finish();' : '';
        print $after ? "{\n        int rc = $call($plain);\n        $after\n        return rc;\n    }\n" : "return $call($plain);\n";
        my $body = join '', map { "    $_\n" } @in;
        my ($comm) = map { $_->{id} } grep { $_->{type} eq 'MPI_Comm' } @p;
        print "    int in_degree, out_degree;\n    recorder_degrees($comm, &in_degree, &out_degree);\n" if $body =~ /_degree/;
        print "    int peers = recorder_peers($comm);\n" if $body =~ /\bpeers\b/;
        print "    bool at_root = recorder_is_root($comm, root);\n" if $body =~ /\bat_root\b/;
        print "    int edges_in_all = 0;\n    for (int i = 0; i < n; i++) edges_in_all += degrees[i];\n" if $body =~ /\bedges_in_all\b/;
        my ($count) = map { $_->{id} } grep { $_->{id} =~ /^(count|incount)$/ } @p;
        print $body;
        print "    MPI_Status *own_$_->[0]{id} = recorder_statuses($_->[0]{id}, ", ($_->[1] eq 's' ? '1' : $count), ");\n" for @own;
        print "    recorder_begin(rec);\n    int rc = $call($arguments);\n    recorder_end(rec);\n";
        print "    $_\n" for @out;
        my $failed = !$polled ? 'false' : $name =~ /some$/ ? 'rc == MPI_SUCCESS && *outcount == 0' : 'rc == MPI_SUCCESS && !*flag';
        print "    recorder_leave(rec, rc, $failed);\n";
        print "    $after\n" if $after;
        print "    return rc;\n}\n";
    }
    print "SHOWN int $name($types)\n{\n    return wrap_$name($plain);\n}\n";
    print "SHOWN int P$name($types)\n{\n    if (RARELY(!recorder_ready)) recorder_resolve();\n";
    print "    if (RARELY(recorder_is_fortran(__builtin_return_address(0)))) return wrap_$name($plain);\n    return $call($plain);\n}\n\n";
    $number++;
}
print "const char recorder_table[] =\n", (map { "    \"$_\\n\"\n" } @table, @types), "    ;\n";
print "const char *const recorder_symbols[] = {\n", (map { "    \"$_\",\n" } @symbols), "};\nconst int recorder_functions = $number;\n";
