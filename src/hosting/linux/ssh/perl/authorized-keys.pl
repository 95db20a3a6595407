#!/usr/bin/perl
# AuthorizedKeysCommand of sshd_config(5): asks the host whether this key may sign in as this user, and prints the line of
# authorized_keys(5) for sshd, or nothing. Arguments: the host's socket, then %u, %t and %k. It runs as a user without other
# rights, before the login.
use strict;
use warnings;
use Socket qw(AF_UNIX SOCK_STREAM pack_sockaddr_un);

# Ends after 5 seconds without an answer, which refuses the login.
alarm 5;

my ($path, $user, $type, $key) = @ARGV;
die "four arguments are needed\n" unless @ARGV == 4;
# Invalid questions are not sent; the host checks again.
exit 0 unless $user =~ /\A[a-z][a-z0-9-]{0,62}\z/;
exit 0 unless $type =~ /\A[a-z0-9@.-]{1,64}\z/;
exit 0 unless $key =~ m{\A[A-Za-z0-9+/]{1,16384}={0,2}\z};

socket(my $host, AF_UNIX, SOCK_STREAM, 0) or die "no socket: $!\n";
connect($host, pack_sockaddr_un($path)) or die "the host does not listen: $!\n";
# The parent is sshd's process for this connection.
my $question = join(' ', getppid(), $user, $type, $key) . "\n";
defined syswrite($host, $question) or die "cannot ask the host: $!\n";
my $answer = '';
while (sysread($host, my $part, 65536)) {
    $answer .= $part;
}
print $answer;
