#!/usr/bin/perl
# sendmail(8) of a website: reads a message from standard input and hands it to the host, which queues it. Runs in the website's sandbox.
# Exits with a code of sysexits.h: 0 if the message is queued, 64 for wrong arguments, 65 for a wrong message, 67 for a wrong recipient,
# 69 if the host refuses the message or does not answer. Never with 75, which PHP takes for success.
use strict;
use warnings;
use Socket qw(AF_UNIX SOCK_STREAM pack_sockaddr_un);

my $SOCKET = '@SOCKET@';
my $LARGEST = @LARGEST@;
my $ANSWER_WITHIN = 120;

sub refuse {
    my ($code, $reason) = @_;
    print STDERR "sendmail: $reason\n";
    exit $code;
}

# Options with a value, in the same argument or the next one. The host sets the envelope sender (-f and -r), and sends 8-bit text as it is.
my %WITH_VALUE = map { $_ => 1 } qw(f r F B N R V X h O o p C);
my ($from_head, $ignores_dots) = (0, 0);
my @recipients;
while (@ARGV) {
    my $argument = shift @ARGV;
    if ($argument eq '--') {
        push @recipients, @ARGV;
        last;
    }
    if ($argument !~ /\A-(.)(.*)\z/s) {
        push @recipients, $argument;
        next;
    }
    my ($option, $value) = ($1, $2);
    if ($option eq 'b') {
        refuse(64, "-b$value is not supported: this program only sends messages") if $value ne 'm';
    }
    elsif ($option eq 'q') {
        refuse(64, '-q is not supported: the host delivers messages by itself');
    }
    elsif ($option eq 'i') { $ignores_dots = 1 }
    elsif ($WITH_VALUE{$option}) {
        $value = shift @ARGV if $value eq '' && $option ne 'o';
        $ignores_dots = 1 if $option eq 'o' && $value eq 'i';
        $from_head = 1 if $option eq 'o' && $value eq 't';
    }
    else {
        # Options without a value can share an argument: -ti.
        for (split //, "$option$value") {
            if ($_ eq 't') { $from_head = 1 }
            elsif ($_ eq 'i') { $ignores_dots = 1 }
            elsif (!/[vUGmne]/) { refuse(64, "-$_ is not an option of this program") }
        }
    }
}
@recipients = grep { $_ ne '' } map { split /\s*,\s*/ } @recipients;
refuse(64, 'name a recipient, or -t to take recipients from the message') unless $from_head || @recipients;
refuse(67, 'a recipient contains a control character') if grep { /[\x00-\x1f\x7f]/ } @recipients;

binmode STDIN;
my $message = '';
while (1) {
    my $read = sysread(STDIN, $message, 65536, length $message);
    refuse(65, "the message cannot be read: $!") unless defined $read;
    last if $read == 0;
    refuse(65, 'the message is larger than ' . int($LARGEST / 1048576) . ' MiB') if length $message > $LARGEST;
}
# A line with a single dot ends the message.
$message =~ s/^\.\r?(?:\n.*)?\z//ms unless $ignores_dots;
refuse(65, 'the message is empty') if $message eq '';

my $UNAVAILABLE = 'the host does not accept mail now; try again in a minute';
$SIG{PIPE} = 'IGNORE';
$SIG{ALRM} = sub { refuse(69, $UNAVAILABLE) };
alarm $ANSWER_WITHIN;
socket(my $host, AF_UNIX, SOCK_STREAM, 0) or refuse(69, $UNAVAILABLE);
connect($host, pack_sockaddr_un($SOCKET)) or refuse(69, $UNAVAILABLE);

sub say_all {
    my ($text) = @_;
    for (my $sent = 0; $sent < length $text;) {
        my $written = syswrite($host, $text, 65536, $sent);
        return 0 unless defined $written;
        $sent += $written;
    }
    return 1;
}

sub hear_line {
    my $line = '';
    while (index($line, "\n") < 0) {
        my $read = sysread($host, $line, 1024, length $line);
        refuse(69, $UNAVAILABLE) unless $read;
    }
    chomp $line;
    return $line;
}

# The host answers "go", or a code and the reason.
sub require_code {
    my ($line) = @_;
    my ($code, $reason) = $line =~ /\A(\d{1,2}) (.*)\z/ or refuse(69, $UNAVAILABLE);
    refuse($code, $reason) if $code != 0;
}

say_all(join("\t", length $message, $from_head, @recipients) . "\n");
my $first = hear_line();
require_code($first) if $first ne 'go';
# An answer can come before the whole message is sent.
say_all($message);
require_code(hear_line());
exit 0;
