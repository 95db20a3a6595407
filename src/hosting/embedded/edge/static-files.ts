import type { IncomingHttpHeaders } from 'node:http';
import type { CachedFile } from './caches.ts';
import { streamCodingOf } from './compressed-stream.ts';
import type { CompressedVariants } from './compressed-variants.ts';
import { acceptedCodings, type Coding } from './content-coding.ts';
import { type Exchange, sendRedirect, sendStream } from './exchange.ts';
import type { CacheState, FileFinder, FileTree, OpenedFile } from './file-finder.ts';
import { codedHeaders, type FileResponse, type FileVersion, respondWithFile } from './file-response.ts';
import { folderLink, type SitePath } from './request-target.ts';

/** The reason why there is no file to serve. Nothing was sent. */
export interface NoFile {
  kind: 'missing' | 'forbidden' | 'program';
  cache: CacheState;
}

/** Answers requests with files. */
export interface StaticFiles {
  /** Serves the file or folder at that path, or returns why it cannot. */
  serve(exchange: Exchange, tree: FileTree, path: SitePath): Promise<NoFile | null>;
  /** Answers 404 with the website's `404.html`. Returns false, with nothing sent, if it has none. */
  serveNotFound(exchange: Exchange, tree: FileTree): Promise<boolean>;
}

const NOT_FOUND_PAGE: SitePath = { relative: '404.html', folder: false };
const NO_CODINGS = acceptedCodings(undefined);

export function createStaticFiles(finder: FileFinder, variants: CompressedVariants): StaticFiles {
  async function serve(
    exchange: Exchange,
    tree: FileTree,
    path: SitePath,
    retry = true,
  ): Promise<NoFile | null> {
    const { lookup, file, key, cache } = await finder.find(tree, path);
    if (lookup.kind === 'folder') {
      sendRedirect(exchange, folderLink(path) + exchange.target.query);
      return null;
    }
    if (lookup.kind !== 'file') return { kind: lookup.kind, cache };

    const { method, request, response } = exchange;
    const version = file?.version ?? lookup.version;
    if (file !== null) {
      const [coding = null] = codingsFor(exchange, version);
      if (method === 'GET' && !hasConditions(request.headers)) {
        const coded = coding === null ? null : await inCoding(tree, key, file, coding);
        const head = headOf(version, coded === null ? null : coding, coded?.length ?? 0, cache);
        response.writeHead(200, head);
        response.end(coded ?? file.bytes);
        return null;
      }
      const answer = respondWithFile(method, request.headers, version, coding);
      const coded = answer.status === 200 ? await inCoding(tree, key, file, coding) : null;
      if (coding === null || coded === null) {
        response.writeHead(answer.status, { ...answer.headers, 'X-Cache': cache });
        response.end(bytesOf(answer, file.bytes));
        return null;
      }
      response.writeHead(200, {
        ...codedHeaders(answer.headers, version, coding, coded.length),
        'X-Cache': cache,
      });
      response.end(method === 'HEAD' ? undefined : coded);
      return null;
    }

    // Too large for the caches, so it never becomes a HIT.
    const known = describeLarge(exchange, version);
    if (known.body === null) {
      response.writeHead(known.status, { ...known.headers, 'X-Cache': 'BYPASS' }).end();
      return null;
    }
    const opened = await finder.open(tree, path, lookup);
    if (opened === null) return retry ? serve(exchange, tree, path, false) : { kind: 'missing', cache };
    await sendLarge(exchange, opened);
    return null;
  }

  function inCoding(
    { id }: FileTree,
    key: string,
    { version, bytes }: CachedFile,
    coding: Coding | null,
  ): ReturnType<CompressedVariants['of']> {
    return coding === null ? null : variants.of({ website: id, key, version: version.etag, bytes }, coding);
  }

  return {
    serve,
    async serveNotFound({ method, request, response }, tree) {
      const { file, key, cache } = await finder.find(tree, NOT_FOUND_PAGE);
      if (file === null) return false;
      const [coding = null] = codingsFor({ request }, file.version);
      const coded = await inCoding(tree, key, file, coding);
      const bytes = coded ?? file.bytes;
      response.writeHead(404, {
        'Content-Type': file.version.type,
        ...(file.version.compressed ? { Vary: 'Accept-Encoding' } : {}),
        ...(coding === null || coded === null ? {} : { 'Content-Encoding': coding }),
        'Content-Length': bytes.length,
        'Cache-Control': 'no-cache',
        'X-Content-Type-Options': 'nosniff',
        'X-Cache': cache,
      });
      response.end(method === 'HEAD' ? undefined : bytes);
      return true;
    },
  };
}

/** Heads of whole files by their coding and cache state. Nearly all requests ask for a whole file. */
const heads = new WeakMap<FileVersion, Map<string, FileResponse['headers']>>();

function headOf(
  version: FileVersion,
  coding: Coding | null,
  codedLength: number,
  cache: CacheState,
): FileResponse['headers'] {
  const known = heads.get(version) ?? new Map<string, FileResponse['headers']>();
  const key = coding === null ? cache : `${coding} ${cache}`;
  const head = known.get(key);
  if (head !== undefined) return head;
  const { headers } = respondWithFile('GET', {}, version, coding);
  const own = coding === null ? headers : codedHeaders(headers, version, coding, codedLength);
  const made = { ...own, 'X-Cache': cache };
  heads.set(version, known.set(key, made));
  return made;
}

const CONDITIONS = [
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-unmodified-since',
  'range',
] as const;

const hasConditions = (asked: IncomingHttpHeaders): boolean =>
  CONDITIONS.some((name) => asked[name] !== undefined);

function codingsFor({ request }: Pick<Exchange, 'request'>, { compressed }: FileVersion): readonly Coding[] {
  return compressed ? acceptedCodings(request.headers['accept-encoding']) : NO_CODINGS;
}

interface LargeResponse extends FileResponse {
  coding: ReturnType<typeof streamCodingOf>;
}

function describeLarge(exchange: Exchange, version: FileVersion): LargeResponse {
  const coding = streamCodingOf(codingsFor(exchange, version));
  const answer = respondWithFile(exchange.method, exchange.request.headers, version, coding);
  if (coding === null || answer.status !== 200) return { ...answer, coding: null };
  return { ...answer, headers: codedHeaders(answer.headers, version, coding, null), coding };
}

/** Described again, because it may have changed since the look-up. */
async function sendLarge(exchange: Exchange, { version, handle }: OpenedFile): Promise<void> {
  const answer = describeLarge(exchange, version);
  const headers = { ...answer.headers, 'X-Cache': 'BYPASS' };
  if (answer.body === null) {
    await handle.close();
    exchange.response.writeHead(answer.status, headers).end();
    return;
  }
  const { start, end } = answer.body;
  const body = handle.createReadStream({ start, end });
  await sendStream(exchange, answer.status, headers, body, end - start + 1, answer.coding);
}

function bytesOf({ body }: FileResponse, bytes: Buffer): Buffer | undefined {
  if (body === null) return undefined;
  return body.end - body.start + 1 === bytes.length ? bytes : bytes.subarray(body.start, body.end + 1);
}
