import { createRequire } from 'node:module';

type Tldts = typeof import('tldts');

const require = createRequire(import.meta.url);

/** The list of public suffixes takes 2 MB, so it is loaded at the first question. By `require`, because the callers are synchronous. */
const tldts = (): Tldts => require('tldts');

/** The registrable domain of a name; null for a public suffix or an address. */
export const getDomain: Tldts['getDomain'] = (...question) => tldts().getDomain(...question);

/** The parts of a name. */
export const parse: Tldts['parse'] = (...question) => tldts().parse(...question);
