import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { phpLiteral, renderHomeportFile, renderWpConfig, withStopLine } from './site-config.ts';

it('writes texts so that PHP reads them as they are', () => {
  expect(phpLiteral('shop')).toBe("'shop'");
  expect(phpLiteral(`a'b\\c$d"e`)).toBe(`'a\\'b\\\\c$d"e'`);
  expect(phpLiteral(null)).toBe('null');
});

it('gives the values of a website', () => {
  const file = renderHomeportFile({
    root: '/srv/a/htdocs',
    database: 'hp_a',
    user: 'shop',
    socket: '/run/mysqld.sock',
    redis: null,
    purge: '/run/a/purge.sock',
    pass: null,
    origin: "https://shop.test'; evil(); '",
  });
  expect(file).toContain("'root' => '/srv/a/htdocs',");
  expect(file).toContain("'redis' => null,");
  expect(file).toContain("'purge' => '/run/a/purge.sock',");
  expect(file).toContain("'origin' => 'https://shop.test\\'; evil(); \\'',");
});

it('gives each website secrets of its own, and nothing of the host', () => {
  let count = 0;
  const config = renderWpConfig(() => `secret-${++count}`);
  expect(count).toBe(8);
  expect(config).toContain("define('AUTH_KEY', 'secret-1');");
  expect(config).toContain("define('NONCE_SALT', 'secret-8');");
  expect(config).not.toMatch(/^define\('(DB_|WP_HOME)/m);
});

describe('the line that WP-CLI writes above', () => {
  const LINE = "/* That's all, stop editing! Happy publishing. */\n\n";
  const rendered = (settings: 'above' | 'before') =>
    renderWpConfig(() => randomBytes(48).toString('base64'), 'xyz9_', settings);

  it.each(['above', 'before'] as const)('is in a new file (settings %s)', (settings) => {
    expect(rendered(settings)).toContain(`\n${LINE}if (!defined('ABSPATH'))`);
  });

  it.each(['above', 'before'] as const)('is added to an earlier file (settings %s)', (settings) => {
    const file = rendered(settings);
    const earlier = file.replace(LINE, '');
    expect(withStopLine(earlier)).toBe(file);
    expect(withStopLine(file)).toBeNull();
    const firstWords = earlier.replace(
      'defining DB_NAME or WP_HOME here',
      'a definition of DB_NAME or WP_HOME in here',
    );
    expect(firstWords).not.toBe(earlier);
    expect(withStopLine(firstWords)).toContain(LINE);
  });

  it.each([
    ['own settings', (text: string) => text.replace('here. */\n', "here. */\ndefine('WP_CACHE', true);\n")],
    ['another value', (text: string) => text.replace("'WP_DEBUG', false", "'WP_DEBUG', true")],
    [
      'another beginning',
      (text: string) => text.replace('<?php\n', "<?php\ndefine('WPCACHEHOME', '/x/');\n"),
    ],
    ['another end', (text: string) => `${text}// mine\n`],
    ['code after the comment', (text: string) => text.replace(' */\n', " */\ninclude 'mine.php';\n")],
    ['salts of its owner', (text: string) => text.replace(/'AUTH_KEY', '/, "'AUTH_KEY', 'x' . '")],
  ])('is not added to a file that its owner has changed: %s', (_what, change) => {
    const earlier = rendered('above').replace(LINE, '');
    const changed = change(earlier);
    expect(changed).not.toBe(earlier);
    expect(withStopLine(changed)).toBeNull();
  });
});
