import { request } from 'node:http';
import { text } from 'node:stream/consumers';

/** What every home page of WordPress has, whatever its theme: links to its own content or its REST API. */
const SIGNS = ['/wp-content/', '/wp-includes/', 'https://api.w.org/'];
const TIMEOUT_MS = 20_000;

/**
 * Asks the web server of this machine for the home page of `hostname`, and rejects with what came instead unless it is
 * WordPress's own. An answer of 200 alone would not do: a theme that is missing gives one without a body.
 */
export async function requireWordPress(
  hostname: string,
  { host, port }: { host: string; port: number },
  signal?: AbortSignal,
): Promise<void> {
  const { status, body } = await get(hostname, host, port, signal);
  if (status !== 200) throw new Error(`the home page of ${hostname} answers ${status}: ${startOf(body)}`);
  if (!SIGNS.some((sign) => body.includes(sign))) {
    throw new Error(`the home page of ${hostname} is not WordPress's: ${startOf(body)}`);
  }
}

function get(
  hostname: string,
  host: string,
  port: number,
  signal?: AbortSignal,
): Promise<{ status: number; body: string }> {
  const limits = [AbortSignal.timeout(TIMEOUT_MS), ...(signal ? [signal] : [])];
  return new Promise((resolve, reject) => {
    const asking = request(
      { host, port, path: '/', headers: { host: hostname }, agent: false, signal: AbortSignal.any(limits) },
      (response) => {
        text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
      },
    );
    asking.on('error', reject);
    asking.end();
  });
}

/** The beginning of a page in one line. */
function startOf(body: string): string {
  const words = body
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return words === '' ? 'an empty page' : words.slice(0, 200);
}
