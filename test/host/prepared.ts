import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';
import { type CodeFolders, type LinuxLayout, linuxLayout } from '../../src/hosting/linux/machine/layout.ts';
import { MINUTE_MS } from '../../src/lib/durations.ts';
import { runCommand } from '../../src/lib/run-command.ts';
import { createTestMachine, type TestMachine } from './machine.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder of the parts that {@link layPrepared} copies. */
    preparedHost: string;
  }
}

/** Parts that every host creates at its first start and writes to: the tables of the database server, and the database of a new WordPress. */
export const PARTS = ['mariadb', 'templates'] as const;
type Part = (typeof PARTS)[number];

/** A copy of WordPress for {@link layOwnCores}. */
export const OWN_CORES = 'own-core';

/** WordPress and its compiled code in a folder of prepared parts, mounted read-only. */
export const codeIn = (folder: string): CodeFolders => ({
  cores: join(folder, 'core'),
  compiled: join(folder, 'compiled'),
});

/** WordPress of this run. All hosts use it where it is, because PHP finds compiled code by its path. */
export const preparedCode = (): CodeFolders => codeIn(inject('preparedHost'));

/** Copies these parts to where the host expects them. */
export async function layPrepared(layout: LinuxLayout, parts: readonly Part[] = PARTS): Promise<void> {
  for (const part of parts) await copyPart(join(inject('preparedHost'), part), layout[part]);
}

/** Copies WordPress for a host that changes it or adds versions. Its files are thousands, so the copies are hard links: replace one, and do not write to it. */
export async function layOwnCores(layout: LinuxLayout): Promise<void> {
  await copyPart(join(inject('preparedHost'), OWN_CORES), layout.cores, ['--link']);
}

/** A machine whose host need not create these parts. `ownCores`: as {@link layOwnCores}. */
export async function createPreparedMachine(
  more: Record<string, string> = {},
  { ownCores = false } = {},
): Promise<TestMachine> {
  const machine = await createTestMachine(more, ownCores ? {} : { code: preparedCode() });
  await mkdir(machine.folder, { mode: 0o711 });
  const layout = linuxLayout(machine.folder, machine.runFolder);
  await layPrepared(layout);
  if (ownCores) await layOwnCores(layout);
  return machine;
}

/** 80 MB, on a disk that other tests use at the same time. */
const COPY_MS = 5 * MINUTE_MS;

/** Sparse, because the log of a database is mostly empty. */
export async function copyPart(from: string, to: string, options: readonly string[] = []): Promise<void> {
  await runCommand('cp', ['-a', '--sparse=always', ...options, from, to], { timeoutMs: COPY_MS });
}
