import { createServer, type Server, type ServerResponse } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { requireWordPress } from './wordpress-answers.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function website(answer: (response: ServerResponse) => void): Promise<{ host: string; port: number }> {
  const server = createServer((_request, response) => answer(response));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return { host: '127.0.0.1', port: typeof address === 'object' ? (address?.port ?? 0) : 0 };
}

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
  const page = '<link href="/wp-content/themes/a/style.css">';
  await requireWordPress('shop.test', await website((response) => response.end(page)));
  const empty = await website((response) => response.end());
  await expect(requireWordPress('shop.test', empty)).rejects.toThrow("is not WordPress's: an empty page");
  const broken = await website((response) => response.writeHead(500).end('<h1>No\n database</h1>'));
  await expect(requireWordPress('shop.test', broken)).rejects.toThrow('answers 500: No database');
});

test('reads at most the first megabyte of an endless page', async () => {
  const written: Promise<number>[] = [];
  const theirs = await website((response) => {
    written.push(withoutEnd(response, '<a href="/wp-content/">'));
  });
  await requireWordPress('shop.test', theirs);
  const other = await website((response) => {
    written.push(withoutEnd(response, 'another'));
  });
  await expect(requireWordPress('shop.test', other)).rejects.toThrow('is not WordPress');
  // Plus the buffers of both sockets.
  for (const bytes of await Promise.all(written)) expect(bytes).toBeLessThan(64 * 1024 * 1024);
});
