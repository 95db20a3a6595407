import { mapConcurrent } from '../../../lib/concurrency.ts';
import { SECOND_MS } from '../../../lib/durations.ts';
import {
  type AskedPage,
  INSTALLATION_PART,
  type ProbedWebsite,
  type SeenPage,
  seePage,
  UNCACHED,
} from './visited-page.ts';

export const HOME_PAGE: AskedPage = { name: 'the home page', path: '/', kind: 'visitor' };
export const LOGIN_FORM: AskedPage = { name: 'the login form', path: '/wp-login.php', kind: 'visitor' };
/** A file that every version of WordPress has. The edge sends it without PHP. */
export const CORE_STYLESHEET: AskedPage = {
  name: 'the stylesheet of WordPress',
  path: '/wp-includes/css/dashicons.min.css',
  kind: 'file',
};

const WITHIN_MS = 20 * SECOND_MS;
/** Few enough to leave a website's workers to its visitors. */
const SIDE_BY_SIDE = 2;

/** A page that does not work, without a comparison with an earlier state. */
export interface PageFault {
  page: string;
  path: string;
  /** Null without an answer. */
  status: number | null;
  /** One sentence without a full stop: what is wrong, with the first error of PHP if it is known. */
  text: string;
  /** The page answers 503 without an error, as maintenance pages do on purpose. */
  isMaintenance: boolean;
}

export interface VisitorProbe {
  /** For each page, with its redirects. */
  timeoutMs?: number;
  /** Asks as other visitors do, so that the page cache may answer. Otherwise PHP makes each page. */
  throughCache?: boolean;
  /** The newest fatal errors of the website's PHP, without their times. They name the cause of a fault. */
  fatals?: () => Promise<readonly string[]>;
  signal?: AbortSignal | undefined;
}

/** Requests the home page from the website's own edge. Returns null if visitors see the website. */
export async function probeHomePage(
  site: ProbedWebsite,
  probe: VisitorProbe = {},
): Promise<PageFault | null> {
  const [fault = null] = await probePages(site, [HOME_PAGE], probe);
  return fault;
}

/**
 * Requests what visitors need from the website's own edge: the home page, a stylesheet of WordPress, and the login form. Costs two
 * pages of PHP and needs no session. Returns one fault for each page that does not work.
 */
export function probeVisitors(site: ProbedWebsite, probe: VisitorProbe = {}): Promise<PageFault[]> {
  return probePages(site, [HOME_PAGE, CORE_STYLESHEET, LOGIN_FORM], probe);
}

async function probePages(
  site: ProbedWebsite,
  pages: readonly AskedPage[],
  { timeoutMs = WITHIN_MS, throughCache = false, fatals, signal }: VisitorProbe,
): Promise<PageFault[]> {
  const former = (await fatals?.()) ?? [];
  const seen = await mapConcurrent(
    pages,
    SIDE_BY_SIDE,
    async (page) =>
      (await seePage(site, page, { timeoutMs, signal, headers: throughCache ? {} : UNCACHED })).page,
  );
  const faulty = seen.filter((page) => faultOf(page) !== null);
  if (faulty.length === 0) return [];
  const logged = firstOfMore(former, (await fatals?.()) ?? []);
  return faulty.map((page) => {
    const fault = faultOf(page) ?? '';
    const cause = page.error ?? ((page.status ?? 0) >= 500 ? logged : null);
    return {
      ...{ page: page.name, path: page.path, status: page.status },
      text: cause === null ? fault : `${fault}: ${cause}`,
      isMaintenance: page.status === 503 && page.errors.length === 0,
    };
  });
}

/** The first line that the log has more often than before: a page that fails on each visit repeats its line. */
function firstOfMore(before: readonly string[], after: readonly string[]): string | null {
  const times = (lines: readonly string[], line: string) => lines.filter((other) => other === line).length;
  return after.find((line) => times(after, line) > times(before, line)) ?? null;
}

/** The fault of a page that should work; null if it does. Plugins answer 401, 403 or 404 to hide pages from strangers. */
export function faultOf({
  name,
  path,
  kind,
  status,
  failure,
  length,
  parts,
  errors,
  error,
}: SeenPage): string | null {
  if (status === null) return `${name} gives no answer: ${failure}`;
  if (status >= 500) return `${name} answers ${status}`;
  if (errors.length > 0) return `${name} shows a ${errors[0]?.toLowerCase()}`;
  if (error !== null) return `${name} breaks off`;
  if (parts.includes(INSTALLATION_PART)) return `${name} leads to ${INSTALLATION_PART}`;
  // It redirects to another website, such as to a CDN.
  if (failure !== null || path === LOGIN_FORM.path) return null;
  const isMissing = kind === 'file' ? status >= 400 : path === '/' && (status === 404 || status === 410);
  if (isMissing) return `${name} answers ${status}`;
  return path === '/' && status < 300 && length === 0 ? `${name} is empty` : null;
}
