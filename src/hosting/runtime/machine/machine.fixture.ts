import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { createMachineEngine, findMachinePhp } from './machine-engine.ts';

const path = process.env.PATH ?? '';

/** Why this machine has no PHP for websites; null if it has. Says so once. */
export async function whyNoMachinePhp(): Promise<string | null> {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-machine-php-'));
  try {
    const { reason } = await findMachinePhp(folder, path);
    if (reason !== undefined) console.warn(`SKIPPED: Tests of the machine's PHP, because ${reason}.`);
    return reason ?? null;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Chooses the machine's PHP. `folder` is on the file system of the websites. */
export const chooseMachinePhp = (folder: string) => async () => {
  const made = await createMachineEngine({
    folder,
    path,
    log: pino({ level: 'silent' }),
    date: () => new Date(),
  });
  if ('reason' in made) throw new Error(made.reason);
  return made.engine;
};
