import { randomUUID } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MINUTE_MS } from '../../../lib/durations.ts';
import { ifThere } from '../../../lib/if-there.ts';
import type { InstallState } from '../../contract/install-state.ts';
import type { WpCliResult } from '../../contract/wp-cli.ts';
import { siteState } from '../../policy/edge.fixture.ts';
import type { PhpSites } from '../../runtime/wasm/php-sites.ts';
import { NO_INPUT } from '../../wordpress/wp-cli/no-input.ts';
import type { TestHost } from '../embedded-host.fixture.ts';
import { layoutOf } from '../host-folder/layout.ts';
import { startWordPressHost } from './prepared-wordpress.fixture.ts';
import { realPhp } from './real-wordpress.fixture.ts';
import { DATABASE } from './site.ts';

/** Such commands take half of the time. */
const QUICK = '--skip-wordpress';

let site: TestHost;
let shop: InstallState;
let php: PhpSites;

beforeAll(async () => {
  site = await startWordPressHost({
    createPhp(given) {
      php = realPhp(given);
      return php;
    },
  });
  shop = { ...siteState('shop', ['shop.test'], { primaryHostname: 'shop.test' }), runtime: 'wordpress' };
  await site.host.apply(shop);
});
afterAll(async () => {
  await site?.close();
});

async function run(...args: string[]): Promise<WpCliResult> {
  const outcome = await site.host.runWpCli(shop, args);
  if ('refused' in outcome) throw new Error(outcome.reason);
  return outcome;
}
const printed = async (...args: string[]) => {
  const { exitStatus, stdout, stderr } = await run(...args);
  expect([args, exitStatus, stderr]).toEqual([args, 0, '']);
  return stdout;
};

/** A command that runs until it is ended. Its arguments have a secret. */
async function begin(mark: string, signal?: AbortSignal): Promise<Promise<unknown>[]> {
  const code = `touch("/private/${mark}"); while (true) { $secret = "hunter2"; }`;
  const ended = site.host.runWpCli(shop, ['eval', code, QUICK], signal);
  ended.catch(() => {});
  const names = () => readdir(site.file(shop, '.private'));
  await expect.poll(names, { timeout: MINUTE_MS }).toContain(mark);
  return [ended];
}

/** The command lines of the machine. */
async function commandLines(): Promise<string> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(
    ids.map((id) => ifThere(readFile(`/proc/${id}/cmdline`, 'utf8')).catch(() => '')),
  );
  return lines.join('\n');
}

describe('a command of WP-CLI', () => {
  test('runs in the website, in its private folder', async () => {
    const code = 'echo getcwd(), " ", PHP_SAPI, " ", home_url(), " ", get_option("blogname");';
    const port = site.host.addresses?.edgeHttp.port;
    expect(await printed('eval', code)).toBe(`/private cli http://shop.test:${port} shop`);
  });

  test('counts what it replaces', async () => {
    const report = await printed('search-replace', 'Hello world', 'Good day', '--report-changed-only');
    expect(report).toContain('wp_posts\tpost_title\t1\tPHP\n');
    expect(report).toContain('Made 1 replacement.');
  });

  test('exports, empties and imports the database, value by value', async () => {
    const insert = `INSERT INTO wp_options (option_name, option_value)
      VALUES ('number', '007'), ('lines', 'a\\0b\\nc\\'d\\\\'), ('bytes', x'ff00fe')`;
    const select = `SELECT option_name AS name, HEX(option_value) FROM wp_options
      WHERE option_name IN ('number', 'lines', 'bytes') ORDER BY option_name`;
    const values = 'bytes\tFF00FE\nlines\t6100620A6327645C\nnumber\t303037\n';
    const inserted = await printed('db', 'query', `${insert}; ${select}`);
    expect(inserted).toContain('Rows affected: 3');
    expect(inserted).toContain(values);
    const dump = (await printed('db', 'export', '--porcelain')).trim();
    // MariaDB knows another collation.
    const text = await readFile(site.file(shop, `.private/${dump}`), 'utf8');
    expect(text).not.toContain('utf8mb4_0900_ai_ci');
    expect(await printed('db', 'reset', '--yes')).toBe('Success: Database reset.\n');
    expect(await printed('db', 'import', dump)).toContain('Success: Imported');
    expect(await printed('db', 'query', select)).toContain(values);
  });

  test('imports nothing of a file with an error', async () => {
    await site.write(shop, '.private/broken.sql', 'DROP TABLE wp_posts;\nCREATE NONSENSE;\n');
    const { exitStatus, stderr } = await run('db', 'import', 'broken.sql');
    expect([exitStatus, stderr]).toEqual([
      1,
      expect.stringContaining('Statement 2 failed, so nothing was imported'),
    ]);
    expect(await printed('db', 'size', '--tables')).toMatch(/wp_posts\t[1-9]\d+ B\n/);
  });

  test('imports much while visitors and backups read', async () => {
    const rows = Array.from({ length: 1_500 }, (_, at) => `(${at}, '${'x'.repeat(3_000)}')`);
    const table = 'CREATE TABLE wp_much (id INT PRIMARY KEY, text TEXT);';
    await site.write(shop, '.private/much.sql', `${table}\nINSERT INTO wp_much VALUES ${rows.join(', ')};\n`);
    await printed('db', 'import', 'much.sql');
    // The first visitors make WordPress write what it computes once.
    const visit = () => site.http('shop.test', `/?s=${randomUUID()}`);
    for (let at = 0; at < 3; at++) await visit();
    const more = Array.from({ length: 100_000 }, (_, at) => `DELETE FROM wp_much WHERE id = -${at};`);
    const change = `UPDATE wp_much SET text = CONCAT('y', text);\n${more.join('\n')}\n`;
    await site.write(shop, '.private/more.sql', change);
    const caller = new AbortController();
    const ended = site.host.runWpCli(shop, ['db', 'import', 'more.sql'], caller.signal);
    ended.catch(() => {});
    // The journal has each page that is changed, and SQLite's own cache has 2 MB.
    const journal = `${join(layoutOf(site.folder).databaseOf(shop.id), DATABASE)}-journal`;
    const size = async () => (await ifThere(stat(journal)))?.size ?? 0;
    await expect.poll(size, { timeout: MINUTE_MS }).toBeGreaterThan(3_000_000);
    expect((await visit()).status).toBe(200);
    await site.host.snapshot(shop, randomUUID());
    caller.abort(new Error('gone'));
    await expect(ended).rejects.toThrow('gone');
    expect(await printed('db', 'query', "SELECT COUNT(*) FROM wp_much WHERE text LIKE 'y%'")).toContain(
      '\n0\n',
    );
  });

  test('says what a database in SQLite lacks', async () => {
    const { exitStatus, stderr } = await run('db', 'export', '--where=1');
    expect([exitStatus, stderr]).toEqual([1, expect.stringContaining('has no --where')]);
  });

  test.each([[['db', 'reset']], [['option', 'update', 'blogname']]])(
    '%j fails, because it asks for input',
    async (args) => {
      const { exitStatus, stderr } = await run(...args);
      expect([exitStatus, stderr]).toEqual([1, expect.stringContaining(NO_INPUT)]);
    },
  );

  test('returns its status and its errors', async () => {
    const failed = await run('eval', 'fwrite(STDERR, "so"); exit(3);', QUICK);
    expect(failed).toMatchObject({ exitStatus: 3, stderr: 'so' });
    const hog = await run('eval', 'ini_set("memory_limit", "64M"); str_repeat("x", 80 << 20);', QUICK);
    expect([hog.exitStatus, hog.stderr]).toEqual([255, expect.stringContaining('Allowed memory size')]);
  });

  test('keeps no visitor waiting, hides its arguments, and ends with its caller', async () => {
    const caller = new AbortController();
    const [ended] = await begin('first', caller.signal);
    expect(await site.http('shop.test', '/')).toMatchObject({ status: 200 });
    expect(await commandLines()).not.toContain('hunter2');
    caller.abort(new Error('gone'));
    await expect(ended).rejects.toThrow('gone');
    expect(await printed('option', 'get', 'blogname')).toBe('shop\n');
  });

  test('says so if its PHP is ended', async () => {
    const [ended] = await begin('second');
    await php.stop(shop.id, 0);
    expect(await ended).toMatchObject({
      refused: 'interrupted',
      reason: expect.stringContaining('may have done a part of its work'),
    });
  });

  test('is refused while the website is replaced, and ends when it is removed', async () => {
    const backup = randomUUID();
    await site.host.snapshot(shop, backup);
    const [ended] = await begin('third');
    const restored = site.host.restore(shop, backup).catch(() => {});
    expect(await site.host.runWpCli(shop, ['cli', 'version'])).toMatchObject({ refused: 'website' });
    const [outcome] = await Promise.all([ended, site.host.remove(shop)]);
    expect(outcome).toMatchObject({ refused: 'interrupted' });
    await restored;
  });
});
