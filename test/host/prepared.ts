import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';
import { type LinuxLayout, linuxLayout } from '../../src/hosting/linux/machine/layout.ts';
import { runCommand } from '../../src/hosting/linux/machine/run-command.ts';
import { createTestMachine, type TestMachine } from './machine.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A folder with what {@link layPrepared} copies. */
    preparedHost: string;
  }
}

/** What a host makes at its first start, and is the same for all: the tables of a database server, WordPress and its content. */
export const PARTS = ['mariadb', 'cores', 'templates'] as const;
type Part = (typeof PARTS)[number];

/** Puts these parts where a host looks for them before it makes them. */
export async function layPrepared(layout: LinuxLayout, parts: readonly Part[] = PARTS): Promise<void> {
  for (const part of parts) await copyPart(join(inject('preparedHost'), part), layout[part]);
}

/** A machine on which the host needs not begin with the making of these. */
export async function createPreparedMachine(more: Record<string, string> = {}): Promise<TestMachine> {
  const machine = await createTestMachine(more);
  await mkdir(machine.folder, { mode: 0o711 });
  await layPrepared(linuxLayout(machine.folder, machine.runFolder));
  return machine;
}

/** The log of a database is mostly empty. */
export async function copyPart(from: string, to: string): Promise<void> {
  await runCommand('cp', ['-a', '--sparse=always', from, to]);
}
