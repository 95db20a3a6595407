#!/usr/bin/perl -w
# Runs bubblewrap in a network namespace of its own, in which nothing leads out. Sockets for the Internet are made here instead, outside
# of it, and given to the program that asks for one (seccomp_unotify(2)). They belong to the website's user and count for its cgroup, so the
# firewall and the limits apply to them. The program sees nothing else of the machine's network.
#
# Arguments: the machine, the filter that asks, in hexadecimal, and the command of bubblewrap. If the kernel refuses the filter, as it may
# in a container, the program has the machine's network, limited by the firewall and its other filter.
#
# Each running website has one such process, so it loads next to no modules: `warnings` alone takes a third of a megabyte and 2 ms.
use strict;

# Numbers of system calls (asm/unistd.h). Some have the same on all machines.
my %CALLS = (
    x64   => { clone => 56, ioctl => 16, prctl => 157, seccomp => 317, socket => 41, close => 3 },
    arm64 => { clone => 220, ioctl => 29, prctl => 167, seccomp => 277, socket => 198, close => 57 },
);
my ($PIDFD_OPEN, $CLOSE_RANGE) = (434, 436);

# linux/sched.h, linux/prctl.h, linux/seccomp.h.
my $SHARE_FILES_UNTIL_EXEC = 0x400 | 0x4000 | 17;
my ($PDEATHSIG, $CHILD_SUBREAPER, $NO_NEW_PRIVS) = (1, 36, 38);
my $SET_FILTER = 1;
# Only a deadly signal interrupts a question that was taken.
my $NEW_LISTENER_KILLABLE = 1 << 3 | 1 << 5;
my ($TAKE, $ANSWER, $GIVE) = (0xC0502100, 0xC0182101, 0x40182103);
my $GIVE_AND_ANSWER = 2;
my $SOCK_CLOEXEC = 02000000;
my $LAST_FD = 0xffffffff;

# asm-generic/errno-base.h, asm-generic/errno.h.
my $EINTR = 4;
# EPERM, EBUSY, EINVAL and ENOSYS: this kernel or container will never take the filter.
my @NEVER = (1, 16, 22, 38);

my ($machine, $filter, @command) = @ARGV;
my $call = $CALLS{$machine} or die "this processor is unknown\n";

sub end_with_parent {
    syscall($call->{prctl}, $PDEATHSIG, 9, 0, 0, 0) == 0 or die "cannot follow: $!\n";
}

# Becomes bubblewrap, and writes the descriptor of its questions into the pipe before.
sub become_sandbox {
    my ($parent, $pipe) = @_;
    end_with_parent();
    exit 1 if getppid() != $parent;
    my $program   = pack('H*', $filter);
    my $described = pack('S x6 P', length($program) / 8, $program);
    syscall($call->{prctl}, $NO_NEW_PRIVS, 1, 0, 0, 0) == 0 or die "cannot give up privileges: $!\n";
    my $listener = syscall($call->{seccomp}, $SET_FILTER, $NEW_LISTENER_KILLABLE, $described);
    if ($listener >= 0) {
        syswrite($pipe, $listener) or die "cannot write to a pipe: $!\n";
        splice @command, 1, 0, '--unshare-net';
    } elsif (!grep { $! == $_ } @NEVER) {
        die "cannot ask for sockets: $!\n";
    }
    exec { $command[0] } @command or die "cannot run $command[0]: $!\n";
}

sub answer_question {
    my ($listener) = @_;
    my $question = "\0" x 80;
    # The process that asked may have ended.
    return if syscall($call->{ioctl}, $listener, $TAKE, $question) < 0;
    my ($id, @arguments) = unpack('Q x24 Q Q Q', $question);
    # The kernel reads 32 bits of each.
    my ($family, $type, $protocol) = map { $_ & 0xffffffff } @arguments;
    my $socket = syscall($call->{socket}, $family, $type, $protocol);
    my $error  = $! + 0;
    if ($socket >= 0) {
        my $given = pack('Q L4', $id, $GIVE_AND_ANSWER, $socket, 0, $type & $SOCK_CLOEXEC);
        my $done  = syscall($call->{ioctl}, $listener, $GIVE, $given) >= 0;
        $error = $! + 0;
        syscall($call->{close}, $socket);
        return if $done;
    }
    my $refusal = pack('Q q l L', $id, 0, -$error, 0);
    syscall($call->{ioctl}, $listener, $ANSWER, $refusal);
}

# As bubblewrap does.
end_with_parent();

# Bubblewrap ends with the first program in the sandbox. What that has started becomes a child of this process, and is killed a moment later.
syscall($call->{prctl}, $CHILD_SUBREAPER, 1, 0, 0, 0) == 0 or die "cannot wait for all: $!\n";

# The child shares the descriptors, and so the listener, until it becomes bubblewrap. Until then this process waits.
pipe(my $from_sandbox, my $to_parent) or die "no pipe: $!\n";
my $own = $$;
my $sandbox = syscall($call->{clone}, $SHARE_FILES_UNTIL_EXEC, 0, 0, 0, 0);
die "cannot fork: $!\n" if $sandbox < 0;
become_sandbox($own, $to_parent) if $sandbox == 0;

close $to_parent;
sysread($from_sandbox, my $listener = '', 16);
# What the caller passes on, such as PHP's socket, belongs to the sandbox alone.
open(STDIN,  '<', '/dev/null') or die "cannot leave the input: $!\n";
open(STDOUT, '>', '/dev/null') or die "cannot leave the output: $!\n";
syscall($CLOSE_RANGE, 3, ($listener || $LAST_FD + 1) - 1, 0);
if ($listener ne '') {
    $listener += 0;
    syscall($CLOSE_RANGE, $listener + 1, $LAST_FD, 0);
    my $ended = syscall($PIDFD_OPEN, $sandbox, 0);
    die "cannot wait for the sandbox: $!\n" if $ended < 0;
    my $both = '';
    vec($both, $_, 1) = 1 for $listener, $ended;
    while (1) {
        my $ready = $both;
        # Signals interrupt it.
        next if select($ready, undef, undef, undef) < 0;
        last if vec($ready, $ended, 1);
        answer_question($listener);
    }
}
my $status = 0;
while (1) {
    my $pid = waitpid(-1, 0);
    $status = $? if $pid == $sandbox;
    last if $pid < 0 && $! != $EINTR;
}
exit($status & 127 ? 128 + ($status & 127) : $status >> 8);
