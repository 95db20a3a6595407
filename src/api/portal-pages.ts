import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { hasCode } from '../lib/error-code.ts';
import { createFirstPage, type FirstPage } from './first-page.ts';
import { type Assets, openAssets, serveAssets } from './portal-assets.ts';
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

/** Seconds until the browser asks again. */
const AGAIN_S = 2;
const BEING_BUILT = `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="${AGAIN_S}"><title>Homeport</title>
<h1>The portal is being built</h1>
<p>It opens here in a few seconds. The API works already.</p>
</html>
`;

/** The built portal. */
interface Portal {
  page: FirstPage;
  assets: Assets;
}

interface PortalOptions {
  /** Of the built portal; a promise while it is being built, which rejects if that fails. */
  folder: string | Promise<string>;
  publicUrl: string;
}

/**
 * Serves the built portal: one document, and the files that it loads. If `publicUrl` has a path, all pages are below it.
 */
export function portalPages({ folder, publicUrl }: PortalOptions) {
  return async (app: FastifyInstance): Promise<void> => {
    let portal: Portal | undefined;
    let isBeingBuilt = false;
    const open = async (built: string) => {
      portal = await openPortal(built, publicUrl);
    };
    if (typeof folder === 'string') await open(folder);
    else {
      isBeingBuilt = true;
      void folder
        // The caller that builds it reports why the build failed.
        .then(open, () => {})
        .catch((err: unknown) => app.log.error({ err }, 'the pages of the portal cannot be read'))
        .finally(() => {
          isBeingBuilt = false;
        });
    }

    const send = (request: FastifyRequest, reply: FastifyReply, found = 200): FastifyReply => {
      reply.headers(HEADERS).type('text/html; charset=utf-8');
      if (portal !== undefined) {
        const [path = '/'] = request.url.split('?');
        return reply.code(found).send(portal.page(path, sessionToken(request) !== undefined));
      }
      if (isBeingBuilt) return reply.code(503).header('retry-after', AGAIN_S).send(BEING_BUILT);
      return reply.code(503).send(NOT_BUILT);
    };
    for (const url of PAGES) {
      app.get(url, async (request, reply) => send(request, reply));
    }
    // Browsers get the portal's "not found" page; programs get the API's answer.
    app.get('/*', { config: { isNothing: true } }, async (request, reply) =>
      isForReading(request) ? send(request, reply, 404) : reply.callNotFound(),
    );
    serveAssets(app, ASSETS, () => portal?.assets);
  };
}

/** Undefined if the portal was not built into `folder`. */
async function openPortal(folder: string, publicUrl: string): Promise<Portal | undefined> {
  const built = await readIfPresent(join(folder, 'index.html'));
  if (built === undefined) return undefined;
  const based = built.replace('<base href="/">', `<base href="${escapeAttribute(basePath(publicUrl))}">`);
  return {
    page: createFirstPage(based, await readIfPresent(join(folder, 'first-page.json'))),
    assets: await openAssets(join(folder, ASSETS)),
  };
}

/** Whether a browser requests a page, at a path that is not the API's, its documentation's or an asset's. */
function isForReading({ method, url, headers: { accept = '' } }: FastifyRequest): boolean {
  return method === 'GET' && accept.includes('text/html') && !NO_PAGES.test(url);
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
