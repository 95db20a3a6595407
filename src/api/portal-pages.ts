import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { hasCode } from '../lib/error-code.ts';
import { createFirstPage, type FirstPage } from './first-page.ts';
import { serveAssets } from './portal-assets.ts';
import { sessionToken } from './session.ts';

/** Folder that `npm run build` writes the pages to. */
export const BUILT_PORTAL = fileURLToPath(new URL('../../web/dist', import.meta.url));

const ASSETS = '/portal/assets/';

/** Paths of the portal's pages. All serve one document, which renders the requested page (web/app.tsx). */
const PAGES = [
  '/',
  '/sign-in',
  '/forgotten-password',
  '/password/:token',
  '/invitations/:token',
  '/accounts/*',
  '/sites/*',
  '/installs/*',
  '/me/*',
];

/** Paths for programs, and the API's documentation. */
const NO_PAGES = /^\/(v1|docs|portal)(\/|\?|$)/;

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'self'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = {
  'content-security-policy': POLICY,
  // The URLs of some pages contain secrets.
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-cache',
  // Browsers with a session get another frame.
  vary: 'cookie',
};

const NOT_BUILT = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Homeport</title>
<h1>The portal has not been built</h1>
<p>Run <code>npm run build</code> in Homeport's folder, and start it again. The API works without it.</p>
</html>
`;

/**
 * Serves the built portal: one document, and the files that it loads. If `publicUrl` has a path, all pages are below it.
 */
export function portalPages({ folder, publicUrl }: { folder: string; publicUrl: string }) {
  return async (app: FastifyInstance): Promise<void> => {
    const built = await readIfPresent(join(folder, 'index.html'));
    const based = built?.replace('<base href="/">', `<base href="${escapeAttribute(basePath(publicUrl))}">`);
    const page =
      based === undefined
        ? undefined
        : createFirstPage(based, await readIfPresent(join(folder, 'first-page.json')));
    for (const url of PAGES) {
      app.get(url, async (request, reply) => document(request, reply, page));
    }
    // Browsers get the portal's "not found" page; programs get the API's answer.
    app.get('/*', { config: { isNothing: true } }, async (request, reply) =>
      isForReading(request) ? document(request, reply, page, 404) : reply.callNotFound(),
    );
    if (built !== undefined) await serveAssets(app, ASSETS, join(folder, ASSETS));
  };
}

/** Whether a browser requests a page, at a path that is not the API's, its documentation's or an asset's. */
function isForReading({ method, url, headers: { accept = '' } }: FastifyRequest): boolean {
  return method === 'GET' && accept.includes('text/html') && !NO_PAGES.test(url);
}

function document(
  request: FastifyRequest,
  reply: FastifyReply,
  page: FirstPage | undefined,
  found = 200,
): FastifyReply {
  const [path = '/'] = request.url.split('?');
  return reply
    .code(page === undefined ? 503 : found)
    .headers(HEADERS)
    .type('text/html; charset=utf-8')
    .send(page?.(path, sessionToken(request) !== undefined) ?? NOT_BUILT);
}

function readIfPresent(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  });
}

/** The path of the public URL, with a trailing slash. */
function basePath(publicUrl: string): string {
  return `${new URL(publicUrl).pathname.replace(/\/$/, '')}/`;
}

const escapeAttribute = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
