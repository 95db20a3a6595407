import { messageOf } from '../../../lib/error-message.ts';
import type { SandboxedInstall } from '../isolation/sandbox.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { newestFatals } from '../wordpress/error-log.ts';
import { type AskedEdge, type VisitedWebsite, visitPage } from '../wordpress/wordpress-answers.ts';

/** A page of a website as visitors get it. */
interface SeenPage {
  /** For people: `the home page`. */
  name: string;
  /** Null if there was no answer, for the reason in `failure`. */
  status: number | null;
  failure: string | null;
  length: number;
  /** The parts of its structure that it has, such as `</html>`. */
  parts: string[];
}

/** How a website looks before or after a change. */
export interface Observation {
  pages: SeenPage[];
  /** The latest fatal errors in PHP's log, without their times. */
  fatals: string[];
}

const PAGES = [
  { name: 'the home page', path: '/' },
  { name: 'the login form', path: '/wp-login.php' },
];
/** A page that breaks off, or that lost its theme, lacks some of those that it had. */
const PARTS = [
  '<head',
  '</head>',
  '<header',
  '<nav',
  '<main',
  '<footer',
  '</body>',
  '</html>',
  'id="loginform"',
  'name="pwd"',
];
/** Past the page cache, which would hide a fault of PHP. WordPress takes such a visitor for a stranger. */
const UNCACHED = { cookie: 'wordpress_logged_in_check=1' };
/** Posts and advertisements change the length of a page, but rarely so much. */
const SHORTEST = 0.5;

/** Looks at the home page, the login form and PHP's errors. A page without an answer is a finding and no failure. */
export async function observe(
  layout: LinuxLayout,
  install: SandboxedInstall,
  website: VisitedWebsite,
  edge: AskedEdge,
  signal?: AbortSignal,
): Promise<Observation> {
  const pages: SeenPage[] = [];
  for (const { name, path } of PAGES) {
    try {
      const { status, body } = await visitPage(website, path, edge, { signal, headers: UNCACHED });
      const parts = PARTS.filter((part) => body.toLowerCase().includes(part.toLowerCase()));
      pages.push({ name, status, failure: null, length: body.length, parts });
    } catch (error) {
      signal?.throwIfAborted();
      pages.push({ name, status: null, failure: messageOf(error), length: 0, parts: [] });
    }
  }
  return { pages, fatals: await newestFatals(layout, install) };
}

/** The first check with a worse result than before, one sentence without a full stop; null if all are as good. */
export function worsened(before: Observation, after: Observation): string | null {
  for (const [index, page] of after.pages.entries()) {
    const former = before.pages[index];
    const fault = former === undefined ? null : worsenedPage(former, page);
    if (fault !== null) return fault;
  }
  const known = new Set(before.fatals);
  const fresh = after.fatals.find((line) => !known.has(line));
  return fresh === undefined ? null : `PHP reports: ${fresh}`;
}

function worsenedPage(former: SeenPage, { name, status, failure, length, parts }: SeenPage): string | null {
  if (former.status === null) return null;
  if (status === null) return `${name} gives no answer: ${failure}`;
  if (status !== former.status && status >= 400)
    return `${name} answers ${status}, and ${former.status} before`;
  // An error page has no structure to keep.
  if (former.status >= 400) return null;
  const lost = former.parts.filter((part) => !parts.includes(part));
  if (lost.length > 0) return `${name} lacks ${lost.join(', ')}`;
  if (length >= former.length * SHORTEST) return null;
  return `${name} has ${length} characters, and ${former.length} before`;
}
