import { DAY_MS, HOUR_MS } from '../../lib/durations.ts';

const NIGHT_BEGINS_UTC = 1;
const NIGHT_MS = 4 * HOUR_MS;

/** When the present night began, or the last one if it is day: 01:00 UTC. */
export function nightOf(now: Date): Date {
  const begin = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate(), NIGHT_BEGINS_UTC);
  return new Date(begin <= now.getTime() ? begin : begin - DAY_MS);
}

/**
 * When in the night that begins at `night` an install is backed up, in milliseconds since 1970: the same time every night, and those of
 * all installs spread over four hours. Their identifiers are random, so they spread them.
 */
export function backupTime(installId: string, night: Date): number {
  const fraction = Number.parseInt(installId.slice(0, 8), 16) / 2 ** 32;
  return night.getTime() + Math.floor(fraction * NIGHT_MS);
}
