import { mapConcurrent } from '../../../lib/concurrency.ts';
import { visitPage } from '../../wordpress/wordpress-answers.ts';
import type { Asking } from './probing.ts';
import { referencedFiles } from './referenced-files.ts';
import type { Visited } from './visited-page.ts';

/** A script or stylesheet that a page loads and that does not exist. */
export interface MissingFile {
  /** Without its query. */
  path: string;
  status: number;
  /** The page that loads it. */
  page: { name: string; path: string };
}

const MOST_FILES = 40;
const SIDE_BY_SIDE = 4;
const WITHIN_MS = 5_000;

/** Requests the scripts and stylesheets of plugins and themes that pages load. Files that answer too late do not count. */
export async function missingFiles(asking: Asking, visited: readonly Visited[]): Promise<MissingFile[]> {
  const { website, edge } = asking.site;
  const pages = new Map<string, Visited['page']>();
  for (const { page, url, body } of visited) {
    if (url === null) continue;
    for (const path of referencedFiles(body, url)) if (!pages.has(path)) pages.set(path, page);
  }
  const asked = [...pages].slice(0, MOST_FILES);
  const found = await mapConcurrent(asked, SIDE_BY_SIDE, async ([address, page]) => {
    const status = asking.hasEnded() ? null : await statusOf(address);
    if (status === null || status < 400) return [];
    return [{ path: address.replace(/\?.*/, ''), status, page: { name: page.name, path: page.path } }];
  });
  return found.flat();

  async function statusOf(path: string): Promise<number | null> {
    const options = { timeoutMs: WITHIN_MS, mostBytes: 1, signal: asking.signal };
    // It may also redirect to another website, such as a CDN.
    return visitPage(website, path, edge, options).then(
      ({ status }) => status,
      () => null,
    );
  }
}
