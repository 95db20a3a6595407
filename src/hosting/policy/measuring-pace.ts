import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../lib/durations.ts';
import type { InstallLimits, InstallUsage } from '../contract/install-limits.ts';

/** The part of the limits, from 0 to 1 and beyond, that a website has used. */
export function fillOf({ bytes, files }: InstallUsage, limits: InstallLimits): number {
  const part = (used: number, limit: number | null) => (limit === null ? 0 : used / limit);
  return Math.max(part(bytes, limits.bytes), part(files, limits.files));
}

/** Websites near their limit are measured more often. */
const STEPS = [
  { from: 0.9, everyMs: MINUTE_MS },
  { from: 0.8, everyMs: 10 * MINUTE_MS },
  { from: 0.5, everyMs: HOUR_MS },
];
const OTHERWISE_MS = 6 * HOUR_MS;
/** A website is measured for at most this part of the time, and all of them one after the other for a twentieth. */
const LEAST_PAUSE_OF_ONE = 200;
const LEAST_PAUSE_OF_ALL = 20;

/** Milliseconds until a website is measured again, after a measurement that took `tookMs`. */
export function measureAgainMs(fill: number, tookMs: number): number {
  const everyMs = STEPS.find(({ from }) => fill >= from)?.everyMs ?? OTHERWISE_MS;
  return Math.max(everyMs, LEAST_PAUSE_OF_ONE * tookMs);
}

/** Milliseconds until the next website is measured. */
export function nextWebsiteMs(tookMs: number): number {
  return Math.max(SECOND_MS, LEAST_PAUSE_OF_ALL * tookMs);
}
