import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** The page loads from and connects to the server that it was opened at only. Its library sets inline styles. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const OWN = fileURLToPath(new URL('docs-page', import.meta.url));
/** The package is used for its copy of Swagger UI, which loads nothing from elsewhere. */
const SWAGGER_UI = join(
  dirname(createRequire(import.meta.url).resolve('@fastify/swagger-ui/package.json')),
  'static',
);

const HTML = 'text/html; charset=utf-8';
const CSS = 'text/css; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';

const FILES = {
  '': { path: join(OWN, 'index.html'), type: HTML },
  'start.js': { path: join(OWN, 'start.js'), type: SCRIPT },
  'samples.js': { path: join(OWN, 'samples.js'), type: SCRIPT },
  'page.css': { path: join(OWN, 'page.css'), type: CSS },
  'swagger-ui.css': { path: join(SWAGGER_UI, 'swagger-ui.css'), type: CSS },
  'swagger-ui-bundle.js': { path: join(SWAGGER_UI, 'swagger-ui-bundle.js'), type: SCRIPT },
  'favicon.png': { path: join(SWAGGER_UI, 'favicon-32x32.png'), type: 'image/png' },
};

interface Content {
  plain: Buffer;
  compressed: Buffer;
  etag: string;
}

/** Serves a page at `/docs/` that shows the description and sends requests to the API. Files are read at their first use. */
export function addDocsPage(app: FastifyInstance): void {
  for (const [name, { path, type }] of Object.entries(FILES)) {
    let content: Promise<Content> | undefined;
    app.get(`/docs/${name}`, async (request, reply) => {
      // Addresses in the page are relative, so that it also works behind a proxy that adds a path.
      if (name === '' && !/^[^?]*\/(\?|$)/.test(request.url)) return reply.redirect('docs/', 301);
      content ??= read(path);
      return send(await content, type, request, reply);
    });
  }
}

async function read(path: string): Promise<Content> {
  const plain = await readFile(path);
  const compressed = await promisify(gzip)(plain, { level: 9 });
  return { plain, compressed, etag: `"${createHash('sha256').update(plain).digest('base64url')}"` };
}

function send(content: Content, type: string, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.headers({
    'content-security-policy': POLICY,
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-cache',
    etag: content.etag,
    vary: 'accept-encoding',
  });
  if (request.headers['if-none-match'] === content.etag) return reply.code(304).send();
  reply.type(type);
  return /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')
    ? reply.header('content-encoding', 'gzip').send(content.compressed)
    : reply.send(content.plain);
}
