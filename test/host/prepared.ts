import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';
import type { TestProject } from 'vitest/node';
import { type LinuxLayout, linuxLayout } from '../../src/hosting/linux/layout.ts';
import { runCommand } from '../../src/hosting/linux/run-command.ts';
import { startWordPress, startWordPressMachine } from '../../src/hosting/linux/wordpress/machine.fixture.ts';
import { createTestMachine, type TestMachine } from './machine.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A folder with what {@link layPrepared} copies. */
    preparedHost: string;
  }
}

/** What a host makes at its first start, and is the same for all: the tables of a database server, WordPress and its content. */
const PARTS = ['mariadb', 'cores', 'golden'] as const;
type Part = (typeof PARTS)[number];

/** Makes that once for all tests; those of how it is made begin without it. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp('/srv/hpt-prepared-');
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const machine = await startWordPressMachine({ isPrepared: false });
    try {
      const { golden, version } = await startWordPress(machine);
      await golden.ensure(version);
      // The server has written everything down once it has ended.
      await machine.daemons.stop();
      for (const part of PARTS) await copy(machine.layout[part], join(folder, part));
    } finally {
      await machine.stop();
    }
  } catch (error) {
    await remove();
    throw error;
  }
  provide('preparedHost', folder);
  return remove;
}

/** Puts these parts where a host looks for them before it makes them. */
export async function layPrepared(layout: LinuxLayout, parts: readonly Part[] = PARTS): Promise<void> {
  for (const part of parts) await copy(join(inject('preparedHost'), part), layout[part]);
}

/** A machine on which the host needs not begin with the making of these. */
export async function createPreparedMachine(more: Record<string, string> = {}): Promise<TestMachine> {
  const machine = await createTestMachine(more);
  await mkdir(machine.folder, { mode: 0o711 });
  await layPrepared(linuxLayout(machine.folder, machine.runFolder));
  return machine;
}

/** The log of a database is mostly empty. */
async function copy(from: string, to: string): Promise<void> {
  await runCommand('cp', ['-a', '--sparse=always', from, to]);
}
