import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Server } from 'node:net';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { certificateMaker, pkcs8 } from '../../../test/servers/certificate-maker.ts';
import { BrokenWebsiteError } from '../contract/errors.ts';
import { type AskedEdge, requireWordPress, type VisitedWebsite, visitPage } from './wordpress-answers.ts';

const SHOP: VisitedWebsite = {
  primaryHostname: 'shop.test',
  secure: false,
  names: ['shop.test', '*.shop.test'],
};
const PAGE = '<link href="/wp-content/themes/a/style.css">';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

let tls: { cert: string; key: string };
beforeAll(async () => {
  const { pem, key } = await certificateMaker(new Date())({ name: 'edge', names: ['edge.test'] });
  tls = { cert: pem, key: pkcs8(key) };
});

type Answer = (response: ServerResponse, visited: string) => void;

/** A web server that answers with what it was asked, as `https://shop.test/path`. */
function website(answer: Answer): Promise<AskedEdge> {
  return websiteOf(({ headers, url }, response, scheme) => {
    const { hostname, pathname } = new URL(`${scheme}://${headers.host}${url}`);
    answer(response, `${scheme}://${hostname}${pathname}`);
  });
}

async function websiteOf(
  serve: (request: IncomingMessage, response: ServerResponse, scheme: string) => void,
): Promise<AskedEdge> {
  const by = (scheme: string) => (request: IncomingMessage, response: ServerResponse) =>
    serve(request, response, scheme);
  return {
    http: await listening(createServer(by('http'))),
    https: await listening(createSecureServer(tls, by('https'))),
  };
}

async function listening(server: Server): Promise<{ host: string; port: number }> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return { host: '127.0.0.1', port: typeof address === 'object' ? (address?.port ?? 0) : 0 };
}

/** Answers each address with a page, or with a redirect to another address. */
const pages =
  (places: Record<string, { page: string } | { to: string }>, visits: string[] = []): Answer =>
  (response, visited) => {
    visits.push(visited);
    const place = places[visited];
    if (place === undefined) response.writeHead(404).end();
    else if ('page' in place) response.end(place.page);
    else response.writeHead(301, { location: place.to }).end();
  };

/** Writes until the client stops reading; resolves with the number of bytes. */
function withoutEnd(response: ServerResponse, beginning: string): Promise<number> {
  let bytes = 0;
  const filler = 'x'.repeat(64 * 1024);
  response.write(beginning);
  const more = () => {
    do bytes += filler.length;
    while (!response.destroyed && response.write(filler));
  };
  response.on('drain', more);
  more();
  return new Promise((resolve) => response.on('close', () => resolve(bytes)));
}

test('a home page of WordPress is one, and says what came instead', async () => {
  await requireWordPress(SHOP, await website((response) => response.end(PAGE)));
  const empty = requireWordPress(SHOP, await website((response) => response.end()));
  await expect(empty).rejects.toThrow("is not WordPress's: an empty page");
  await expect(empty).rejects.toBeInstanceOf(BrokenWebsiteError);
  const broken = await website((response) => response.writeHead(500).end('<h1>No\n database</h1>'));
  await expect(requireWordPress(SHOP, broken)).rejects.toThrow('answers 500: No database');
});

test('asks with the scheme of the visitors', async () => {
  const edge = await website(
    pages({ 'http://shop.test/': { to: 'https://shop.test/' }, 'https://shop.test/': { page: PAGE } }),
  );
  await requireWordPress({ ...SHOP, secure: true }, edge);
  await requireWordPress(SHOP, edge);
  const plain = await website(pages({ 'http://shop.test/': { page: PAGE } }));
  await expect(requireWordPress({ ...SHOP, secure: true }, plain)).rejects.toThrow('answers 404');
});

test('follows redirects within the website', async () => {
  const visits: string[] = [];
  const edge = await website(
    pages(
      {
        'http://shop.test/': { to: '/en/' },
        'http://shop.test/en/': { to: 'https://www.shop.test:8443/en/home/' },
        'https://www.shop.test/en/home/': { page: PAGE },
      },
      visits,
    ),
  );
  await requireWordPress(SHOP, edge);
  expect(visits).toEqual(['http://shop.test/', 'http://shop.test/en/', 'https://www.shop.test/en/home/']);
});

test.each([
  ['http://elsewhere.test/', 'redirects to http://elsewhere.test/'],
  ['//a.b.shop.test/', 'redirects to //a.b.shop.test/'],
  ['ftp://shop.test/', 'redirects to ftp://shop.test/'],
  ['/', 'redirects more than 5 times'],
  ['http://[', 'redirects to http://['],
])('rejects a redirect to %s', async (to, reason) => {
  const edge = await website(pages({ 'http://shop.test/': { to } }));
  await expect(requireWordPress(SHOP, edge)).rejects.toThrow(reason);
});

test('tells a name that only a wildcard covers nothing secret, because another website can have it', async () => {
  const secrets: unknown[] = [];
  const edge: AskedEdge = await websiteOf(({ url, headers }, response) => {
    secrets.push([headers.host?.replace(/:.*/, ''), headers['x-secret']]);
    if (url === '/') response.writeHead(302, { location: 'http://www.shop.test/a' }).end();
    else if (url === '/a') response.writeHead(302, { location: 'http://other.shop.test/b' }).end();
    else response.end(PAGE);
  });
  const shop = { ...SHOP, names: [...SHOP.names, 'www.shop.test'] };
  await visitPage(shop, '/', edge, { headers: { 'x-secret': 'of the shop' } });
  expect(secrets).toEqual([
    ['shop.test', 'of the shop'],
    ['www.shop.test', 'of the shop'],
    ['other.shop.test', undefined],
  ]);
});

test('names the page that a redirect led to', async () => {
  const edge = await website(
    pages({ 'http://shop.test/': { to: '/en/' }, 'http://shop.test/en/': { page: 'x' } }),
  );
  await expect(requireWordPress(SHOP, edge)).rejects.toThrow(
    /^\/en\/, where the home page redirects, of shop.test/,
  );
});

test('no answer is not a wrong page, so that another attempt can succeed', async () => {
  const edge = await website((response) => response.destroy());
  await expect(requireWordPress(SHOP, edge)).rejects.not.toBeInstanceOf(BrokenWebsiteError);
});

test('reads at most the first megabyte of an endless page', async () => {
  const written: Promise<number>[] = [];
  const theirs = await website((response) => {
    written.push(withoutEnd(response, '<a href="/wp-content/">'));
  });
  await requireWordPress(SHOP, theirs);
  const other = await website((response) => {
    written.push(withoutEnd(response, 'another'));
  });
  await expect(requireWordPress(SHOP, other)).rejects.toThrow('is not WordPress');
  // Plus the buffers of both sockets.
  for (const bytes of await Promise.all(written)) expect(bytes).toBeLessThan(64 * 1024 * 1024);
});
