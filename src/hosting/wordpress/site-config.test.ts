import { expect, it } from 'vitest';
import { phpLiteral, renderHomeportFile, renderWpConfig } from './site-config.ts';

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
