#!/usr/bin/perl
# ForceCommand of sshd_config(5): runs the user's command (SFTP, a command or a shell) in the sandbox of the website. It runs as the
# website's user, asks the host for the sandbox command, is put into the website's cgroup by the host, and becomes that command.
# Argument: the host's socket.
use strict;
use warnings;
use Socket qw(AF_UNIX SOCK_STREAM pack_sockaddr_un);

my $SFTP_SERVER = '/usr/lib/openssh/sftp-server';

sub refuse {
    print STDERR "You cannot sign in to this website now. Please try again in a minute.\n";
    exit 1;
}

my ($path) = @ARGV;
my $asked = $ENV{SSH_ORIGINAL_COMMAND};
my ($way, @command);
if (defined $asked && $asked eq $SFTP_SERVER) {
    $way = 'sftp';
    @command = ($SFTP_SERVER);
}
else {
    my $terminal = ($ENV{TERM} // '') =~ /\A([A-Za-z0-9._+-]{1,64})\z/ ? $1 : 'dumb';
    $way = -t STDIN ? 'terminal' : 'plain';
    @command = ("TERM=$terminal", '/bin/bash');
    push @command, '-c', $asked if defined $asked && $asked ne '';
}

$SIG{ALRM} = \&refuse;
alarm 10;
socket(my $host, AF_UNIX, SOCK_STREAM, 0) or refuse();
connect($host, pack_sockaddr_un($path)) or refuse();
# Where the user connects from, for the log. A scope of IPv6 is left out.
my $from = ($ENV{SSH_CONNECTION} // '') =~ /\A([0-9a-fA-F:.]{1,45})[% ]/ ? " $1" : '';
defined syswrite($host, "$$ $way$from\n") or refuse();
my $answer = '';
while (sysread($host, my $part, 65536)) {
    $answer .= $part;
}
alarm 0;
# Arguments, each followed by a NUL; an incomplete answer is not used.
refuse() unless $answer =~ s/\0\n\z//;
my @entrance = split /\0/, $answer, -1;

chdir '/' or refuse();
# The web server can read uploaded files.
umask 0022;
my @all = (@entrance, @command);
exec { $all[0] } @all or refuse();
