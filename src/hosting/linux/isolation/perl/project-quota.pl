#!/usr/bin/perl
# Project quotas of ext4 and XFS, by the kernel's own interface: FS_IOC_FSSETXATTR (linux/fs.h) and quotactl_fd(2), which has the same
# number on all architectures. Runs as root. The caller guarantees that homes and the folders above belong to root.
#   state <folder>                                  prints "enforced", "counted" or "off"
#   enforce <folder>                                makes the kernel enforce the limits of projects that it counts
#   assign <home> <project> <bytes> <files> [name…]  gives the home to a project; the folders with these names are not counted
#   limit <home> <bytes> <files>                    changes the limits of the home's project; 0: no limit
#   usage                                           reads homes from standard input, and prints "<bytes> <files>" or "-" for each
use strict;
use warnings;
use Errno qw(ENOENT ESRCH);
use Fcntl qw(:mode O_RDONLY O_DIRECTORY O_NOFOLLOW O_NONBLOCK);
use POSIX ();

use constant {
    QUOTACTL_FD     => 443,
    Q_GETQUOTA      => 0x800007,
    Q_SETQUOTA      => 0x800008,
    Q_XQUOTAON      => 0x5801,
    Q_XGETQSTAT     => 0x5805,
    PRJQUOTA        => 2,
    COUNTED         => 1 << 4,
    ENFORCED        => 1 << 5,
    FSGETXATTR      => 0x801c581f,
    FSSETXATTR      => 0x401c5820,
    INHERIT         => 0x200,
    # struct if_dqblk: limits and use of blocks of 1,024 bytes and of inodes, two times, and which of them are valid.
    DQBLK           => 'Q8 L x4',
    LIMITS          => 1 | 4,
    BLOCK           => 1024,
};

sub quotactl {
    my ($folder, $command, $project, $buffer) = @_;
    my $done = syscall(QUOTACTL_FD, fileno($folder), $command << 8 | PRJQUOTA, $project, $buffer);
    return $done == 0 ? $buffer : undef;
}

sub state_of {
    my ($folder) = @_;
    my $answer = quotactl($folder, Q_XGETQSTAT, 0, "\0" x 256) // return 'off';
    my $flags = unpack 'x2 S', $answer;
    return $flags & ENFORCED ? 'enforced' : $flags & COUNTED ? 'counted' : 'off';
}

sub open_folder {
    my ($path) = @_;
    sysopen(my $folder, $path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW) or die "$path: $!\n";
    return $folder;
}

# Flags and project of an open file.
sub attributes_of {
    my ($file) = @_;
    my $attributes = "\0" x 28;
    defined ioctl($file, FSGETXATTR, $attributes) or die "cannot read the project of a file: $!\n";
    my ($flags, $project) = unpack 'L x8 L', $attributes;
    return ($flags, $project, $attributes);
}

sub give {
    my ($file, $project, $is_folder) = @_;
    my ($flags, $present, $attributes) = attributes_of($file);
    my $wanted = $is_folder && $project != 0 ? $flags | INHERIT : $flags & ~INHERIT;
    return if $present == $project && $flags == $wanted;
    substr($attributes, 0, 4) = pack 'L', $wanted;
    substr($attributes, 12, 4) = pack 'L', $project;
    defined ioctl($file, FSSETXATTR, $attributes) or die "cannot change the project of a file: $!\n";
}

# In the home while its files change: the folder of root where links are made again.
use constant SCRATCH => '.project-links-4c1f6f1d';

sub begin_scratch {
    my ($home, $project) = @_;
    my $scratch = "$home/" . SCRATCH;
    mkdir $scratch, 0700 or $!{EEXIST} or die "$scratch: $!\n";
    give(open_folder($scratch), $project, 1);
    unlink "$scratch/link";
    return $scratch;
}

# A link cannot be opened, so its project cannot change. But rename(2) and link(2) refuse one of another project, so it is made again.
# Nobody else can write to the scratch folder.
sub renew_link {
    my ($name, $uid, $gid, $scratch) = @_;
    my $target = readlink $name;
    # Removed or replaced meanwhile.
    return unless defined $target;
    my $new = "$scratch/link";
    symlink $target, $new or die "cannot make a link again: $!\n";
    POSIX::lchown($uid, $gid, $new) or die "cannot change the owner of a link: $!\n";
    return if rename $new, $name;
    $!{EISDIR} or die "cannot replace a link: $!\n";
    unlink $new;
}

# Everything in an open folder. The folder itself comes first in each, so that what is created meanwhile inherits the project. Descends by
# open folders and not by paths, so that no link misleads it. Sockets and devices have no contents to count. Links are made again if there
# is a scratch folder for them.
sub give_contents {
    my ($folder, $project, $device, $skipped, $scratch) = @_;
    chdir $folder or die "cannot enter a folder: $!\n";
    opendir(my $list, '.') or die "cannot read a folder: $!\n";
    my @names = grep { $_ ne '.' && $_ ne '..' && !$skipped->{$_} } readdir $list;
    closedir $list;
    for my $name (@names) {
        my ($found, undef, $mode, undef, $uid, $gid) = lstat $name;
        next unless defined $mode && $found == $device;
        renew_link($name, $uid, $gid, $scratch) if S_ISLNK($mode) && defined $scratch;
        next unless S_ISREG($mode) || S_ISDIR($mode);
        sysopen(my $file, $name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) or do {
            # Removed or replaced meanwhile.
            next if $!{ENOENT} || $!{ELOOP} || $!{ENXIO};
            die "cannot open $name: $!\n";
        };
        (undef, undef, $mode) = stat $file;
        next unless S_ISREG($mode) || S_ISDIR($mode);
        give($file, $project, S_ISDIR($mode));
        next unless S_ISDIR($mode);
        give_contents($file, $project, $device, {}, $scratch);
        chdir $folder or die "cannot enter a folder: $!\n";
    }
}

sub limit {
    my ($folder, $project, $bytes, $files) = @_;
    my $blocks = int(($bytes + BLOCK - 1) / BLOCK);
    my $limits = pack DQBLK, $blocks, $blocks, 0, $files, $files, 0, 0, 0, LIMITS;
    quotactl($folder, Q_SETQUOTA, $project, $limits) // die "cannot set the limits of project $project: $!\n";
}

my ($action, @rest) = @ARGV;
if ($action eq 'state') {
    print state_of(open_folder($rest[0])), "\n";
}
elsif ($action eq 'enforce') {
    my $folder = open_folder($rest[0]);
    quotactl($folder, Q_XQUOTAON, 0, pack('L', ENFORCED)) // die "cannot turn project quotas on: $!\n";
}
elsif ($action eq 'assign') {
    my ($home, $project, $bytes, $files, @names) = @rest;
    my $folder = open_folder($home);
    my ($device) = stat $folder;
    my ($flags, $present) = attributes_of($folder);
    # The home gets it last: if it has it, so does everything inside.
    if ($present != $project || !($flags & INHERIT)) {
        # Until then it has none, and so takes links of any.
        give($folder, 0, 1);
        my $scratch = begin_scratch($home, $project);
        give_contents($folder, $project, $device, { map { $_ => 1 } @names, SCRATCH }, $scratch);
        rmdir $scratch or die "$scratch: $!\n";
        give($folder, $project, 1);
    }
    for my $name (@names) {
        my $inner = open_folder("$home/$name");
        my (undef, $of) = attributes_of($inner);
        next if $of == 0;
        give($inner, 0, 1);
        give_contents($inner, 0, $device, {});
    }
    limit($folder, $project, $bytes, $files);
}
elsif ($action eq 'limit') {
    my ($home, $bytes, $files) = @rest;
    my $folder = open_folder($home);
    my (undef, $project) = attributes_of($folder);
    limit($folder, $project, $bytes, $files) if $project != 0;
}
elsif ($action eq 'usage') {
    while (my $home = <STDIN>) {
        chomp $home;
        my $answer;
        if (sysopen(my $folder, $home, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)) {
            my (undef, $project) = attributes_of($folder);
            $answer = quotactl($folder, Q_GETQUOTA, $project, "\0" x 72) if $project != 0;
        }
        my (undef, undef, $bytes, undef, undef, $inodes) = defined $answer ? unpack(DQBLK, $answer) : ();
        print defined $bytes ? "$bytes $inodes\n" : "-\n";
    }
}
else {
    die "unknown action\n";
}
