import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { failureSentence, phpErrorIn } from './failure-sentence.ts';

const HOME = '/srv/homeport/installs/00000000-0000-4000-8000-000000000001/htdocs';
const STACK = Array.from(
  { length: 40 },
  (_, index) => `#${index} ${HOME}/wp-includes/class-wp-hook.php(341): {closure}('')`,
).join('\n');

test('names the file and the line of an error that a long stack follows', () => {
  const said = `PHP Warning:  old in ${HOME}/wp-content/themes/a/b.php on line 1
PHP Fatal error:  Uncaught Error: Call to undefined function shop() in ${HOME}/wp-content/plugins/shop/shop.php:7
Stack trace:
${STACK}
  thrown in ${HOME}/wp-content/plugins/shop/shop.php on line 7`;
  expect(failureSentence(said)).toBe(
    'Uncaught Error: Call to undefined function shop() in wp-content/plugins/shop/shop.php:7',
  );
});

test('shortens a long message in its middle, and keeps the place', () => {
  const message = `begin ${'x'.repeat(2_000)} end`;
  const sentence = failureSentence(
    `Fatal error: Uncaught Exception: ${message} in ${HOME}/wp-config.php:3\n#0`,
  );
  expect(sentence).toMatch(/^Uncaught Exception: begin x+…x+ end in wp-config\.php:3$/);
  expect(sentence.length).toBeLessThanOrEqual(300);
});

test('shortens a long path in its middle, too', () => {
  const path = `wp-content/plugins/${'deep/'.repeat(100)}a.php`;
  const sentence = failureSentence(`Parse error: unexpected end of file in ${HOME}/${path} on line 12`);
  expect(sentence).toMatch(/^unexpected end of file in wp-content\/plugins\/.*….*deep\/a\.php:12$/);
  expect(sentence.length).toBeLessThanOrEqual(300);
});

test.each([
  [
    'a message of several lines',
    `Fatal error: one\ntwo in ${HOME}/x/y.php on line 2`,
    'one two in x/y.php:2',
  ],
  [
    'an error on a page',
    `<br />\n<b>Fatal error</b>:  Uncaught Error: no in ${HOME}/wp-content/a.php:4\nStack trace`,
    'Uncaught Error: no in wp-content/a.php:4',
  ],
  [
    'evaluated code',
    `Parse error: syntax error in ${HOME}/wp-content/a.php(9) : eval()'d code on line 1`,
    "syntax error in wp-content/a.php(9) : eval()'d code:1",
  ],
  [
    'the core of the host',
    'Fatal error: no in /srv/homeport/core/7.1.1/wp-includes/plugin.php:5',
    'no in wp-includes/plugin.php:5',
  ],
  [
    'the folder of an embedded website',
    'Fatal error: no in /site/files/wp-settings.php:5',
    'no in wp-settings.php:5',
  ],
])('reads %s', (_name, said, sentence) => {
  expect(failureSentence(said)).toBe(sentence);
});

test.each([
  [
    '<b>Fatal error</b>: Allowed memory size of 1 bytes exhausted in <b>/a/wp-includes/plugin.php</b> on line <b>9</b>',
    'Allowed memory size of 1 bytes exhausted in wp-includes/plugin.php:9',
  ],
  [
    'Uncaught Error: broken in /a/wp-content/plugins/shop/shop.php:7\nStack trace:\n#0 /srv/x.php(3): a()',
    'Uncaught Error: broken in wp-content/plugins/shop/shop.php:7',
  ],
  ['Out of memory', 'Out of memory'],
])('reads what logs and pages have: %s', (said, sentence) => {
  expect(failureSentence(said)).toBe(sentence);
});

test('keeps other words on one line, without the paths of the host', () => {
  expect(failureSentence(`<p>Could not\n read ${HOME}/wp-content/x.</p>`)).toBe(
    'Could not read wp-content/x',
  );
  expect(failureSentence(' \n')).toBe('it printed nothing');
  expect(phpErrorIn('no error')).toBeNull();
});

test('leaves addresses alone', () => {
  expect(failureSentence('see https://example.com/wp-content/x')).toBe(
    'see https://example.com/wp-content/x',
  );
});

const folder = mkdtempSync(join(tmpdir(), 'failure-'));
afterAll(() => rmSync(folder, { recursive: true }));
const hasPhp = spawnSync('php', ['-v']).status === 0;

test.skipIf(!hasPhp)('reads what PHP itself writes', () => {
  const htdocs = join(folder, 'installs', 'a', 'htdocs');
  const plugin = join(htdocs, 'wp-content', 'plugins', 'a');
  mkdirSync(plugin, { recursive: true });
  const main = join(plugin, 'a.php');
  writeFileSync(
    main,
    `<?php\nfunction deep($n) { $n === 0 ? gone('${'x'.repeat(20)}') : deep($n - 1); }\ndeep(60);\n`,
  );
  const written = (file: string, ...options: string[]) => {
    const run = spawnSync('php', ['-d', 'display_errors=stderr', ...options, file], { encoding: 'utf8' });
    return run.stderr + run.stdout;
  };
  expect(failureSentence(written(main))).toBe(
    'Uncaught Error: Call to undefined function gone() in wp-content/plugins/a/a.php:2',
  );
  const broken = join(htdocs, 'wp-config.php');
  writeFileSync(broken, '<?php\n\nfunction {');
  expect(failureSentence(written(broken, '-d', 'html_errors=1'))).toMatch(
    /^syntax error, unexpected .* in wp-config\.php:3$/,
  );
});
