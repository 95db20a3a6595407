import type { IncomingMessage } from 'node:http';
import { brotliDecompressSync } from 'node:zlib';
import type { Asked } from '../../policy/edge.fixture.ts';
import { EDGE_SIZES } from './edge-options.ts';
import { startEdge, type TestEdge } from './edge-table.fixture.ts';
import { siteState } from './test-installs.fixture.ts';
import type { Vhost } from './vhost.ts';

export const BROWSER = { 'Accept-Encoding': 'gzip, deflate, br, zstd' };
export const GZIP = { 'Accept-Encoding': 'gzip' };

export interface Page {
  status: number;
  cache: string | undefined;
  encoding: string | undefined;
  /** When PHP made it; undefined if PHP did not. */
  time: number | undefined;
  php: Record<string, string | undefined>;
  headers: IncomingMessage['headers'];
}

/** An edge with two websites, and requests for their pages. */
export interface PageCache {
  edge: TestEdge;
  shop: Vhost;
  blog: Vhost;
  /** A page, of `shop.test` if no name is given. */
  get(path: string, asked?: Asked, hostname?: string): Promise<Page>;
  /** A path that no test has asked for before. */
  fresh(query?: string): string;
  /** How the second request for it is answered. */
  second(path: string, asked?: Asked): Promise<string | undefined>;
}

export async function startPageCache(): Promise<PageCache> {
  const edge = await startEdge({ sizes: { ...EDGE_SIZES, queries: 100_000 } });
  const shop = await edge.makeInstall(siteState('shop', ['shop.test', 'www.shop.test']));
  const blog = await edge.makeInstall(siteState('blog', ['blog.test']));
  for (const vhost of [shop, blog]) await edge.serve(vhost);
  let pages = 0;

  async function get(path: string, asked: Asked = {}, hostname = 'shop.test'): Promise<Page> {
    const answer = await edge.http(hostname, path, asked);
    const { status, headers, bytes } = answer;
    const encoding = headers['content-encoding'];
    const content = encoding === 'br' ? brotliDecompressSync(bytes).toString() : answer.text;
    const php = content.startsWith('{') ? JSON.parse(content) : {};
    const cache = headers['x-cache'];
    return {
      status,
      cache: cache === undefined ? cache : String(cache),
      encoding,
      time: php.time,
      php,
      headers,
    };
  }

  return {
    edge,
    shop,
    blog,
    get,
    fresh: (query = '') => `/page-${++pages}/?${query}`,
    async second(path, asked = {}) {
      await get(path, asked);
      return (await get(path, asked)).cache;
    },
  };
}

export const timesOf = (answers: Page[]): Set<number | undefined> => new Set(answers.map(({ time }) => time));

/** The part of a query that makes PHP send a header. */
export const header = (line: string): string => `header[]=${encodeURIComponent(line)}`;
