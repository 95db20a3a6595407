import { DAY_MS, HOUR_MS } from '../../lib/durations.ts';

const NIGHT_BEGINS_UTC = 1;
const NIGHT_MS = 4 * HOUR_MS;

/** The start of the present night, or of the last one during the day: 01:00 UTC. */
export function nightOf(now: Date): Date {
  const begin = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate(), NIGHT_BEGINS_UTC);
  return new Date(begin <= now.getTime() ? begin : begin - DAY_MS);
}

/**
 * The time of an install's backup in the night that starts at `night`, in milliseconds since 1970. It is the same every
 * night. Random install ids spread the times over four hours.
 */
export function backupTime(installId: string, night: Date): number {
  const fraction = Number.parseInt(installId.slice(0, 8), 16) / 2 ** 32;
  return night.getTime() + Math.floor(fraction * NIGHT_MS);
}
