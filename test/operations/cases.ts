import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest';
import { MINUTE_MS } from '../../src/lib/durations.ts';
import { field, text } from '../client.ts';
import { installName } from '../homeport.ts';
import { isLong } from '../rounds.ts';
import { loginLink, signIn } from './administrator.ts';
import { createOwner, type Install, type Owner, type Platform } from './platform.ts';
import { createVisitor, type Visitor } from './visitor.ts';

const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const WHOLE = { include_files: true, include_db: true };
const SUCCEEDED = { status: 'succeeded', error: null };

/**
 * Operations on real WordPress, as visitors and administrators see their results. One website goes through them all, so each test needs
 * those before it. Variants of the main paths run in the long tests, and so do those main paths that are left out of `quick` cases.
 */
export function testOperations(start: () => Promise<Platform>, extent: 'quick' | 'main' = 'main'): void {
  describe('operations on real WordPress', { timeout: 10 * MINUTE_MS }, () => defineCases(start, extent));
}

/** Registers a case in the long tests only. */
function variant(name: string, body: (context: TestContext) => Promise<void>): void {
  if (isLong) test(name, body);
}

function defineCases(start: () => Promise<Platform>, extent: 'quick' | 'main'): void {
  /** Registers a main path that takes long, and whose code other cases run too. */
  const long = extent === 'quick' ? variant : test;
  /** Commands of WP-CLI take 4 s of a processor each with PHP as WebAssembly. */
  const hasCommands = isLong || extent === 'main';
  let platform: Platform;
  let owner: Owner;
  let visitor: Visitor;
  let shop: Install;
  let staging: Install;
  let other: Install;
  /** The path of an uploaded picture. */
  let picture = '';

  beforeAll(async () => {
    platform = await start();
    owner = await createOwner(platform);
    visitor = createVisitor(platform.edge);
    const site = await owner.person.client.post('/sites', { name: 'Shop', account_id: owner.accountId });
    shop = await owner.create({ site_id: text(site.body, 'id'), environment: 'production' });
  });
  afterAll(async () => {
    await visitor?.close();
    await platform?.remove();
  });

  const at = ({ domain }: Install, path = '/') => platform.addressOf(domain) + path;
  const copiedAt = ({ domain }: Install, path: string) => platform.copiedAddressOf(domain) + path;
  const see = (install: Install, path?: string) => {
    const { authorization } = install;
    return visitor.open(at(install, path), authorization === undefined ? {} : { headers: { authorization } });
  };
  const publish = async (install: Install, title: string, content = '') => {
    const administrator = await signIn(platform, owner, install);
    return administrator.rest('posts', { title, content, status: 'publish' });
  };

  /** Addresses whose first page of wp-admin was seen. It takes 2 s of a processor, so only the long tests open it again. */
  const dashboards = new Set<string>();

  /** Visitors and administrators use a website at its own address, and nothing leads to another one. */
  async function expectWhole(install: Install, title: string, others: Install[] = []): Promise<void> {
    const home = await see(install);
    expect(home.status).toBe(200);
    expect(home.text).toContain(title);
    // A guid identifies a post, and is no address.
    const pages = [home.text, (await see(install, '/feed/')).text.replace(/<guid.*/g, '')];
    if (isLong || !dashboards.has(install.domain)) {
      dashboards.add(install.domain);
      const administrator = await signIn(platform, owner, install);
      expect(administrator.landing).toBe(at(install, '/wp-admin/'));
      const dashboard = await administrator.open(administrator.landing);
      expect(dashboard.status).toBe(200);
      expect(dashboard.text).toContain('id="wpadminbar"');
      pages.push(dashboard.text);
    }
    for (const page of pages) {
      for (const { domain } of others) expect(page).not.toContain(domain);
    }
    const [theme = ''] = /\/wp-content\/themes\/[\w-]+\//.exec(home.text) ?? [];
    expect(await see(install, `${theme}style.css`)).toMatchObject({
      status: 200,
      headers: { 'content-type': expect.stringContaining('text/css') },
    });
    if (picture !== '') expect(await see(install, picture)).toMatchObject({ status: 200 });
  }

  test('a new website welcomes visitors, and its administrator by a link that works once', async () => {
    await expectWhole(shop, 'Hello world!');
    const link = new URL(await loginLink(owner, shop));
    const first = await visitor.open(at(shop, link.pathname + link.search));
    expect(first).toMatchObject({ status: 302, headers: { location: at(shop, '/wp-admin/') } });
    const stranger = createVisitor(platform.edge);
    expect(await stranger.open(at(shop, link.pathname + link.search))).toMatchObject({ status: 403 });
    expect((await stranger.open(at(shop, '/wp-admin/'))).headers.location).toContain('/wp-login.php');
    await stranger.close();
  });

  test('what an administrator publishes and uploads is there for the next visitor', async () => {
    await see(shop);
    const administrator = await signIn(platform, owner, shop);
    picture = new URL(await administrator.upload('sign.png', PICTURE)).pathname;
    await administrator.rest('settings', { title: 'Corner Shop' });
    const content = `<a href="${at(shop, '/about/')}">About</a> 100% %s \\ <!-- {"url":"${at(shop, '/x').replaceAll('/', '\\/')}"} -->`;
    await administrator.rest('posts', { title: 'Fresh bread', content, status: 'publish' });
    expect((await see(shop)).text).toContain('Fresh bread');
    expect((await see(shop, '/fresh-bread/')).text).toContain(at(shop, '/about/'));
    await expectWhole(shop, 'Corner Shop');
  });

  let postByCommand = '';
  const wp = (...args: string[]) => owner.operate(`/installs/${shop.id}/wp_cli`, { args });
  /** The path of a dump of the database by WP-CLI, in its folder. */
  const dump = async () => {
    const dumped = await wp('db', 'export', '--porcelain');
    expect(dumped).toMatchObject({ ...SUCCEEDED, result: { exit_status: '0' } });
    return text(dumped, 'result', 'stdout').trim();
  };

  long('what WP-CLI changes is there for the next visitor, and what it writes is not', async () => {
    await see(shop);
    const post = ['post', 'create', '--post_title=By command', '--post_status=publish', '--porcelain'];
    const made = await wp(...post);
    expect(made).toMatchObject({ ...SUCCEEDED, result: { exit_status: '0', stderr: '' } });
    postByCommand = text(made, 'result', 'stdout').trim();
    expect((await see(shop)).text).toContain('By command');
    const file = await dump();
    for (const folder of ['', '/private', '/.private']) {
      expect((await see(shop, `${folder}/${file}`)).text).not.toContain('INSERT INTO');
    }
  });

  variant('what WP-CLI deletes is gone for the next visitor, and its dump can be imported', async () => {
    expect(await wp('post', 'delete', postByCommand, '--force')).toMatchObject({
      result: { exit_status: '0' },
    });
    expect((await see(shop)).text).not.toContain('By command');
    expect(await wp('db', 'import', await dump())).toMatchObject({ result: { exit_status: '0' } });
    await expectWhole(shop, 'Corner Shop');
  });

  const titles = async () => {
    const { text: page } = await see(shop);
    return ['Fresh bread', 'Sold out'].filter((title) => page.includes(title));
  };
  const upload = async () => (await see(shop, picture)).text.length;
  const spoil = async () => {
    const administrator = await signIn(platform, owner, shop);
    await administrator.rest('posts', { title: 'Sold out', status: 'publish' });
    await platform.write(shop, picture.slice(1), 'no picture');
  };
  const restore = (backup: string, parts: object) =>
    owner.operate(`/installs/${shop.id}/backups/${backup}/restore`, { notification_emails: [], ...parts });

  test(`a backup brings back the whole website${hasCommands ? ', and an older database is upgraded' : ''}`, async () => {
    const earlier = 58_975;
    if (hasCommands) await wp('option', 'update', 'db_version', String(earlier));
    const backup = await owner.backUp(shop);
    const whole = await upload();
    await spoil();
    expect(await titles()).toEqual(['Fresh bread', 'Sold out']);
    expect(await restore(backup, {})).toMatchObject(SUCCEEDED);
    expect([await titles(), await upload()]).toEqual([['Fresh bread'], whole]);
    if (hasCommands) {
      const version = text(await wp('option', 'get', 'db_version'), 'result', 'stdout');
      expect(Number(version)).toBeGreaterThan(earlier);
    }
    await expectWhole(shop, 'Corner Shop');
  });

  variant('a backup brings back the files or the database alone', async () => {
    const backup = await owner.backUp(shop);
    const whole = await upload();
    await spoil();
    expect(await restore(backup, { restore_database: false })).toMatchObject(SUCCEEDED);
    expect([await titles(), await upload()]).toEqual([['Fresh bread', 'Sold out'], whole]);
    await spoil();
    expect(await restore(backup, { restore_files: false })).toMatchObject(SUCCEEDED);
    expect([await titles(), await upload()]).toEqual([['Fresh bread'], 'no picture'.length]);
    expect(await restore(backup, {})).toMatchObject(SUCCEEDED);
  });

  long('a website moves to another main domain, with the texts in its database', async () => {
    const before = shop;
    shop = { ...shop, domain: `${shop.name}.example.com` };
    const path = `/installs/${shop.id}/domains`;
    expect(await owner.operate(path, { name: shop.domain, primary: true })).toMatchObject(SUCCEEDED);
    await expectWhole(shop, 'Corner Shop', [before]);
    const post = await see(shop, '/fresh-bread/');
    expect(post.text).toContain(copiedAt(shop, '/about/'));
    expect(post.text).toContain(copiedAt(shop, '/x').replaceAll('/', '\\/'));
    expect(post.text).toContain('100% %s \\');
    expect(post.text).not.toContain(before.domain);
    expect(post.headers['x-robots-tag']).toBeUndefined();
  });

  test('a staging copy is a website of its own, which search engines leave out', async () => {
    const name = installName();
    const made = await owner.start(`/installs/${shop.id}/staging`, { name });
    expect(made.operation).toMatchObject({ kind: 'install.copy', ...SUCCEEDED });
    const copied = { id: text(made.body, 'id'), name, domain: `${name}.${platform.siteDomain}` };
    expect(await see(copied)).toMatchObject({ status: 401 });
    staging = await owner.passing(copied);
    await expectWhole(staging, 'Corner Shop', [shop]);
    const post = await see(staging, '/fresh-bread/');
    expect(post.text).toContain(copiedAt(staging, '/about/'));
    expect(post.headers['x-robots-tag']).toBe('noindex');
  });

  long('a push replaces production by staging, at the address of production', async () => {
    await publish(staging, 'New season', `<a href="${at(staging, '/season/')}">Season</a>`);
    expect((await see(shop)).text).not.toContain('New season');
    const request = { ...WHOLE, notification_emails: [] };
    expect(await owner.operate(`/installs/${staging.id}/push`, request)).toMatchObject(SUCCEEDED);
    await expectWhole(shop, 'New season', [staging]);
    expect((await see(shop, '/new-season/')).text).toContain(copiedAt(shop, '/season/'));
    expect((await see(shop)).headers['x-robots-tag']).toBeUndefined();
  });

  const copy = (from: Install, to: Install, custom_options = {}) =>
    owner.operate('/install_copy', {
      source_environment_id: from.id,
      destination_environment_id: to.id,
      notification_emails: [],
      ...custom_options,
    });

  variant('a copy into another install replaces that website, and leaves the source', async () => {
    other = await owner.create();
    await publish(other, 'Only here');
    expect(await copy(shop, other)).toMatchObject(SUCCEEDED);
    await expectWhole(other, 'New season', [shop, staging]);
    expect((await see(other)).text).not.toContain('Only here');
    // The last case expects the whole source.
    expect((await see(shop)).text).toContain('New season');
  });

  variant('a copy of the posts alone leaves the other tables', async () => {
    await publish(shop, 'Only the posts');
    const administrator = await signIn(platform, owner, other);
    await administrator.rest('settings', { title: 'Other Shop' });
    const custom_options = { include_files: false, include_db: true, db_tables: ['wp_posts'] };
    expect(await copy(shop, other, { custom_options })).toMatchObject(SUCCEEDED);
    await expectWhole(other, 'Only the posts', [shop]);
    expect((await see(other)).text).toContain('Other Shop');
  });

  variant('a failed copy leaves the website that it was to replace', async () => {
    await publish(other, 'Still here');
    await platform.write(
      staging,
      'wp-content/mu-plugins/broken.php',
      `<?php add_action('template_redirect', function () { throw new Exception('broken plugin'); });`,
    );
    expect(await copy(staging, other)).toMatchObject({
      status: 'failed',
      error: { code: 'rolled_back', message: expect.stringContaining('answers 500') },
    });
    expect((await see(other)).text).toContain('Still here');
    await platform.refuseChanges(staging);
    expect(await copy(staging, other)).toMatchObject({ status: 'failed' });
    await expectWhole(other, 'Still here', [shop, staging]);
  });

  variant('scheduled tasks run without visitors, who see what they publish', async () => {
    await platform.write(
      shop,
      'wp-content/mu-plugins/tasks.php',
      `<?php
        add_action('bake', fn() => wp_insert_post(['post_title' => 'Baked at night', 'post_status' => 'publish']));
        add_action('init', fn() => add_option('planned', 1) && wp_schedule_single_event(time() - 1, 'bake'));`,
    );
    await see(shop, '/wp-login.php');
    const page = async () => {
      platform.passTime(6 * MINUTE_MS);
      return (await see(shop)).text;
    };
    await expect.poll(page, { timeout: 180_000, interval: 1_000 }).toContain('Baked at night');
  });

  variant('a failed change of the main domain changes nothing', async () => {
    await platform.refuseChanges(shop);
    const added = `new-${shop.name}.example.com`;
    const path = `/installs/${shop.id}/domains`;
    const failed = {
      status: 'failed',
      error: {
        code: 'change_refused',
        message: expect.stringMatching(`not now.* The main domain is still ${shop.domain}\\.$`),
      },
    };
    expect(await owner.operate(path, { name: added, primary: true })).toMatchObject(failed);
    const domains = await owner.domains(shop);
    expect([...domains].filter(([, { primary }]) => primary).map(([name]) => name)).toEqual([shop.domain]);
    const changed = await owner.person.client.patch(`${path}/${domains.get(added)?.id}`, { primary: true });
    expect(field(changed.body, 'primary')).toBe(true);
    await platform.homeport.idle();
    const query = `install_id=${shop.id}&kind=install.apply&limit=100`;
    const results = field((await owner.person.client.get(`/operations?${query}`)).body, 'results');
    expect(Array.isArray(results) ? results.at(-1) : undefined).toMatchObject(failed);
    await expectWhole(shop, 'New season', [{ ...shop, domain: added }]);
    expect((await see(shop, '/new-season/')).text).toContain(copiedAt(shop, '/season/'));
  });
}
