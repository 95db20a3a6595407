#!/usr/bin/perl
# ForceCommand of sshd_config(5): runs what was asked for (SFTP, a command or a shell) in the sandbox of the website. It is started as the
# website's user, who can do nothing outside that the sandbox would not let him do inside but see the machine.
use strict;
use warnings;

my $SFTP_SERVER = '/usr/lib/openssh/sftp-server';

sub refuse {
    print STDERR "This website cannot be signed in to now. Please try again in a minute.\n";
    exit 1;
}

# The host has written down what leads into the sandbox: a line for each way in, with its name and its arguments divided by NUL.
my ($lib) = __FILE__ =~ m{\A(/.+)/[^/]+\z} or refuse();
open(my $file, '<:raw', "$lib/../ssh/entrances/$<") or refuse();
my %entrance;
while (my $line = <$file>) {
    chomp $line;
    my ($name, @arguments) = split /\0/, $line, -1;
    $entrance{$name} = \@arguments;
}
close $file;

my $asked = $ENV{SSH_ORIGINAL_COMMAND};
my $terminal = ($ENV{TERM} // '') =~ /\A([A-Za-z0-9._+-]{1,64})\z/ ? $1 : 'dumb';
my ($name, @command);
if (defined $asked && $asked eq $SFTP_SERVER) {
    $name = 'sftp';
    @command = ($SFTP_SERVER);
}
else {
    $name = -t STDIN ? 'terminal' : 'plain';
    @command = ("TERM=$terminal", '/bin/bash');
    push @command, '-c', $asked if defined $asked && $asked ne '';
}
refuse() unless $entrance{$name};

chdir '/' or refuse();
# What is uploaded can be read by the web server.
umask 0022;
my @all = (@{ $entrance{$name} }, @command);
exec { $all[0] } @all or refuse();
