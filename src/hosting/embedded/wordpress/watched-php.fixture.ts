import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { PhpRequest, PhpResponse, PhpSite, PhpSites } from '../../runtime/wasm/php-sites.ts';
import { PURGES } from './site.ts';

/** Real PHP that notes what it is asked. For tests of the edge. */
export interface WatchedPhp extends PhpSites {
  requests: { site: PhpSite; request: PhpRequest; body: string | null }[];
  /** Ids of the websites whose processes were ended. */
  stopped: string[];
  /** Answers visitors instead of the website. It can also throw what PHP would. */
  answer: (request: PhpRequest, site: PhpSite) => Partial<PhpResponse> & { page?: string };
}

export function watchPhp(php: PhpSites): WatchedPhp {
  const watched: WatchedPhp = {
    ...php,
    figures: { running: 0, memoryMb: 0, memoryLimitMb: 0, restarts: 0, waiting: 0 },
    requests: [],
    stopped: [],
    answer: () => ({}),
    async request(site, request) {
      const body = request.body === null ? null : await text(request.body);
      watched.requests.push({ site, request, body });
      const { page = '', status = 200, headers = {}, body: given } = watched.answer(request, site);
      return {
        status,
        headers: { 'content-type': 'text/html; charset=UTF-8', ...headers },
        body: given ?? Readable.from([Buffer.from(page)]),
      };
    },
    rest(id) {
      watched.stopped.push(id);
      return php.rest(id);
    },
    stop(id, graceMs) {
      watched.stopped.push(id);
      return php.stop(id, graceMs);
    },
  };
  return watched;
}

/** Adds a purge as WordPress does when a page changes. */
export const askForPurge = (site: PhpSite, request: object): Promise<void> =>
  appendFile(join(site.private, PURGES), `${JSON.stringify(request)}\n`);
