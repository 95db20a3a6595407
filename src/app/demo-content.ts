import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { ListenAddress } from '../config/config.ts';
import { SECOND_MS } from '../lib/durations.ts';
import type { Services } from './services.ts';

const ANSWER_WITHIN_MS = 90 * SECOND_MS;

/** A site of the demo and the install that visitors see. */
export interface DemoSite {
  install: string;
  title: string;
  tagline: string;
  about: readonly string[];
  posts: readonly { title: string; words: readonly string[] }[];
}

interface Answer {
  status: number;
  cookies: string[];
  body: string;
}

/**
 * Writes the posts and pages of a demo site into the WordPress of its production install. Signs in by a login link and uses the REST API,
 * as a person's browser would.
 */
export async function writeDemoContent(
  { install, title, tagline, about, posts }: DemoSite,
  { loginLinks }: Pick<Services, 'loginLinks'>,
  edge: ListenAddress,
  signal: AbortSignal,
): Promise<void> {
  const { url } = await loginLinks.createAsOperator(install, null);
  const { host, pathname, search } = new URL(url);
  const ask = (path: string, options: Asked = {}) => askEdge(edge, host, path, { ...options, signal });

  const { cookies } = await ask(pathname + search);
  const cookie = cookies.map((line) => line.split(';', 1)[0]).join('; ');
  const nonce = await ask('/wp-admin/admin-ajax.php?action=rest-nonce', { headers: { cookie } });
  const headers = { cookie, 'x-wp-nonce': nonce.body.trim() };
  const write = async (route: string, fields: object) => {
    const answer = await ask(`/?rest_route=${encodeURIComponent(route)}`, { headers, json: fields });
    if (answer.status < 300) return;
    throw new Error(`WordPress of ${install} answers ${answer.status} to ${route}`);
  };

  await write('/wp/v2/settings', { title, description: tagline });
  // The first post and page of every new WordPress.
  const [first, ...others] = posts;
  if (first !== undefined) await write('/wp/v2/posts/1', contentOf(first));
  await write('/wp/v2/pages/2', { title: 'About', slug: 'about', content: paragraphs(about) });
  for (const post of others) await write('/wp/v2/posts', { ...contentOf(post), status: 'publish' });
}

const contentOf = ({ title, words }: { title: string; words: readonly string[] }) => ({
  title,
  slug: title.toLowerCase().replace(/[^a-z0-9]+/g, '-'),
  content: paragraphs(words),
});

/** As the block editor stores them. */
const paragraphs = (words: readonly string[]) =>
  words.map((line) => `<!-- wp:paragraph -->\n<p>${line}</p>\n<!-- /wp:paragraph -->`).join('\n\n');

interface Asked {
  headers?: Record<string, string>;
  /** Makes it a POST. */
  json?: object;
  signal?: AbortSignal;
}

function askEdge(
  { host: address, port }: ListenAddress,
  host: string,
  path: string,
  { headers = {}, json, signal }: Asked,
): Promise<Answer> {
  const body = json === undefined ? null : JSON.stringify(json);
  const signals = [AbortSignal.timeout(ANSWER_WITHIN_MS), ...(signal ? [signal] : [])];
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        host: address === '0.0.0.0' || address === '::' ? '127.0.0.1' : address,
        port,
        path,
        method: body === null ? 'GET' : 'POST',
        headers: {
          ...headers,
          host,
          ...(body !== null && {
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(body),
          }),
        },
        signal: AbortSignal.any(signals),
      },
      (response) => {
        const cookies = response.headers['set-cookie'] ?? [];
        text(response).then(
          (content) => resolve({ status: response.statusCode ?? 0, cookies, body: content }),
          reject,
        );
      },
    );
    asked.on('error', reject).end(body ?? undefined);
  });
}
