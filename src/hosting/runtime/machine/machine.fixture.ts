import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../lib/clock.ts';
import { findMachinePhp, machinePhp } from './machine-engine.ts';

const path = process.env.PATH ?? '';

/** Why this machine has no PHP for websites; null if it has. Says so once. */
export async function whyNoMachinePhp(): Promise<string | null> {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-machine-php-'));
  try {
    const { reason } = await findMachinePhp({ folder: join(folder, 'php'), sockets: folder }, path);
    if (reason !== undefined) console.warn(`SKIPPED: Tests of the machine's PHP, because ${reason}.`);
    return reason ?? null;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The PHP of this machine. */
export const THIS_PHP = machinePhp({ path, date: systemClock.now });
