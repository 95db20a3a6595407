import { existsSync } from 'node:fs';

/** sd_booted(3): whether this machine was booted with systemd. Every command asks, so this loads nothing else. */
export function hasSystemd(folder = '/run/systemd/system'): boolean {
  return existsSync(folder);
}
