import { expect, test } from 'vitest';
import { shortPhpError } from './php-error.ts';

test.each([
  [
    'PHP Fatal error:  Uncaught Error: broken plugin in /srv/h/installs/1/htdocs/wp-content/plugins/shop/shop.php:7\nStack trace:\n#0 /srv/x.php(3): a()',
    'Uncaught Error: broken plugin in wp-content/plugins/shop/shop.php:7',
  ],
  [
    'PHP Parse error:  syntax error, unexpected token "}" in /srv/h/htdocs/wp-config.php on line 12',
    'syntax error, unexpected token "}" in wp-config.php:12',
  ],
  [
    '<b>Fatal error</b>: Allowed memory size of 1 bytes exhausted in <b>/a/wp-includes/plugin.php</b> on line <b>9</b>',
    'Allowed memory size of 1 bytes exhausted in wp-includes/plugin.php:9',
  ],
  ['Out of memory', 'Out of memory'],
])('%s', (said, short) => {
  expect(shortPhpError(said)).toBe(short);
});

test('a long message keeps its file and line', () => {
  const short = shortPhpError(
    `Uncaught Error: ${'x'.repeat(2_000)} in /a/wp-content/plugins/shop/shop.php:7`,
  );
  expect(short).toMatch(/x in wp-content\/plugins\/shop\/shop\.php:7$/);
  expect(short.length).toBeLessThanOrEqual(300);
});
