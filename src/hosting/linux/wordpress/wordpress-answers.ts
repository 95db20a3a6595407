import { type IncomingMessage, request } from 'node:http';

/** Every WordPress home page contains one of these, whatever its theme: links to its content or its REST API. */
const SIGNS = ['/wp-content/', '/wp-includes/', 'https://api.w.org/'];
const TIMEOUT_MS = 20_000;
/** Bytes of a page that are read, because a website could send without end and this process keeps what it reads. */
const MOST_BYTES = 1024 * 1024;

/**
 * Requests the home page of `hostname` from this machine's web server, and rejects unless WordPress generated it. Status 200
 * alone is not enough: a missing theme gives 200 without a body.
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
        beginningOf(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
      },
    );
    asking.on('error', reject);
    asking.end();
  });
}

/** Reads at most {@link MOST_BYTES}, then closes the connection. */
async function beginningOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    const read = Buffer.from(chunk).subarray(0, MOST_BYTES - bytes);
    chunks.push(read);
    bytes += read.length;
    if (bytes === MOST_BYTES) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The beginning of a page on one line. */
function startOf(body: string): string {
  const words = body
    .slice(0, 4096)
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return words === '' ? 'an empty page' : words.slice(0, 200);
}
