import type { Placement } from './record.ts';

/** Whether a website is held at this time: visitors read it, and no one changes it. */
export function isHeld({ held }: Pick<Placement, 'held'>, now: Date): boolean {
  return held !== undefined && (held.until === null || now.getTime() < Date.parse(held.until));
}
