import { existsSync } from 'node:fs';

/** Debian's packages of Chromium. The one without windows takes half the processor time. */
const PROGRAMS = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];

/** Path of the browser for the tests. */
export const CHROMIUM = PROGRAMS.find((program) => existsSync(program)) ?? '/usr/bin/chromium';

export const hasChromium = existsSync(CHROMIUM);

/** Flags that prevent requests to other hosts and background work. */
export const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE localhost , EXCLUDE *.localhost , EXCLUDE 127.0.0.1',
];
