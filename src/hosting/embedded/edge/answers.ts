import type { Logger } from 'pino';
import type { Clock } from '../../../lib/clock.ts';
import { namesOneHost } from '../../../lib/one-host.ts';
import type { HttpRequest, HttpResponse } from '../../../network/connections/http-messages.ts';
import type { ObjectStorage } from '../../../network/object-storage/object-storage.ts';
import { ACME_CHALLENGE_PREFIX } from '../../contract/proofs.ts';
import { LOGIN_PATH } from '../../contract/wordpress-login.ts';
import { isInRanges } from '../../policy/address-ranges.ts';
import { hasChallengePrefix } from '../../policy/challenge-rules.ts';
import { isClosedProgram } from '../../policy/closed-programs.ts';
import { isDenied } from '../../policy/deny-rules.ts';
import { MARKER_PREFIX, type Marker, markerText, parseMarker } from '../../policy/marker.ts';
import { NOTICES } from '../../policy/pages.ts';
import { hasPatterns, type MatchPattern, pathRedirect } from '../../policy/path-redirects.ts';
import { loadPatternEngine } from '../../policy/pattern-engine.ts';
import type { Scheme } from '../../policy/redirects.ts';
import { NOT_SHOWN } from '../../wordpress/core-tree.ts';
import type { Vhost } from '../host-folder/vhost.ts';
import type { ChallengeFiles } from './challenge-files.ts';
import type { CoreFiles } from './core-files.ts';
import { isDatabasePath, mayOpenDatabase } from './database-page.ts';
import { type Exchange, sendNotice, sendRedirect } from './exchange.ts';
import type { LiveVhosts } from './live-vhosts.ts';
import { createLoginAttempts } from './login-attempts.ts';
import { offloadedTo, serveObject } from './offload.ts';
import type { PhpExchange, PhpPages } from './php-pages.ts';
import { type EdgePorts, isOwnAddress, redirectFor } from './redirects.ts';
import {
  isHidden,
  parseSitePath,
  parseTarget,
  type RequestTarget,
  type SitePath,
  uriOf,
} from './request-target.ts';
import type { ResponseMeter } from './response-meter.ts';
import { type HostHeader, parseHost, type Route } from './routing.ts';
import type { NoFile, StaticFiles } from './static-files.ts';
import { createVisitorLogins } from './visitor-logins.ts';

export interface AnswersOptions {
  vhosts: LiveVhosts;
  files: StaticFiles;
  /** Files of the WordPress versions; none without PHP. */
  cores?: CoreFiles | null;
  /** None on a machine that cannot run PHP. */
  php?: PhpPages | null;
  proofs: ChallengeFiles;
  objectStorage: ObjectStorage;
  /** Counts the traffic of each website, and logs it. */
  meter: ResponseMeter;
  /** The visitor's address. */
  visitorOf(request: HttpRequest): string | undefined;
  /** The website whose PHP sends the request; null for a visitor. */
  websiteAsking(request: HttpRequest): string | null;
  log: Logger;
  clock: Clock;
  /** Where the edge listens; zeros before it does. */
  ports: EdgePorts;
}

/** Answers a request of a visitor. Rejects if that fails. */
export type Answer = (scheme: Scheme, request: HttpRequest, response: HttpResponse) => Promise<void>;

const WELL_KNOWN = '/.well-known/';
const NO_PATTERNS: MatchPattern = () => null;
const ALLOWED = 'GET, HEAD, OPTIONS';
const NO_PHP_SECONDS = 60;

/** As `is_xmlrpc` of the Lua module `rules`. */
const XMLRPC = /\/xmlrpc\.php(?:\/|$)/;

const isReading = (method: string): method is Exchange['method'] => method === 'GET' || method === 'HEAD';

/** Our own PHP in the folder of a WordPress. */
const isLibrary = ({ relative }: SitePath): boolean => /^homeport\/.*\.php(\/|$)/i.test(relative);

/** Decides what the edge answers: proofs, notices, redirects, objects and files of websites. */
export function createAnswers(options: AnswersOptions): Answer {
  const { vhosts, files, proofs, objectStorage, meter, log, clock, ports } = options;
  const { cores = null, php = null } = options;
  const logins = createVisitorLogins({ clock });
  const attempts = createLoginAttempts({ clock });

  /** Handles a request; the checks run top to bottom. */
  async function answer(scheme: Scheme, request: HttpRequest, response: HttpResponse): Promise<void> {
    const target = parseTarget(request.url ?? '');
    if (target === null || !namesOneHost(request)) {
      return sendNotice({ response }, NOTICES.badRequest, { Connection: 'close' });
    }
    const host = parseHost(target.authority ?? request.headers.host);
    if (target.path.startsWith(WELL_KNOWN) && (await answerWellKnown(request, response, host, target)))
      return;

    const route = host === null ? undefined : await routeTo(host);
    if (host === null || route === undefined) return sendNotice({ response }, NOTICES.noWebsite);
    const asking = options.websiteAsking(request);
    // PHP names any host on a connection that it has for its own.
    if (asking !== null && asking !== route.vhost.id) return sendNotice({ response }, NOTICES.noWebsite);
    // PHP would name any visitor, if this machine is a trusted proxy.
    const address = asking === null ? options.visitorOf(request) : request.socket.remoteAddress;
    meter.assign(response, {
      installId: route.vhost.id,
      scheme,
      host: host.name,
      path: target.path,
      address,
    });
    if (isInRanges(route.vhost.blocked, address)) return sendNotice({ response }, NOTICES.blocked);

    const method = request.method ?? '';
    const { wordpress } = route.vhost;
    if (wordpress === null && method === 'OPTIONS') {
      response.writeHead(204, { Allow: ALLOWED }).end();
      return;
    }
    if (wordpress === null && method !== 'GET' && method !== 'HEAD') {
      // Closed, because the rest of the request is not read.
      return sendNotice({ response }, NOTICES.method, { Allow: ALLOWED, Connection: 'close' });
    }
    const location = redirectFor(route, { scheme, ...host }, target, ports, clock.now());
    if (location !== null) return sendRedirect({ response }, location);
    if (route.vhost.noindex === 'all' || route.rule.default) response.setHeader('X-Robots-Tag', 'noindex');
    const path = parseSitePath(target.path);
    if (path === null) return sendNotice({ response }, NOTICES.badRequest);
    const exchange = {
      ...{ request, response, method, target, scheme, host },
      clientAddress: address ?? '',
      isOwn: asking === route.vhost.id,
    };
    // Its token counts in place of the password.
    if (wordpress !== null && target.path === LOGIN_PATH) return answerLogin(exchange, route.vhost);
    if (wordpress !== null && isDatabasePath(target)) return answerDatabase(exchange, route.vhost);
    if (await isRefused(request, response, route.vhost, address)) return;

    const { redirects } = route.vhost;
    const match = hasPatterns(redirects) ? await loadPatternEngine() : NO_PATTERNS;
    const redirect = pathRedirect(redirects, uriOf(path), target.query.slice(1), match);
    if (redirect !== null && !isOwnAddress(redirect.to, { scheme, ...host }, target)) {
      return sendRedirect({ response }, redirect.to, redirect.status);
    }
    if (wordpress !== null) return answerWithWordPress(exchange, route.vhost, path);
    if (isReading(method)) await answerWithContent({ ...exchange, method }, route.vhost, path);
  }

  /** Whether the request was answered, because the visitor must enter a password first. */
  async function isRefused(
    request: HttpRequest,
    response: HttpResponse,
    vhost: Vhost,
    address: string | undefined,
  ): Promise<boolean> {
    if (vhost.protect === null || logins.hasPass(vhost, request.headers)) return false;
    const refusal = await logins.refusal(vhost, request.headers.authorization, address);
    if (refusal === null) return false;
    if (refusal.status === 429) {
      sendNotice({ response }, NOTICES.tooMany, { 'Retry-After': refusal.retryAfter });
    } else {
      const challenge = `Basic realm="${refusal.realm}", charset="UTF-8"`;
      sendNotice({ response }, NOTICES.protected, { 'WWW-Authenticate': challenge });
    }
    return true;
  }

  /** Answers well-known paths of the edge (RFC 8615). Returns false if the path is not one of them. */
  async function answerWellKnown(
    { method }: HttpRequest,
    response: HttpResponse,
    host: HostHeader | null,
    { path }: RequestTarget,
  ): Promise<boolean> {
    if (path.startsWith(MARKER_PREFIX)) {
      answerMarker(response, host, parseMarker(path));
      return true;
    }
    if (!hasChallengePrefix(path)) return false;
    const reads = method === 'GET' || method === 'HEAD';
    const text = reads && host !== null ? await proofs.textFor(host.name, path) : null;
    if (text !== null) sendText(response, text);
    // A customer's ACME client may write its responses to files.
    else if (path.startsWith(ACME_CHALLENGE_PREFIX)) return false;
    else sendNotice({ response }, NOTICES.notFound);
    return true;
  }

  // Known names, which are nearly all, take no extra turn of the event loop.
  function routeTo({ name }: HostHeader): Route | undefined | Promise<Route | undefined> {
    return vhosts.known(name) ?? vhosts.find(name);
  }

  function answerMarker(response: HttpResponse, host: HostHeader | null, marker: Marker | null): void {
    if (marker !== null) vhosts.refresh(marker.installId);
    const vhost = host === null ? undefined : vhosts.known(host.name)?.vhost;
    if (marker === null || vhost?.id !== marker.installId || vhost.revision !== marker.revision) {
      sendNotice({ response }, NOTICES.notFound);
      return;
    }
    sendText(response, markerText(marker));
  }

  async function answerWithContent(exchange: Exchange, vhost: Vhost, path: SitePath): Promise<void> {
    if (isHidden(path.relative) || isDenied(vhost.deny, uriOf(path)))
      return answerWithoutFile(exchange, vhost, { kind: 'missing', cache: 'MISS' });
    const storageFailed = await answerFromStorage(exchange, vhost, path);
    if (storageFailed === null) return;
    const noFile = await files.serve(exchange, vhost, path);
    if (noFile === null) return;
    if (storageFailed && noFile.kind === 'missing') sendNotice(exchange, NOTICES.storage);
    else await answerWithoutFile(exchange, vhost, noFile);
  }

  /** Files of the website and of its WordPress, and PHP for everything else. */
  async function answerWithWordPress(exchange: PhpExchange, vhost: Vhost, path: SitePath): Promise<void> {
    const { method, response, target, clientAddress } = exchange;
    const uri = uriOf(path);
    if (!vhost.xmlrpc && XMLRPC.test(uri)) return sendNotice({ response }, NOTICES.blocked);
    if (isHidden(path.relative) || isDenied(vhost.deny, uri) || isClosedProgram(uri) || isLibrary(path)) {
      return sendNotice({ response }, NOTICES.notFound);
    }
    const query = target.query.slice(1);
    const wait = attempts.refusal(vhost.id, clientAddress || undefined, { method, uri, query });
    if (wait !== null) {
      return sendNotice({ response }, NOTICES.tooMany, { 'Retry-After': wait, Connection: 'close' });
    }
    if (isReading(method)) {
      const reading = { ...exchange, method };
      const storageFailed = await answerFromStorage(reading, vhost, path);
      if (storageFailed === null) return;
      if (await answerWithFile(reading, vhost, path)) return;
      if (storageFailed) return sendNotice({ response }, NOTICES.storage);
    }
    await answerByPhp(exchange, vhost, path);
  }

  /** Whether a file of the website, or of its WordPress, was sent. A file of the website covers that of WordPress. */
  async function answerWithFile(exchange: Exchange, vhost: Vhost, path: SitePath): Promise<boolean> {
    // The index of a folder is PHP's.
    if (path.folder) return false;
    const noFile = await files.serve(exchange, vhost, path);
    if (noFile === null) return true;
    if (noFile.kind !== 'missing') return answerForbidden(exchange, noFile);
    const [first = ''] = path.relative.split('/');
    if (NOT_SHOWN.has(first) || cores === null) return false;
    const noCoreFile = await cores.serve(exchange, vhost, path);
    return noCoreFile === null;
  }

  function answerForbidden({ response }: Exchange, { kind }: NoFile): boolean {
    if (kind === 'forbidden') sendNotice({ response }, NOTICES.forbidden);
    return kind === 'forbidden';
  }

  /** A login is never cached, and HEAD, which PHP gets as GET, would use it up. */
  async function answerLogin(exchange: PhpExchange, vhost: Vhost): Promise<void> {
    const { response, method } = exchange;
    if (method !== 'GET') {
      return sendNotice({ response }, NOTICES.method, { Allow: 'GET', Connection: 'close' });
    }
    if (php === null) return refuseWithoutPhp(exchange);
    await php.pass(exchange, vhost);
  }

  /** The database, for visitors with a link or the cookie of a session, which its program checks. Never cached. */
  async function answerDatabase(exchange: PhpExchange, vhost: Vhost): Promise<void> {
    const { response, request, method, target } = exchange;
    response.setHeader('X-Robots-Tag', 'noindex');
    if (method !== 'GET' && method !== 'POST') {
      return sendNotice({ response }, NOTICES.method, { Allow: 'GET, POST', Connection: 'close' });
    }
    if (!mayOpenDatabase(target, request.headers.cookie)) {
      return sendNotice({ response }, NOTICES.blocked, { Connection: 'close' });
    }
    if (php === null) return refuseWithoutPhp(exchange);
    await php.pass(exchange, vhost);
  }

  async function answerByPhp(exchange: PhpExchange, vhost: Vhost, path: SitePath): Promise<void> {
    if (php === null) return refuseWithoutPhp(exchange);
    await php.answer(exchange, vhost, path);
  }

  function refuseWithoutPhp({ response }: PhpExchange): void {
    sendNotice({ response }, NOTICES.busy, { 'Retry-After': NO_PHP_SECONDS, Connection: 'close' });
  }

  /** Null if the object was sent; otherwise whether the storage failed. */
  async function answerFromStorage(
    exchange: Exchange,
    vhost: Vhost,
    path: SitePath,
  ): Promise<boolean | null> {
    const offloaded = offloadedTo(vhost.offload, path);
    if (offloaded === null) return false;
    try {
      return (await serveObject(exchange, offloaded, objectStorage)) ? null : false;
    } catch (err) {
      if (exchange.response.headersSent) throw err;
      log.error({ err, install: vhost.id, object: offloaded.object }, 'object storage failed');
      return true;
    }
  }

  async function answerWithoutFile(exchange: Exchange, vhost: Vhost, { kind, cache }: NoFile): Promise<void> {
    const headers = { 'X-Cache': cache };
    if (kind === 'forbidden') return sendNotice(exchange, NOTICES.forbidden, headers);
    if (kind === 'program') return sendNotice(exchange, NOTICES.program, headers);
    if (!(await files.serveNotFound(exchange, vhost))) sendNotice(exchange, NOTICES.notFound, headers);
  }

  return answer;
}

/** Sends uncached text for programs. */
function sendText(response: HttpResponse, text: string): void {
  response.writeHead(200, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  });
  response.end(text);
}
