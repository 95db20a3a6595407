import { type IncomingMessage, type RequestOptions, request } from 'node:http';
import { request as secureRequest } from 'node:https';
import { BrokenWebsiteError } from '../contract/errors.ts';
import { PAGE_ACCEPT, PAGE_USER_AGENT } from '../policy/page-request-headers.ts';
import { createPass, PASS_HEADER } from '../policy/visitor-pass.ts';
import { phpErrorIn } from './failure-sentence.ts';

/** A website as its visitors address it. */
export interface VisitedWebsite {
  primaryHostname: string;
  /** Whether visitors of that name use HTTPS. */
  secure: boolean;
  /** All its host names; `*.example.com` matches one label. */
  names: readonly string[];
  /** Key of passes through the password of its visitors; null or omitted without a password. */
  passKey?: string | null;
}

/** Where this machine's web server answers. */
export interface AskedEdge {
  http: { host: string; port: number };
  https: { host: string; port: number };
}

/** A page as a visitor gets it, after redirects. */
export interface VisitedPage {
  url: URL;
  status: number;
  /** The first mebibyte, unless less was wanted. */
  body: string;
}

/** A page redirects to another website. */
export class RedirectedElsewhere extends BrokenWebsiteError {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Every WordPress home page contains one of these, whatever its theme: links to its content or its REST API. */
const SIGNS = ['/wp-content/', '/wp-includes/', 'https://api.w.org/'];
/** For a page, with its redirects. */
const TIMEOUT_MS = 20_000;
/** Bytes of a page that are read, because a website could send without end and this process keeps what it reads. */
const MOST_BYTES = 1024 * 1024;
const MOST_REDIRECTS = 5;

/**
 * Requests the home page from this machine's web server as visitors do, and rejects unless WordPress generated it. Status 200
 * alone is not enough: a missing theme gives 200 without a body.
 */
export async function requireWordPress(
  website: VisitedWebsite,
  edge: AskedEdge,
  signal?: AbortSignal,
  timeoutMs = TIMEOUT_MS,
): Promise<void> {
  const { url, status, body } = await visitPage(website, '/', edge, { signal, timeoutMs });
  const page = url.pathname === '/' ? 'the home page' : `${url.pathname}, where the home page redirects,`;
  if (status !== 200)
    throw new BrokenWebsiteError(`${page} of ${url.host} answers ${status}: ${startOf(body)}`);
  if (!SIGNS.some((sign) => body.includes(sign))) {
    throw new BrokenWebsiteError(`${page} of ${url.host} is not WordPress's: ${startOf(body)}`);
  }
}

/**
 * Requests a path of a website with the scheme and the host of its visitors. Follows redirects to its own names, with either
 * scheme; rejects with a {@link RedirectedElsewhere} for others, and with a
 * {@link BrokenWebsiteError} after five.
 */
export async function visitPage(
  website: VisitedWebsite,
  path: string,
  edge: AskedEdge,
  {
    signal,
    headers = {},
    timeoutMs = TIMEOUT_MS,
    mostBytes = MOST_BYTES,
  }: {
    signal?: AbortSignal | undefined;
    headers?: Record<string, string>;
    timeoutMs?: number;
    mostBytes?: number;
  } = {},
): Promise<VisitedPage> {
  const limit = AbortSignal.timeout(timeoutMs);
  const until = signal === undefined ? limit : AbortSignal.any([limit, signal]);
  const { passKey } = website;
  const passing: Record<string, string> = {
    'user-agent': PAGE_USER_AGENT,
    accept: PAGE_ACCEPT,
    ...(passKey ? { [PASS_HEADER]: createPass(passKey, new Date()) } : {}),
  };
  const { port } = website.secure ? edge.https : edge.http;
  let url = new URL(path, `${website.secure ? 'https' : 'http'}://${website.primaryHostname}:${port}`);
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    const { status, location, body } = await get(url, edge, {
      // Another website of this machine can have the name if only a wildcard covers it, and must not get a session of this one.
      headers: { ...passing, ...(isExact(url, website) ? headers : {}) },
      signal: until,
      mostBytes,
    });
    if (status < 300 || status >= 400 || location === undefined) return { url, status, body };
    const next = URL.parse(location, url.href);
    if (next === null || !isOwnAddress(next, website.names)) {
      throw new RedirectedElsewhere(
        status,
        `${url.origin}${url.pathname} redirects to ${location.slice(0, 200)}`,
      );
    }
    url = next;
  }
  throw new BrokenWebsiteError(
    `${path} of ${website.primaryHostname} redirects more than ${MOST_REDIRECTS} times`,
  );
}

/** Whether an address is one of a website with these names. */
export function isOwnAddress({ protocol, hostname }: URL, names: readonly string[]): boolean {
  if (protocol !== 'http:' && protocol !== 'https:') return false;
  return names.includes(hostname) || names.includes(hostname.replace(/^[^.]+/, '*'));
}

const isExact = ({ hostname }: URL, { primaryHostname, names }: VisitedWebsite): boolean =>
  hostname === primaryHostname || names.includes(hostname);

interface Answer {
  status: number;
  location: string | undefined;
  body: string;
}

function get(
  url: URL,
  edge: AskedEdge,
  { headers, signal, mostBytes }: { headers: Record<string, string>; signal: AbortSignal; mostBytes: number },
): Promise<Answer> {
  const isSecure = url.protocol === 'https:';
  const options: RequestOptions = {
    ...(isSecure ? edge.https : edge.http),
    path: `${url.pathname}${url.search}`,
    headers: { ...headers, host: url.host },
    agent: false,
    signal,
  };
  return new Promise((resolve, reject) => {
    const asking = isSecure
      ? // This machine answers, and a new website has a self-signed certificate.
        secureRequest({ ...options, servername: url.hostname, rejectUnauthorized: false })
      : request(options);
    asking.on('response', (response) => {
      const { statusCode: status = 0, headers } = response;
      beginningOf(response, mostBytes).then(
        (body) => resolve({ status, location: headers.location, body }),
        reject,
      );
    });
    asking.on('error', reject);
    asking.end();
  });
}

/** Reads at most so many bytes, then closes the connection. */
async function beginningOf(response: IncomingMessage, most: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    const read = Buffer.from(chunk).subarray(0, most - bytes);
    chunks.push(read);
    bytes += read.length;
    if (bytes === most) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The beginning of a page on one line. */
function startOf(body: string): string {
  const error = phpErrorIn(body);
  if (error !== null) return error;
  const words = body
    .slice(0, 4096)
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return words === '' ? 'an empty page' : words.slice(0, 200);
}
