import { readlink } from 'node:fs/promises';
import { messageOf } from '../../../lib/error-message.ts';
import { runCommand } from '../../../lib/run-command.ts';
import type { Wall } from '../../contract/host.ts';
import type { Daemons } from '../machine/daemon.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { allProcesses, userOf } from '../machine/processes.ts';
import { ownNetwork } from './own-network.ts';
import { asUser, FILTER, filtered } from './sandbox.ts';
import { writeSandboxFiles } from './sandbox-files.ts';

/** Says which walls between websites hold on this machine (docs/decisions/walls.md), by trying them. */
export interface Walls {
  /** Tries all. */
  measure(): Promise<void>;
  /** As measured last; empty before the first time. */
  measured(): Wall[];
}

const NETWORK = 'network';
const CALLS = 'system calls';
const WEB_SERVER = 'user of the web server';
const DATABASE = 'busy database connections';

const MOST_NAMED = 5;
const NOBODY = { uid: 65_534, gid: 65_534 };

/**
 * Findings of a program in a website: its network namespace, whether it gets a socket for the Internet, and the errors of bind(2) and of a
 * call that the list lacks (bpf(2) on x86-64 and arm64).
 */
const TRY = [
  'use Socket; my $got = socket(my $s, AF_INET, SOCK_STREAM, 0) ? 1 : 0;',
  'my $bind = bind($s, pack_sockaddr_in(0, INADDR_LOOPBACK)) ? 0 : $! + 0;',
  'my $bpf = syscall($ARGV[0], 0, 0, 0) < 0 ? $! + 0 : 0;',
  'print join " ", readlink("/proc/self/ns/net"), $got, $bind, $bpf;',
].join(' ');
const BPF: Partial<Record<NodeJS.Architecture, number>> = { x64: 321, arm64: 280 };
const [EPERM, ENOSYS] = ['1', '38'];

const KERNEL =
  'Run it on Linux 5.19 or later. In a container, let its runtime allow seccomp(2) with a listener, and start no other program that takes such questions.';
const FILTERS = 'Read the log of "homeport host", and run "homeport host setup" there.';
const READ_THE_LOG = 'See the log of "homeport host" there.';

export function createWalls(parts: {
  layout: LinuxLayout;
  daemons: Pick<Daemons, 'list'>;
  /** `check`: why connections do not wait; null if they do. */
  databaseShares: { check(): string | null };
}): Walls {
  const { layout, daemons, databaseShares } = parts;
  let tried: Wall[] = [];

  return {
    async measure() {
      tried = [...(await trySandbox(layout)), await tryWebServer(daemons)];
    },
    measured: () => (tried.length === 0 ? [] : [...tried, databaseWall(databaseShares.check())]),
  };
}

async function trySandbox(layout: LinuxLayout): Promise<Wall[]> {
  try {
    await writeSandboxFiles(layout);
    const bwrap = [
      ...['/usr/bin/bwrap', ...FILTER, '--unshare-user', '--disable-userns', '--unshare-pid'],
      ...['--die-with-parent', '--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev', '--'],
      ...['/usr/bin/perl', '-e', TRY, `${BPF[process.arch]}`],
    ];
    const [program, ...args] = asUser(NOBODY, filtered(layout, ownNetwork(layout, bwrap)));
    const { stdout } = await runCommand(program, args);
    return sandboxWalls(stdout, await readlink('/proc/self/ns/net'));
  } catch (error) {
    const weakness = `No sandbox could be tried: ${messageOf(error)}`;
    return [NETWORK, CALLS].map((name) => ({ name, weakness, remedy: READ_THE_LOG }));
  }
}

/** `found`: what {@link TRY} printed. Pure. */
export function sandboxWalls(found: string, machineNetwork: string): Wall[] {
  const [network = '', hasSocket = '', bind = '', bpf = ''] = found.split(' ');
  const weakness =
    hasSocket === '1'
      ? 'Websites see the connections of the machine.'
      : 'Websites get no socket for the Internet.';
  return [
    wall(NETWORK, hasSocket === '1' && network !== machineNetwork, weakness, KERNEL),
    wall(CALLS, bind === EPERM && bpf === ENOSYS, 'The list of system calls does not hold.', FILTERS),
  ];
}

async function tryWebServer(daemons: Pick<Daemons, 'list'>): Promise<Wall> {
  const remedy = 'Let those programs run as other users.';
  try {
    const main = (await daemons.list()).find(({ name }) => name === 'nginx')?.pid ?? null;
    const all = await allProcesses();
    const workers = all.filter(({ parent }) => parent === main);
    const user = workers[0] === undefined ? null : await userOf(workers[0].pid);
    if (user === null) return { name: WEB_SERVER, weakness: 'It does not run.', remedy: READ_THE_LOG };
    const others = all.filter(({ pid }) => pid !== main && !workers.some((worker) => worker.pid === pid));
    const users = await Promise.all(others.map(({ pid }) => userOf(pid)));
    const same = others.filter((_process, at) => users[at] === user).map(({ pid }) => pid);
    return wall(WEB_SERVER, same.length === 0, sharedUser(same), remedy);
  } catch (error) {
    const weakness = `Its processes could not be read: ${messageOf(error)}`;
    return { name: WEB_SERVER, weakness, remedy: READ_THE_LOG };
  }
}

/** `pids`: processes of others with the user of the web server, of which a machine may have thousands. Pure. */
export function sharedUser(pids: readonly number[]): string {
  const more = pids.length > MOST_NAMED ? ` and ${pids.length - MOST_NAMED} more` : '';
  const named = pids.slice(0, MOST_NAMED).join(', ');
  return `Other programs run as its user, and reach the files and the PHP of all websites: process ${named}${more}.`;
}

function databaseWall(reason: string | null): Wall {
  const weakness = `Busy connections do not wait for those of other websites: ${reason}`;
  return wall(DATABASE, reason === null, weakness, READ_THE_LOG);
}

function wall(name: string, holds: boolean, weakness: string, remedy: string): Wall {
  return holds ? { name, weakness: null, remedy: null } : { name, weakness, remedy };
}
