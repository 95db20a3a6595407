#!/usr/bin/perl
# Passes an SSH session on to the host of the website. Arguments: the command of ssh(1), "--", the address of the host, and what
# session.pl would run there.
use strict;
use warnings;

my $SFTP_SERVER = '/usr/lib/openssh/sftp-server';

my @ssh;
while (@ARGV) {
    my $argument = shift @ARGV;
    last if $argument eq '--';
    push @ssh, $argument;
}
my ($host, $first, undef, undef, $command) = @ARGV;
die "six arguments are needed\n" unless @ssh && defined $first;

if ($first eq $SFTP_SERVER) {
    push @ssh, '-s', '--', $host, 'sftp';
}
else {
    # TERM=…
    (undef, $ENV{TERM}) = split /=/, $first, 2;
    push @ssh, -t STDIN ? '-tt' : '-T', '--', $host;
    push @ssh, $command if defined $command;
}

my $child = fork;
die "cannot fork: $!\n" unless defined $child;
if ($child == 0) {
    exec { $ssh[0] } @ssh or exit 255;
}
# Keys of the terminal are for the other host.
$SIG{$_} = 'IGNORE' for qw(INT QUIT TSTP);
waitpid $child, 0;
# ssh(1) ends with 255 if the connection fails or is closed.
if ($? != 255 << 8) {
    exit($? & 127 ? 255 : $? >> 8);
}
print STDERR "The connection to the machine of this website has ended. If the website is moving, connect again in a minute.\n";
exit 255;
