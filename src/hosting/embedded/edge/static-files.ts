import type { Vhost } from '../host-folder/vhost.ts';
import { type Exchange, sendRedirect, sendStream } from './exchange.ts';
import type { CacheState, FileFinder } from './file-finder.ts';
import { type FileResponse, respondWithFile } from './file-response.ts';
import { folderLink, type SitePath } from './request-target.ts';

/** The reason why there is no file to serve. Nothing was sent. */
export interface NoFile {
  kind: 'missing' | 'forbidden' | 'program';
  cache: CacheState;
}

/** Answers requests with the files of a website. */
export interface StaticFiles {
  /** Serves the file or folder at that path, or returns why it cannot. */
  serve(exchange: Exchange, vhost: Vhost, path: SitePath): Promise<NoFile | null>;
  /** Answers 404 with the website's `404.html`. Returns false, with nothing sent, if it has none. */
  serveNotFound(exchange: Exchange, vhost: Vhost): Promise<boolean>;
}

const NOT_FOUND_PAGE: SitePath = { relative: '404.html', folder: false };

export function createStaticFiles(finder: FileFinder): StaticFiles {
  async function serve(
    exchange: Exchange,
    vhost: Vhost,
    path: SitePath,
    retry = true,
  ): Promise<NoFile | null> {
    const { lookup, file, cache } = await finder.find(vhost, path);
    if (lookup.kind === 'folder') {
      sendRedirect(exchange, folderLink(path) + exchange.target.query);
      return null;
    }
    if (lookup.kind !== 'file') return { kind: lookup.kind, cache };

    const { method, request, response } = exchange;
    if (file !== null) {
      const answer = respondWithFile(method, request.headers, file.version);
      response.writeHead(answer.status, { ...answer.headers, 'X-Cache': cache });
      response.end(bytesOf(answer, file.bytes));
      return null;
    }

    // Too large for the caches, so it never becomes a HIT.
    const known = respondWithFile(method, request.headers, lookup.version);
    if (known.body === null) {
      response.writeHead(known.status, { ...known.headers, 'X-Cache': 'BYPASS' }).end();
      return null;
    }
    const opened = await finder.open(vhost, path, lookup);
    if (opened === null) return retry ? serve(exchange, vhost, path, false) : { kind: 'missing', cache };
    // Described again, because it may have changed since the look-up.
    const answer = respondWithFile(method, request.headers, opened.version);
    const headers = { ...answer.headers, 'X-Cache': 'BYPASS' };
    if (answer.body === null) {
      await opened.handle.close();
      response.writeHead(answer.status, headers).end();
      return null;
    }
    const { start, end } = answer.body;
    const body = opened.handle.createReadStream({ start, end });
    await sendStream(exchange, answer.status, headers, body, end - start + 1);
    return null;
  }

  return {
    serve,
    async serveNotFound({ response }, vhost) {
      const { file, cache } = await finder.find(vhost, NOT_FOUND_PAGE);
      if (file === null) return false;
      response.writeHead(404, {
        'Content-Type': file.version.type,
        'Content-Length': file.bytes.length,
        'Cache-Control': 'no-cache',
        'X-Content-Type-Options': 'nosniff',
        'X-Cache': cache,
      });
      response.end(file.bytes);
      return true;
    },
  };
}

function bytesOf({ body }: FileResponse, bytes: Buffer): Buffer | undefined {
  if (body === null) return undefined;
  return body.end - body.start + 1 === bytes.length ? bytes : bytes.subarray(body.start, body.end + 1);
}
