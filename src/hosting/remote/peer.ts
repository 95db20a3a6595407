import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';

/** The process at the other end of a Unix socket, as the kernel knows it. */
export interface Peer {
  uid: number;
  /** Its own group and those that it is in besides, also those that the group file gives its user. */
  groups: number[];
}

/** Who may use the socket besides root. */
export interface Allowed {
  gid: number;
  uids?: readonly number[];
}

export function isAllowed(peer: Peer, { gid, uids = [] }: Allowed): boolean {
  return peer.uid === 0 || uids.includes(peer.uid) || peer.groups.includes(gid);
}

/**
 * SO_PEERCRED (17) and SO_PEERGROUPS (59) of SOL_SOCKET (1), unix(7); Node has no call for them. What it prints: the
 * user id, then ids of groups.
 */
const SCRIPT = `
open(my $socket, '+<&=', 3) or die "no socket: $!";
my ($pid, $uid, $gid) = unpack('iII', getsockopt($socket, 1, 17) // die "no peer: $!");
my @groups = ($gid, unpack('I*', getsockopt($socket, 1, 59) // ''));
if (my ($name, undef, undef, $primary) = getpwuid($uid)) {
  push @groups, $primary;
  while (my ($group, undef, $id, $members) = getgrent()) {
    push @groups, $id if grep { $_ eq $name } split / /, $members;
  }
}
print join(' ', $uid, @groups);
`;

/** Asks the kernel who is at the other end of an accepted connection from which nothing has been read yet. */
export async function peerOf(socket: Socket): Promise<Peer> {
  const perl = spawn('/usr/bin/perl', ['-e', SCRIPT], {
    stdio: ['ignore', 'pipe', 'pipe', socket],
    env: { LC_ALL: 'C' },
    timeout: 5_000,
    killSignal: 'SIGKILL',
  });
  const { stdout, stderr } = perl;
  // In place of `socket`, which only hands over its descriptor, there is no stream here.
  if (stdout === null || stderr === null) throw new Error('the process has no output');
  const ended = new Promise<number | null>((resolve, reject) => {
    perl.once('error', reject).once('close', resolve);
  });
  const [status, printed, complaint] = await Promise.all([ended, text(stdout), text(stderr)]);
  const [uid, ...groups] = printed.split(' ').map(Number);
  if (status !== 0 || uid === undefined || ![uid, ...groups].every(Number.isInteger)) {
    throw new Error(`it cannot be told who connects: ${complaint.trim() || `perl ended with ${status}`}`);
  }
  return { uid, groups };
}
