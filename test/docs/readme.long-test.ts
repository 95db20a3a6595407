import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandsIn, page, type Reader, sectionOf, startReader } from './documented-commands.ts';

let reader: Reader;
beforeAll(async () => {
  // PHP takes seconds of a processor. The tour makes a website of files, and test/docs/tutorials.long-test.ts makes one with WordPress.
  reader = await startReader({ HOMEPORT_EMBEDDED_PHP_MB: '0' });
});
afterAll(() => reader.close());

test('the tour with curl does what it says', async () => {
  const signIn = readFileSync(join(reader.folder, 'data/first-sign-in.txt'), 'utf8');
  const [, username = ''] = /^ *Username +(\S+)$/m.exec(signIn) ?? [];
  const [, password = ''] = /^ *Password +(\S+)$/m.exec(signIn) ?? [];
  const key = join(reader.folder, '../home/.ssh/id_ed25519');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
  const blocks = commandsIn(sectionOf(page('README.md'), 'A tour with curl')).map((block) =>
    block
      .replace('USERNAME:PASSWORD', `${username}:${password}`)
      // A busy machine needs longer than a reader.
      .replace(/\bsleep \d+/g, 'sleep 4'),
  );
  const { status, output } = await reader.follow(blocks);
  expect(status, output).toBe(0);
  // The new website, the redirect of its second domain, the report, the uploaded page and the restored backup.
  for (const text of [
    '"status":"active"',
    'HTTP/1.1 200 OK',
    'HTTP/1.1 301 Moved Permanently',
    'Location: http://shop.example/page?x=1',
    '"complete":true',
    '<h1>Hello</h1>',
    'Restored myfirst to its backup',
  ]) {
    expect(output).toContain(text);
  }
});
