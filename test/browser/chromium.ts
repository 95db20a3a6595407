import { existsSync } from 'node:fs';

/** Debian's. */
export const CHROMIUM = '/usr/bin/chromium';

export const hasChromium = existsSync(CHROMIUM);
