import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';

/** The process at the other end of a Unix socket, as reported by the kernel. */
export interface Peer {
  uid: number;
  /** The process's groups, and its user's groups in the group file. */
  groups: number[];
}

/** Group and users that may use the socket, besides root. */
export interface Allowed {
  gid: number;
  uids?: readonly number[];
}

export function isAllowed(peer: Peer, { gid, uids = [] }: Allowed): boolean {
  return peer.uid === 0 || uids.includes(peer.uid) || peer.groups.includes(gid);
}

/**
 * Prints the user id, then the group ids. Reads SO_PEERCRED (17) and SO_PEERGROUPS (59) of SOL_SOCKET (1), unix(7), which
 * Node does not support.
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

/** The process at the other end of an accepted connection, from the kernel. Call before reading from the connection. */
export async function peerOf(socket: Socket): Promise<Peer> {
  const perl = spawn('/usr/bin/perl', ['-e', SCRIPT], {
    stdio: ['ignore', 'pipe', 'pipe', socket],
    env: { LC_ALL: 'C' },
    timeout: 5_000,
    killSignal: 'SIGKILL',
  });
  const { stdout, stderr } = perl;
  // The types allow null because of the `socket` entry, which only passes a descriptor.
  if (stdout === null || stderr === null) throw new Error('the process has no output');
  const ended = new Promise<number | null>((resolve, reject) => {
    perl.once('error', reject).once('close', resolve);
  });
  const [status, printed, complaint] = await Promise.all([ended, text(stdout), text(stderr)]);
  const [uid, ...groups] = printed.split(' ').map(Number);
  if (status !== 0 || uid === undefined || ![uid, ...groups].every(Number.isInteger)) {
    throw new Error(
      `the process at the other end is unknown: ${complaint.trim() || `perl ended with ${status}`}`,
    );
  }
  return { uid, groups };
}
