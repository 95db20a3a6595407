import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';
import { type LinuxLayout, linuxLayout } from '../../src/hosting/linux/machine/layout.ts';
import { MINUTE_MS } from '../../src/lib/durations.ts';
import { runCommand } from '../../src/lib/run-command.ts';
import { createTestMachine, type TestMachine } from './machine.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder of the parts that {@link layPrepared} copies. */
    preparedHost: string;
  }
}

/** Parts that every host creates at its first start: the database server's tables, WordPress and its database template. */
export const PARTS = ['mariadb', 'cores', 'templates'] as const;
type Part = (typeof PARTS)[number];

/**
 * Copies these parts to where the host expects them. Cores are thousands of files that no one writes to, so their copies are hard
 * links. A test that changes a file of a core must first replace it.
 */
export async function layPrepared(layout: LinuxLayout, parts: readonly Part[] = PARTS): Promise<void> {
  for (const part of parts) {
    const options = part === 'cores' ? ['--link'] : [];
    await copyPart(join(inject('preparedHost'), part), layout[part], options);
  }
}

/** A machine whose host need not create these parts. */
export async function createPreparedMachine(more: Record<string, string> = {}): Promise<TestMachine> {
  const machine = await createTestMachine(more);
  await mkdir(machine.folder, { mode: 0o711 });
  await layPrepared(linuxLayout(machine.folder, machine.runFolder));
  return machine;
}

/** 80 MB, on a disk that other tests use at the same time. */
const COPY_MS = 5 * MINUTE_MS;

/** Sparse, because the log of a database is mostly empty. */
export async function copyPart(from: string, to: string, options: readonly string[] = []): Promise<void> {
  await runCommand('cp', ['-a', '--sparse=always', ...options, from, to], { timeoutMs: COPY_MS });
}
