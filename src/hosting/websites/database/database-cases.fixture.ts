import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { onlyInLong } from '../../../../test/rounds.ts';
import { DATABASE_PATH } from '../../contract/database-access.ts';
import type { Answer, Asked } from '../../policy/edge.fixture.ts';

/** A served website with WordPress whose database can be opened. */
export interface OpenedWebsite {
  /** The document root. */
  root: string;
  /** Folder of its links and sessions. */
  sessions: string;
  /** Asks the edge as a visitor of the website. */
  ask(path: string, asked?: Asked): Promise<Answer>;
  /** Path and query of a new link. Throws the reason of a refusal. */
  link(): Promise<string>;
  /** Empties the object cache, in which WordPress keeps rows, if the host has one. */
  purgeObjects(): Promise<void>;
  /** Makes a backup. Returns what restores it. */
  backUp(): Promise<() => Promise<void>>;
  /** The first page of the program that shows the database. */
  firstPage: string;
  /** What the program answers to a statement, in HTML. */
  run(cookie: string, statement: string): Promise<string>;
  /** Leaves the database. */
  leave(cookie: string): Promise<Answer>;
}

export interface OpenedWebsites {
  /** Has no password of visitors. */
  shop: OpenedWebsite;
  cafe: OpenedWebsite;
  /** Folder of the host, which no page names. */
  hostFolder: string;
  stop(): Promise<void>;
}

export const cookieOf = ({ headers }: Answer): string =>
  (headers['set-cookie'] ?? []).map((line) => line.replace(/;.*$/s, '')).at(-1) ?? '';

/** The cookie of a new session. */
export const signIn = async (website: OpenedWebsite): Promise<string> =>
  cookieOf(await website.ask(await website.link()));

/** The cases of links to databases and of their sessions. Both hosts pass them. */
export function databaseCases(start: () => Promise<OpenedWebsites>): void {
  let websites: OpenedWebsites;
  let shop: OpenedWebsite;
  let cafe: OpenedWebsite;
  beforeAll(async () => {
    websites = await start();
    ({ shop, cafe } = websites);
  });
  afterAll(() => websites?.stop());

  const withCookie = (cookie: string): Asked => ({ headers: { cookie } });

  describe('a link to a database', () => {
    test('opens a session once', async () => {
      const path = await shop.link();
      const opened = await shop.ask(path);
      expect(opened).toMatchObject({
        status: 200,
        headers: {
          'cache-control': 'no-store',
          'referrer-policy': 'no-referrer',
          'x-robots-tag': expect.stringContaining('noindex'),
          refresh: `0; url=${shop.firstPage}`,
        },
      });
      expect(opened.headers['set-cookie']?.at(-1)).toMatch(
        /^homeport_database=[^;]{22,}; path=\/\.well-known\/homeport-database\/; HttpOnly; SameSite=Strict$/i,
      );
      const second = await shop.ask(path);
      expect(second).toMatchObject({ status: 403, headers: { 'cache-control': 'no-store' } });
      expect(second.text).toContain('This link no longer works');
      expect(second.headers['set-cookie']).toBeUndefined();
    });

    test('opens one session for many requests at once', async () => {
      const path = await shop.link();
      const answers = await Promise.all(Array.from({ length: 10 }, () => shop.ask(path)));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    });

    test('expires, counts in its own install only, and is not used up by a browser that looks ahead', async () => {
      const path = await shop.link();
      expect((await cafe.ask(path)).status).toBe(403);
      expect((await shop.ask(path, { headers: { 'Sec-Purpose': 'prefetch' } })).status).toBe(503);
      expect((await shop.ask(path, { method: 'HEAD' })).status).toBe(405);
      expect((await shop.ask(path)).status).toBe(200);

      const expired = Math.floor(Date.now() / 1000) - 1;
      const token = `${expired}.${'a'.repeat(43)}`;
      const file = `link-${expired}-${createHash('sha256').update(token).digest('hex')}`;
      const ended = `sess_${'b'.repeat(32)}`;
      for (const name of [file, ended]) await writeFile(join(shop.sessions, name), '{}', { mode: 0o644 });
      await utimes(join(shop.sessions, ended), expired, expired - 9 * 3_600);
      expect((await shop.ask(`${DATABASE_PATH}?token=${token}`)).status).toBe(403);
      const next = await shop.link();
      const present = await readdir(shop.sessions);
      expect(present.filter((name) => name === file || name === ended)).toEqual([]);
      const kept = await Promise.all(
        present.map((name) => readFile(join(shop.sessions, name), 'utf8').then((text) => name + text)),
      );
      expect(kept.join()).not.toContain(new URL(next, 'http://x').searchParams.get('token'));
      for (const wrong of ['', 'x', '../../etc/passwd', `${expired + 60}.${'a'.repeat(43)}`]) {
        expect((await shop.ask(`${DATABASE_PATH}?token=${wrong}`)).status, wrong).toBe(403);
      }
      expect((await shop.ask(`${DATABASE_PATH}?token[]=x`)).status).toBe(403);

      await rm(shop.sessions, { recursive: true });
      await symlink('/etc', shop.sessions);
      await expect(shop.link()).rejects.toThrow('Delete it by SFTP');
      await rm(shop.sessions);
    });
  });

  describe('a session', () => {
    let cookie: string;
    beforeAll(async () => {
      cookie = await signIn(shop);
    });

    test('shows the tables, and what their page loads', async () => {
      const tables = await shop.ask(shop.firstPage, withCookie(cookie));
      expect(tables).toMatchObject({
        status: 200,
        headers: { 'cache-control': 'no-store', 'x-robots-tag': expect.stringContaining('noindex') },
      });
      expect(tables.text).toContain('wp_options');
      expect(tables.text).not.toContain(websites.hostFolder);
      const policy = String(tables.headers['content-security-policy']);
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/https?:|\*/);
      const [, address = ''] = /(?:href|src)=['"]([^'"]*\.css[^'"]*)/.exec(tables.text) ?? [];
      const { pathname, search } = new URL(address.replaceAll('&amp;', '&'), `http://x${DATABASE_PATH}`);
      const style = await shop.ask(pathname + search, withCookie(cookie));
      expect(style).toMatchObject({ status: 200, headers: { 'content-type': /^text\/css/ } });
      expect((await shop.ask(pathname + search)).status).toBe(403);
    });

    test('runs statements, and WordPress shows what they change', async () => {
      expect(await shop.run(cookie, "SELECT CONCAT('is', 42) AS answer")).toContain('is42');
      await shop.run(
        cookie,
        "UPDATE wp_options SET option_value = 'Kate''s \\\\o/ shop' WHERE option_name = 'blogname'",
      );
      await shop.purgeObjects();
      expect((await shop.ask('/wp-login.php')).text).toMatch(/Kate(?:’|'|&#8217;|&#0?39;)s \\o\/ shop/);
      expect(await shop.run(cookie, 'SELECT * FROM wp_nothing')).toContain('wp_nothing');
    });

    test('is nothing to other installs, and strangers have none', async () => {
      expect((await cafe.ask(cafe.firstPage, withCookie(cookie))).status).toBe(403);
      const stranger = await shop.ask(shop.firstPage);
      expect(stranger).toMatchObject({ status: 403, headers: { 'cache-control': 'no-store' } });
      const unknown = await shop.ask(shop.firstPage, withCookie(`homeport_database=${'a'.repeat(32)}`));
      expect(unknown).toMatchObject({ status: 403, headers: { 'cache-control': 'no-store' } });
      expect((await shop.ask(shop.firstPage, withCookie('homeport_database=../../x'))).status).toBe(403);
    });

    test('ends when the visitor leaves', async () => {
      const mine = await signIn(shop);
      expect((await shop.leave(mine)).text).toContain('Signed out');
      expect((await shop.ask(shop.firstPage, withCookie(mine))).status).toBe(403);
    });

    onlyInLong(test)('that has ended is not brought back by a backup, nor is a link', async () => {
      const unused = await shop.link();
      const mine = await signIn(shop);
      await shop.run(mine, "UPDATE wp_options SET option_value = 'Before' WHERE option_name = 'blogname'");
      const restore = await shop.backUp();
      await shop.run(mine, "UPDATE wp_options SET option_value = 'After' WHERE option_name = 'blogname'");
      expect((await shop.ask(unused)).status).toBe(200);
      await shop.leave(mine);

      await restore();
      expect((await shop.ask(shop.firstPage, withCookie(mine))).status).toBe(403);
      expect((await shop.ask(unused)).status).toBe(403);
      const again = await signIn(shop);
      const restored = await shop.run(
        again,
        "SELECT option_value FROM wp_options WHERE option_name = 'blogname'",
      );
      expect(restored).toContain('Before');
    });

    test('works if WordPress does not', async () => {
      const mine = await signIn(cafe);
      await writeFile(join(cafe.root, 'wp-config.php'), '<?php exit("broken");');
      await writeFile(join(cafe.root, '.user.ini'), 'auto_prepend_file=/nowhere.php\n');
      await mkdir(join(cafe.root, '.well-known/homeport-database'), { recursive: true });
      await writeFile(
        join(cafe.root, '.well-known/homeport-database/index.php'),
        "<?php exit('of the website');",
      );
      expect((await cafe.ask(cafe.firstPage, withCookie(mine))).text).toContain('wp_options');
      expect((await cafe.ask(await cafe.link())).status).toBe(200);
    });
  });
}
