import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { assemble } from '../../../lib/bpf.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { AF_INET, AF_INET6, ALLOW, ARCHITECTURE, argument, machineOf, NUMBER } from './machine-calls.ts';
import { type SandboxFile, sandboxFile } from './sandbox-file.ts';

/** SECCOMP_RET_USER_NOTIF: the listener of the filter answers the call. */
const ASK = 0x7fc0_0000;

const PROGRAM = readFileSync(join(import.meta.dirname, 'perl', 'own-network.pl'));

/** The filter that asks for sockets for the Internet. All else is up to {@link tenantFilter}, which prevails where it refuses. */
export function askingFilter(architecture: NodeJS.Architecture): Buffer {
  const { architecture: audited, numbers } = machineOf(architecture);
  return assemble([
    { load: ARCHITECTURE },
    { ifEqual: audited, goto: 'native' },
    { return: ALLOW },

    { label: 'native' },
    { load: NUMBER },
    { ifEqual: numbers.socket, goto: 'socket' },
    { return: ALLOW },

    { label: 'socket' },
    { load: argument(0) },
    ...[AF_INET, AF_INET6].map((family) => ({ ifEqual: family, goto: 'ask' })),
    { return: ALLOW },

    { label: 'ask' },
    { return: ASK },
  ]);
}

/** The program of {@link ownNetwork}. */
export function ownNetworkProgram(layout: LinuxLayout): SandboxFile {
  return sandboxFile(layout, 'own-network', 'pl', PROGRAM);
}

/**
 * The command that runs a command of bubblewrap in a network namespace of its own, and gives it sockets for the Internet. It runs as the
 * website's user, outside of the sandbox.
 */
export function ownNetwork(layout: LinuxLayout, command: readonly string[]): [string, ...string[]] {
  const filter = askingFilter(process.arch).toString('hex');
  return ['/usr/bin/perl', ownNetworkProgram(layout).path, process.arch, filter, ...command];
}
