import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, writeSync } from 'node:fs';
import {
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { isLong, onlyInLong } from '../../../test/rounds.ts';
import { codeOf } from '../../lib/error-code.ts';
import type { LogKind } from '../contract/choices.ts';
import { DATABASE_PATH } from '../contract/database-access.ts';
import { PermanentHostError } from '../contract/errors.ts';
import type { InstallState } from '../contract/install-state.ts';
import { NO_RULES } from '../contract/website-rules.ts';
import { LOGIN_PATH } from '../contract/wordpress-login.ts';
import { eventually, sendRaw, siteState } from '../policy/edge.fixture.ts';
import { LOGIN_LIMITS, NEXT_ATTEMPT } from '../policy/login-limits.ts';
import { createPass } from '../policy/visitor-pass.ts';
import { hashVisitorPassword } from '../policy/visitor-password.ts';
import { type PhpAvailability, PhpFailure } from '../runtime/wasm/php-sites.ts';
import { addToErrorLog } from '../runtime/wasm/process/error-log.ts';
import { checkCore } from '../wordpress/core-tree.ts';
import { requirePackagedFiles } from '../wordpress/packaged-files.ts';
import { LOCAL, startHost, type TestHost, traces } from './embedded-host.fixture.ts';
import { createEmbeddedHost } from './embedded-host.ts';
import type { WordPressSettings } from './host-options.ts';
import { platformParts } from './platform-parts.ts';
import { announceDatabase } from './wordpress/adopted-database.ts';
import { fillWithWordPress } from './wordpress/prepared-wordpress.fixture.ts';
import { cheapestPhp, mailThatGoes, realWordPress } from './wordpress/real-wordpress.fixture.ts';
import { smallWordPress } from './wordpress/small-wordpress.fixture.ts';
import { askForPurge, type WatchedPhp, watchPhp } from './wordpress/watched-php.fixture.ts';
import type { OutgoingMail } from './wordpress/website-mail.ts';

const { wordpress: source } = requirePackagedFiles();
let version: string;
let php: WatchedPhp;
let site: TestHost;
let shop: InstallState;
let sent: OutgoingMail[];
let callbacks: Callbacks | undefined;

type Callbacks = Parameters<WordPressSettings['createPhp']>[0];
const wordpressOf = (from: string | null): WordPressSettings =>
  realWordPress({
    source: from,
    createPhp(given) {
      if (callbacks !== undefined) return cheapestPhp(given);
      callbacks = given;
      php = watchPhp(cheapestPhp(given));
      return php;
    },
    mail: mailThatGoes(async (mail) => {
      sent.push(mail);
    }),
  });
const runs = (state: InstallState): InstallState => ({ ...state, runtime: 'wordpress' });
const databaseFile = (install: { id: string }) =>
  join(site.folder, 'installs', install.id, 'database/wordpress.sqlite');
const database = (install: { id: string }) => new Sqlite(databaseFile(install), { readonly: true });

/** A new folder of a host that has WordPress. */
async function filledFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'homeport-edge-'));
  await fillWithWordPress(folder);
  return folder;
}

beforeAll(async () => {
  version = await checkCore(source);
  sent = [];
  site = await startHost({
    folder: await filledFolder(),
    wordpress: wordpressOf(source),
    isTrustedProxy: (address) => address === '127.0.0.1',
  });
  shop = runs(siteState('shop', ['shop.test'], { primaryHostname: 'shop.test' }));
  await site.host.apply(shop);
});
afterAll(async () => {
  await site?.close();
});
beforeEach(() => {
  php.requests.length = 0;
  php.answer = () => ({ page: `page ${php.requests.length}` });
});

test('a start removes what a killed process left, and nothing of a running one', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'homeport-left-'));
  const { pid: killed } = spawnSync(process.execPath, ['--version']);
  const of = (pid: number) =>
    [`php/${pid}-one/program`, `scratch/${pid}-cores/core`, `golden/.making/${pid}-one`].map((name) =>
      join(folder, name),
    );
  for (const path of [...of(killed), ...of(process.ppid)]) await mkdir(path, { recursive: true });
  const started = await startHost({ folder, wordpress: wordpressOf(source) });
  expect(of(killed).filter((path) => existsSync(path))).toEqual([]);
  expect(of(process.ppid).filter((path) => existsSync(path))).toHaveLength(3);
  await started.close();
});

test('a start of PHP that failed is tried again at once, unless the failure lasts', async () => {
  const answers: PhpAvailability[] = [
    { reason: 'it took too long', mayPass: true },
    { reason: 'the packages are missing' },
  ];
  const started = await startHost({
    wordpress: {
      ...wordpressOf(source),
      createPhp: (given) => ({
        ...cheapestPhp(given),
        available: async () => answers.shift() ?? { reason: 'asked too often' },
      }),
    },
  });
  const { prepareWordPress } = started.host;
  expect(await prepareWordPress()).toMatchObject({
    reason: expect.stringContaining('too long'),
    mayPass: true,
  });
  const lasting = { reason: 'This machine cannot run WordPress: the packages are missing' };
  expect(await prepareWordPress()).toEqual(lasting);
  expect(await prepareWordPress()).toEqual(lasting);
  expect(started.log.filter(({ reason }) => reason !== undefined)).toMatchObject([
    { reason: 'it took too long', msg: 'WordPress cannot run now' },
    { reason: 'the packages are missing', msg: expect.stringContaining('serves static websites') },
  ]);
  await started.close();
});

test('another PHP of the machine is reported at once', async () => {
  const machine = { engine: 'machine', notMachine: null } as const;
  const versions = ['8.2.29', '8.2.30', '8.4.12'];
  const started = await startHost({
    wordpress: {
      ...wordpressOf(source),
      createPhp: (given) => ({
        ...cheapestPhp(given),
        available: async () => ({ ...machine, version: versions.shift() ?? '9.0' }),
      }),
    },
  });
  const { wordpressHere } = started.host;
  expect(await wordpressHere()).toEqual({ ...machine, version: '8.2' });
  expect(await wordpressHere()).toEqual({ ...machine, version: '8.2' });
  expect(await wordpressHere()).toEqual({ ...machine, version: '8.4' });
  await started.close();
});

describe('a new install', () => {
  test('has the newest WordPress with its own values and password', async () => {
    expect(await site.host.apply(shop)).toEqual({
      phpVersion: expect.stringMatching(/^8\.\d$/),
      wordpressVersion: version,
      stableIps: null,
      hasFormerUrls: false,
    });
    const port = site.host.addresses?.edgeHttp.port;
    const rows = database(shop);
    const options =
      "select option_name, option_value from wp_options where option_name in ('blogname', 'siteurl') order by 1";
    expect(rows.prepare(options).all()).toEqual([
      { option_name: 'blogname', option_value: 'shop' },
      { option_name: 'siteurl', option_value: `http://shop.test:${port}` },
    ]);
    expect(rows.prepare('select user_email, user_pass from wp_users').get()).toMatchObject({
      user_email: 'admin@shop.test',
      user_pass: expect.stringMatching(/^\$P\$/),
    });
    rows.close();
    const told = await readFile(site.file(shop, '.private/wordpress-admin.txt'), 'utf8');
    expect(told).toMatch(/Password: {2}[\w-]{24}\n/);
    expect(await readFile(site.file(shop, 'wp-config.php'), 'utf8')).not.toContain('homeport.php');
    expect(await readdir(site.file(shop, 'wp-content'))).toEqual(
      expect.arrayContaining(['db.php', 'mu-plugins', 'plugins', 'themes', 'uploads']),
    );
  });

  test('gets the files of the host again, and keeps its own', async () => {
    await rm(site.file(shop, 'wp-content/db.php'));
    await site.write(shop, 'wp-content/mu-plugins/homeport.php', '<?php // mine');
    await site.host.apply(shop);
    expect(await readFile(site.file(shop, 'wp-content/db.php'), 'utf8')).toContain('HOMEPORT_SQLITE');
    expect(await readFile(site.file(shop, 'wp-content/mu-plugins/homeport.php'), 'utf8')).toContain('mine');
  });

  test('keeps its version if that cannot be had now, and gets no older one', async () => {
    const kept = runs(siteState('keeping', ['keeping.test']));
    await site.host.apply(kept);
    const cores = join(site.folder, 'wordpress');
    const older = await smallWordPress(join(cores, '6.5'), '6.5');
    await rename(join(cores, version), join(cores, 'aside'));
    const refused = site.host.apply(kept);
    await expect(refused).rejects.toThrow(`lacks WordPress ${version}`);
    await expect(refused).rejects.not.toBeInstanceOf(PermanentHostError);
    await rename(join(cores, 'aside'), join(cores, version));
    await rm(older, { recursive: true });
    expect((await site.host.apply(kept)).wordpressVersion).toBe(version);
    // Websites of one version share its files in memory.
    const stylesOf = (name: string) => site.http(name, '/wp-includes/css/dashicons.min.css');
    expect((await stylesOf('shop.test')).status).toBe(200);
    expect((await stylesOf('keeping.test')).headers['x-cache']).toBe('HIT');
  });

  test('needs PHP, and WordPress of a version that runs with SQLite', async () => {
    const other = await startHost();
    const refused = other.host.apply(runs(siteState('other', [])));
    await expect(refused).rejects.toThrow(/cannot run WordPress.*runtime "static"/);
    await expect(refused).rejects.toBeInstanceOf(PermanentHostError);
    await other.close();
    const old = await smallWordPress(await mkdtemp(join(tmpdir(), 'homeport-core-')), '6.1.9');
    for (const [from, message] of [
      [old, /WordPress 6.1.9 is too old/],
      [
        'official',
        /cannot be downloaded. Connect this machine to the Internet, or set HOMEPORT_WORDPRESS_SOURCE/,
      ],
    ] as const) {
      const lacking = await startHost({ wordpress: wordpressOf(from) });
      await expect(lacking.host.apply(runs(siteState('lacking', [])))).rejects.toThrow(message);
      await lacking.host.apply(siteState('files', ['files.test']));
      expect((await lacking.http('files.test', '/')).status).toBe(200);
      await lacking.close();
    }
    await rm(old, { recursive: true });
  });
});

describe('the edge', () => {
  test('serves pages from its cache, except to visitors with a login or a cart', async () => {
    const get = (path: string, headers = {}) => site.http('shop.test', path, { headers });
    const first = await get('/cached/?utm_source=a');
    expect(first).toMatchObject({ status: 200, headers: { 'x-cache': 'MISS' } });
    expect(await get('/cached/')).toMatchObject({ text: first.text, headers: { 'x-cache': 'HIT' } });
    for (const Cookie of ['wordpress_logged_in_x=1', 'woocommerce_items_in_cart=1']) {
      const own = await get('/cached/', { Cookie, 'X-Forwarded-Host': 'evil.test' });
      expect(own.headers['x-cache']).toBe('BYPASS');
    }
    expect(php.requests.at(-1)?.request.headers).toMatchObject({ cookie: 'woocommerce_items_in_cart=1' });
    expect(php.requests.at(-1)?.request.headers).not.toHaveProperty('x-forwarded-host');
    expect((await get('/wp-admin/')).headers['x-cache']).toBe('BYPASS');
    site.clock.advance(61_000);
    expect((await get('/cached/')).headers['x-cache']).toBe('MISS');
  });

  test('warns of no leak while it logs each request', async () => {
    const warnings: Error[] = [];
    const warned = (warning: Error) => warnings.push(warning);
    process.on('warning', warned);
    site.options.log.level = 'debug';
    const headers = { Cookie: 'wordpress_logged_in_x=1', 'Accept-Encoding': 'gzip' };
    expect((await site.http('shop.test', '/debugged/', { headers })).headers['content-encoding']).toBe(
      'gzip',
    );
    // Node emits it in a later turn.
    await new Promise((resolve) => setImmediate(resolve));
    site.options.log.level = 'warn';
    process.off('warning', warned);
    expect(site.log.filter(({ msg }) => msg === 'request')).toHaveLength(1);
    expect(warnings).toEqual([]);
  });

  test('keeps no page that PHP marks as personal', async () => {
    php.answer = () => ({ page: 'own', headers: { 'set-cookie': ['a=1', 'b=2'] } });
    const answer = await site.http('shop.test', '/personal/');
    expect(answer.headers).toMatchObject({ 'x-cache': 'MISS', 'set-cookie': ['a=1', 'b=2'] });
    expect((await site.http('shop.test', '/personal/')).headers['x-cache']).toBe('MISS');
  });

  test('asks PHP once for a page that many want', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => site.http('shop.test', '/many/')));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(php.requests).toHaveLength(1);
  });

  test('purges what a request changes before it ends', async () => {
    const get = async (path: string) => (await site.http('shop.test', path)).headers['x-cache'];
    await get('/a/');
    await get('/b/');
    php.answer = (_request, of) => {
      purged = askForPurge(of, { paths: ['/a/'] });
      return { status: 302, headers: { location: '/a/' } };
    };
    let purged: Promise<void> = Promise.resolve();
    const saved = await site.http('shop.test', '/wp-admin/post.php', { method: 'POST', body: 'title=x' });
    await purged;
    expect(saved).toMatchObject({ status: 302, headers: { location: '/a/' } });
    expect(php.requests.at(-1)?.body).toBe('title=x');
    php.answer = () => ({ page: 'new' });
    expect([await get('/a/'), await get('/b/')]).toEqual(['MISS', 'HIT']);
    const of = php.requests.at(-1)?.site;
    if (of !== undefined) await writeFile(join(of.private, 'purges'), 'what?');
    await site.http('shop.test', '/wp-admin/');
    expect(await get('/b/')).toBe('MISS');
  });

  test('sends files of the website and of WordPress itself, and none that is private', async () => {
    await site.write(shop, 'wp-content/uploads/a.txt', 'upload');
    expect((await site.http('shop.test', '/wp-content/uploads/a.txt')).text).toBe('upload');
    expect((await site.http('shop.test', '/wp-includes/css/dashicons.css')).text).toContain('dashicons');
    for (const path of ['/.private/wordpress-admin.txt', '/homeport/settings.php']) {
      expect((await site.http('shop.test', path)).status).toBe(404);
    }
    expect(php.requests).toEqual([]);
    // PHP decides what these are.
    for (const path of ['/license.txt', '/wp-config.php', '/nothing']) await site.http('shop.test', path);
    expect(php.requests.map(({ request }) => request.target)).toEqual([
      '/license.txt',
      '/wp-config.php',
      '/nothing',
    ]);
  });

  test('lets PHP on its own connection ask its website only, and in no other visitor’s name', async () => {
    const another = runs(siteState('another', ['another.test']));
    await site.host.apply(another);
    const asPhp = async (host: string) => {
      const socket = connect(site.host.addresses?.edgeHttp ?? LOCAL);
      await once(socket, 'connect');
      callbacks?.loopbacks.add(shop.id, socket);
      socket.write(
        `POST /wp-cron.php HTTP/1.1\r\nHost: ${host}\r\nX-Forwarded-For: 192.0.2.1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
      );
      return text(socket);
    };
    expect(await asPhp('another.test')).toMatch(/^HTTP\/1.1 404/);
    expect(php.requests).toEqual([]);
    expect(await asPhp('shop.test')).toMatch(/^HTTP\/1.1 200/);
    expect(php.requests.at(-1)?.request.clientAddress).toBe('127.0.0.1');
    const visit = { method: 'POST', headers: { 'X-Forwarded-For': '192.0.2.1' } };
    await site.http('another.test', '/wp-cron.php', visit);
    expect(php.requests.at(-1)?.request.clientAddress).toBe('192.0.2.1');
  });

  test('limits attempts to sign in', async () => {
    const attempt = () => site.http('shop.test', '/wp-login.php', { method: 'POST', body: 'log=a' });
    for (let count = 0; count <= LOGIN_LIMITS.login.burst; count++)
      expect((await attempt()).status).toBe(200);
    const refused = await attempt();
    expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': String(NEXT_ATTEMPT.login) } });
  });

  test('gives logins to PHP as they are, and no HEAD request', async () => {
    const path = `${LOGIN_PATH}?token=x`;
    const answer = await site.http('shop.test', path, { headers: { 'Sec-Purpose': 'prefetch' } });
    expect(answer.headers['x-cache']).toBe('BYPASS');
    expect(php.requests.at(-1)?.request).toMatchObject({
      target: path,
      headers: { 'sec-purpose': 'prefetch' },
    });
    expect((await site.http('shop.test', path, { method: 'HEAD' })).status).toBe(405);
    expect(php.requests).toHaveLength(1);
  });

  test('gives PHP a request for the database only with a link or a session', async () => {
    const cookie = 'a=b; homeport_database=0123456789012345678901';
    const page = `${DATABASE_PATH}index.php?route=/sql&token=x`;
    for (const [path, given] of [
      [DATABASE_PATH, ''],
      [`${DATABASE_PATH}index.php`, 'my_homeport_database=x'],
      [`${DATABASE_PATH}js/jquery.js`, 'homeport_database='],
    ]) {
      const refused = await site.http('shop.test', path ?? '', { headers: { cookie: given ?? '' } });
      expect(refused, path).toMatchObject({ status: 403, headers: { 'x-robots-tag': 'noindex' } });
    }
    const put = await site.http('shop.test', page, { method: 'PUT', headers: { cookie } });
    expect(put).toMatchObject({ status: 405, headers: { allow: 'GET, POST' } });
    expect(php.requests).toHaveLength(0);
    await site.http('shop.test', `${DATABASE_PATH}?token=x`);
    await site.http('shop.test', page, { headers: { cookie } });
    await site.http('shop.test', page, { headers: { cookie } });
    expect(php.requests).toHaveLength(3);
  });

  test('runs no program among the uploads', async () => {
    await site.write(shop, 'wp-content/uploads/evil.php', '<?php');
    const paths: [path: string, status: number][] = [
      ['/wp-content/uploads/evil.php', 404],
      ['/wp-content/uploads/evil.php/x', 404],
      ['/wp-content/uploads/evil.php%2fx', 404],
      ['/wp-content//uploads///evil.php', 404],
      ['/wp-content/%75ploads/evil%2ephp', 404],
      ['/wp-content/uploads/evil.PhP', 404],
      ['/wp-content/./uploads/evil.php', 400],
      ['/wp-content/uploads/evil.php%00.jpg', 400],
      ['/wp-content/%2e%2e/wp-content/uploads/evil.php', 400],
      ['/wp-content\\uploads\\evil.php', 400],
      ['/wp-config.php.bak', 404],
    ];
    for (const [path, status] of paths) {
      expect({ path, status: (await site.http('shop.test', path)).status }).toEqual({ path, status });
    }
    expect(php.requests).toEqual([]);
  });

  test.each([
    ['two lengths', 'Content-Length: 0\r\nContent-Length: 40'],
    ['a length and chunks', 'Content-Length: 40\r\nTransfer-Encoding: chunked'],
    ['an encoding that ends otherwise', 'Transfer-Encoding: chunked, identity'],
    ['a length with a sign', 'Content-Length: +40'],
    ['a space before the colon', 'Content-Length : 40'],
    ['two hosts', 'Host: another.test\r\nContent-Length: 0'],
  ])('takes no request with %s', async (_what, head) => {
    const port = site.host.addresses?.edgeHttp.port ?? 0;
    const request = `POST /wp-cron.php HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n${head}\r\n\r\n`;
    expect(await sendRaw(port, `${request}GET /smuggled/ HTTP/1.1\r\nHost: shop.test\r\n\r\n`)).toMatch(
      /^HTTP\/1.1 400 /,
    );
    expect(php.requests).toEqual([]);
  });

  test('keeps pages of each host, port and scheme apart, whatever else visitors send', async () => {
    const cached = async (host: string, headers = {}) =>
      (await site.http(host, '/apart/', { headers })).headers['x-cache'];
    const shaped = {
      'X-Forwarded-Proto': 'https',
      'X-Rewrite-URL': '/evil/',
      Range: 'bytes=0-1',
      Cookie: 'x=1',
    };
    expect(await cached('shop.test:99', shaped)).toBe('MISS');
    expect(Object.keys(php.requests.at(-1)?.request.headers ?? {})).toEqual(['accept', 'user-agent']);
    expect(await cached('shop.test')).toBe('MISS');
    expect((await site.https('shop.test', '/apart/')).headers['x-cache']).toBe('MISS');
    expect(await cached('shop.test', shaped)).toBe('HIT');
    expect(php.requests).toHaveLength(3);
  });

  test.each([
    ['busy', 503],
    ['timeout', 504],
    ['failed', 502],
    ['too_large', 413],
  ] as const)('answers when PHP is %s', async (reason, status) => {
    php.answer = () => {
      throw new PhpFailure(reason, 'as the test wants it', reason === 'busy' ? 7 : 0);
    };
    const answer = await site.http('shop.test', `/failing-${reason}/`);
    expect(answer.status).toBe(status);
    expect(answer.headers['retry-after']).toBe(reason === 'busy' ? '7' : undefined);
  });

  test('lets WordPress itself and logins through the password of visitors, and keeps the password from PHP', async () => {
    const passKey = 'k'.repeat(43);
    const password = {
      user: 'guest',
      hash: await hashVisitorPassword('secret'),
      passKey,
      exemptAddresses: [],
    };
    const kept = runs(siteState('kept', ['kept.test']));
    await site.host.apply({ ...kept, rules: { ...NO_RULES, password } });
    const get = (path: string, headers = {}) => site.http('kept.test', path, { headers });
    expect((await get('/')).status).toBe(401);
    expect(php.requests).toEqual([]);
    expect((await get('/', { 'X-Homeport-Pass': createPass(passKey, site.clock.now()) })).status).toBe(200);
    expect((await get(`${LOGIN_PATH}?token=x`)).status).toBe(200);
    const Authorization = `Basic ${Buffer.from('guest:secret').toString('base64')}`;
    expect((await get('/x', { Authorization, Cookie: 'wordpress_logged_in_x=1' })).status).toBe(200);
    expect(php.requests.at(-1)?.request.headers).not.toHaveProperty('authorization');
    expect(php.requests.at(-1)?.site.prepend).toContain(`'pass' => '${passKey}'`);
  });
});

test('an email of a website goes to the platform’s mail server, and counts', async () => {
  const message = Buffer.from('To: a@x.test\r\nSubject: Hello\r\n\r\nText');
  await callbacks?.deliverMail({ siteId: shop.id, message, arguments: ['-t', '-i'] });
  expect(sent.at(-1)).toMatchObject({ from: 'homeport@provider.test', to: ['a@x.test'] });
  expect(await site.host.readMail(shop)).toMatchObject({ limitPerHour: 10, sentLastHour: 1 });
  await site.host.apply({ ...shop, mail: { perHour: 1 } });
  const refused = callbacks?.deliverMail({ siteId: shop.id, message, arguments: ['-t'] });
  await expect(refused).rejects.toThrow('the limit of 1 recipients');
  expect(await site.host.readMail(shop)).toMatchObject({
    refusals: [{ reason: 'the limit of 1 recipients in an hour is reached', recipients: ['a@x.test'] }],
  });
  await site.host.apply(shop);
});

describe('the logs', () => {
  const read = async (
    install: { id: string; name: string },
    kind: LogKind,
  ): Promise<Record<string, unknown>[]> => {
    const page = await site.host.readLog(install, {
      ...{ kind, from: null, to: null, search: null, status: null },
      ...{ cursor: null, direction: 'older', limit: 100 },
    });
    if ('refused' in page) throw new Error(page.reason);
    return page.lines.map((line): Record<string, unknown> => JSON.parse(line));
  };

  test('have the requests of each website, without queries, and the time of PHP', async () => {
    const files = siteState('logged', ['logged.test']);
    await site.host.apply(files);
    const headers = {
      'X-Forwarded-For': '198.51.100.7',
      'User-Agent': Buffer.from('Ünique "Bot"\u202e').toString('latin1'),
      Referer: 'https://a.test/from?token=secret',
    };
    for (const query of ['?key=secret', '?key=secret'])
      await site.http('shop.test', `/logged/${query}`, { headers });
    await site.http('logged.test', '/index.html?key=secret', { headers });
    // What the platform's own checks send hides no visitor.
    const asCheck = { 'Cache-Control': 'only-if-cached' };
    await site.http('logged.test', '/own', { method: 'HEAD', headers: asCheck });
    const guess = { ...headers, ...asCheck };
    await site.http('logged.test', '/guessed.zip', { method: 'HEAD', headers: guess });
    await eventually(async () => (await read(files, 'access')).length > 0);
    const entry = {
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      address: '198.51.100.7',
      method: 'GET',
      scheme: 'http',
      host: 'logged.test',
      path: '/index.html',
      status: 200,
      bytes: expect.any(Number),
      cache: null,
      seconds: expect.any(Number),
      php_seconds: null,
      user_agent: 'Ünique "Bot"\u202e',
      referrer: 'https://a.test/from',
    };
    expect(await read(files, 'access')).toEqual([
      { ...entry, method: 'HEAD', path: '/guessed.zip', status: 404 },
      entry,
    ]);
    const pages = (await read(shop, 'access')).filter(({ path }) => path === '/logged/');
    expect(pages).toMatchObject([
      { host: 'shop.test', cache: 'HIT', php_seconds: null },
      { host: 'shop.test', cache: 'MISS', php_seconds: expect.any(Number) },
    ]);
    expect(JSON.stringify(await read(shop, 'access'))).not.toContain('secret');
    // Neither the document root, which SFTP and PHP show, nor the folder above it has them.
    const [log = ''] = (await traces(site, 'access-')).filter((path) => path.includes(files.id));
    expect(log).toMatch(/^logs\//);
    await site.host.remove(files);
    expect(await traces(site, files.id)).toEqual([]);
  });

  test('have the errors of PHP, and none of a website that a link leads to', async () => {
    addToErrorLog(site.file(shop, '.private/php-error.log'), 'PHP Fatal error:  no in /x.php:3', new Date());
    expect(await read(shop, 'php')).toContainEqual({
      time: expect.any(String),
      level: 'error',
      message: 'PHP Fatal error:  no in /x.php:3',
    });
    const curious = siteState('curious', []);
    await site.host.apply(curious);
    await symlink(site.file(shop, '.private'), site.file(curious, '.private'));
    expect(await read(curious, 'php')).toEqual([]);
    await site.host.remove(curious);
  });

  test('have the mail', async () => {
    const message = Buffer.from('To: logged@x.test\r\nSubject: Hello\r\n\r\nText');
    await callbacks?.deliverMail({ siteId: shop.id, message, arguments: ['-t'] });
    await eventually(async () =>
      (await read(shop, 'mail')).some(
        ({ event, recipients }) => event === 'sent' && String(recipients) === 'logged@x.test',
      ),
    );
  });

  test('can be read by a process that does not serve the website', async () => {
    const other = createEmbeddedHost({ ...site.options, listen: false });
    const page = await other.readLog(shop, {
      ...{ kind: 'access', from: null, to: null, search: '/logged/', status: null },
      ...{ cursor: null, direction: 'older', limit: 100 },
    });
    expect('lines' in page && page.lines).toHaveLength(2);
    await expect(read({ id: randomUUID(), name: 'unknown' }, 'php')).rejects.toThrow('no website unknown');
  });
});

test('a restart of PHP ends its process, and refuses a website of files', async () => {
  php.stopped.length = 0;
  await site.host.restartPhp(shop);
  expect(php.stopped).toEqual([shop.id]);
  const files = siteState('files', []);
  await site.host.apply(files);
  await expect(site.host.restartPhp(files)).rejects.toThrow('without PHP');
});

describe('the website of a stopped host', () => {
  let stopped: TestHost;
  let installs: string;
  /** Where versions before 0.3 had the database. */
  let inside: string;
  beforeAll(async () => {
    stopped = await startHost({ folder: await filledFolder(), wordpress: wordpressOf(source) });
    const own = runs(siteState('own', []));
    await stopped.host.apply(own);
    await stopped.host.stop();
    installs = join(stopped.folder, 'installs', own.id);
    inside = join(installs, 'files/.private/database');
  });
  afterAll(() => rm(stopped.folder, { recursive: true }));

  /** The title in the database after the next start, outside the document root. */
  async function titleAfterStart(): Promise<unknown> {
    const next = createEmbeddedHost(stopped.options);
    await next.start();
    const opened = new Sqlite(join(installs, 'database/wordpress.sqlite'), { readonly: true });
    const titles = opened.prepare("select option_value from wp_options where option_name = 'blogname'");
    const title = titles.pluck().get();
    opened.close();
    await next.stop();
    expect((await readdir(installs)).sort()).toEqual(['database', 'files']);
    expect(existsSync(inside)).toBe(false);
    return title;
  }

  test('of an earlier version gets its database outside the document root', async () => {
    await rename(join(installs, 'database'), inside);
    expect(await titleAfterStart()).toBe('own');
  });

  test('is complete if the server was killed before a restored database was in its place', async () => {
    await cp(join(installs, 'database'), inside, { recursive: true });
    await announceDatabase(join(installs, 'files'), inside);
    await writeFile(join(installs, 'database/wordpress.sqlite'), 'present');
    expect(await titleAfterStart()).toBe('own');
  });
});

describe('a backup', () => {
  test('counts the database in the storage', async () => {
    const { fileBytes } = await site.host.measureStorage(shop);
    await writeFile(join(databaseFile(shop), '../more'), Buffer.alloc(1024 * 1024, 1));
    expect((await site.host.measureStorage(shop)).fileBytes).toBe(fileBytes + 1024 * 1024);
    await rm(join(databaseFile(shop), '../more'));
  });

  test('of the platform has the database, and gives it back', async () => {
    const to = await mkdtemp(join(tmpdir(), 'homeport-parts-'));
    const store = { packs: join(to, 'packs'), manifest: join(to, 'm') };
    const id = randomUUID();
    const parts = platformParts(site.folder, site.clock);
    await parts.store(shop, id, store);
    await parts.extract(shop.id, id, store, join(to, 'host'));
    const copied = join(to, 'host/installs', shop.id);
    const live = await readFile(databaseFile(shop));
    expect(await readFile(join(copied, 'database/wordpress.sqlite'))).toEqual(live);
    expect(await readdir(join(copied, 'files/.private'))).not.toContain('platform-copy');
    expect(await readdir(site.file(shop, '.private'))).not.toContain('platform-copy');

    // It becomes a backup of the install, which restores a lost website.
    await site.host.restartPhp(shop);
    await rm(join(site.folder, 'installs', shop.id), { recursive: true });
    const backupId = randomUUID();
    const copy = { websiteId: shop.id, platformBackupId: id, isWordPress: true, fetch: async () => store };
    await parts.adopt(shop, backupId, copy, new AbortController().signal);
    expect(await site.host.heldBackups(shop)).toContain(backupId);
    await site.host.restore(shop, backupId);
    expect(await readFile(databaseFile(shop))).toEqual(live);
    expect((await site.http('shop.test', '/')).status).toBe(200);
    await rename(databaseFile(shop), join(to, 'aside.sqlite'));
    await expect(
      parts.store(shop, randomUUID(), { packs: join(to, 'lost'), manifest: join(to, 'l') }),
    ).rejects.toThrow('its database is missing');
    await rename(join(to, 'aside.sqlite'), databaseFile(shop));
    await rm(to, { recursive: true });
  });

  test('of the platform blames the website for a folder in place of its database', async () => {
    const to = await mkdtemp(join(tmpdir(), 'homeport-parts-'));
    const path = databaseFile(shop);
    await rename(path, `${path}.kept`);
    await mkdir(path);
    const parts = platformParts(site.folder, site.clock);
    const stored = parts.store(shop, randomUUID(), { packs: join(to, 'packs'), manifest: join(to, 'm') });
    const error = await stored.catch((caught: unknown) => caught);
    expect(String(error)).toContain('not a plain file');
    expect(codeOf(error)).toBeUndefined();
    await rmdir(path);
    await rename(`${path}.kept`, path);
    await rm(to, { recursive: true });
  });

  test('lets the website rest while it copies a database that changes all the time', async () => {
    const path = 'wp-content/stats.db';
    const database = openSync(site.file(shop, path), 'w');
    let writes = 0;
    // In place, as SQLite does: an empty file is no database.
    const write = () => writeSync(database, `SQLite format 3\0${++writes}`, 0);
    write();
    const { now } = site.clock;
    // Before each copy, the clock is asked how old the last change is.
    const asked = vi.spyOn(site.clock, 'now').mockImplementation(() => {
      write();
      return now();
    });
    const { atRest } = php;
    php.atRest = (id, work) => {
      expect(id).toBe(shop.id);
      asked.mockRestore();
      return work();
    };
    const id = randomUUID();
    try {
      await site.host.snapshot(shop, id);
    } finally {
      asked.mockRestore();
      php.atRest = atRest;
      closeSync(database);
    }
    await rm(site.file(shop, path));
    await site.host.restore(shop, id, { parts: { files: true, paths: [path], database: 'none' } });
    expect(await readFile(site.file(shop, path), 'utf8')).toBe(`SQLite format 3\0${writes}`);
    await rm(site.file(shop, path));
  });

  onlyInLong(test)('succeeds, and says what does not work for visitors', async () => {
    const id = randomUUID();
    await site.host.snapshot(shop, id);
    php.answer = ({ target }) => (target.startsWith('/wp-login.php') ? { status: 500 } : { page: 'Shop' });
    expect(await site.host.restore(shop, id)).toMatchObject({ warning: 'the login form answers 500' });
    php.answer = () => ({ page: 'Shop' });
    expect(await site.host.restore(shop, id)).not.toHaveProperty('warning');
  });

  test('gives back chosen files, and the database with them only if that is chosen', async () => {
    const titleOf = () => {
      const opened = database(shop);
      const title = opened.prepare("select option_value from wp_options where option_name = 'blogname'");
      const found = title.pluck().get();
      opened.close();
      return found;
    };
    const change = (sql: string) => {
      const opened = new Sqlite(databaseFile(shop));
      opened.exec(sql);
      opened.close();
    };
    const postOf = () => {
      const opened = database(shop);
      const found = opened.prepare('select post_title from wp_posts where ID = 1').pluck().get();
      opened.close();
      return found;
    };
    const write = (path: string, text: string) => writeFile(site.file(shop, path), text);
    const read = (path: string) => readFile(site.file(shop, path), 'utf8');
    const before = titleOf();
    const post = postOf();
    await mkdir(site.file(shop, 'wp-content/chosen'), { recursive: true });
    await write('wp-content/chosen/a.txt', 'then');
    await write('.private/note.txt', 'then');
    // A session of the database's page, which ends after the backup.
    const sessions = site.file(shop, '.private/tmp/homeport-database');
    await mkdir(sessions, { recursive: true });
    await writeFile(join(sessions, 'sess_ended'), '');
    const id = randomUUID();
    await site.host.snapshot(shop, id);
    const listed = await site.host.browseBackup(shop, id, { folder: '.private', offset: 0, limit: 100 });
    expect(listed).toMatchObject({
      entries: expect.arrayContaining([expect.objectContaining({ name: 'note.txt' })]),
    });
    // The database shows as tables, where the host restores single ones.
    expect(JSON.stringify(listed)).not.toContain('database');
    await rm(sessions, { recursive: true });
    await write('wp-content/chosen/a.txt', 'now');
    await write('wp-content/chosen/b.txt', 'since');
    await write('.private/note.txt', 'now');
    change("update wp_options set option_value = 'Changed' where option_name = 'blogname'");
    change("update wp_posts set post_title = 'Since' where ID = 1");

    const paths = ['wp-content/chosen'];
    await site.host.restore(shop, id, { parts: { files: true, paths, database: 'none' } });
    expect(await read('wp-content/chosen/a.txt')).toBe('then');
    expect(await read('wp-content/chosen/b.txt')).toBe('since');
    expect(await read('.private/note.txt')).toBe('now');
    expect(titleOf()).toBe('Changed');
    await site.host.restore(shop, id, { parts: { files: true, paths: ['.private'], database: 'none' } });
    expect(await read('.private/note.txt')).toBe('then');
    expect(existsSync(join(sessions, 'sess_ended'))).toBe(false);
    expect(titleOf()).toBe('Changed');
    await site.host.restore(shop, id, { parts: { files: false, database: ['wp_options'] } });
    expect([titleOf(), postOf()]).toEqual([before, 'Since']);
    // The steps of both, which take 3 s of a processor.
    if (isLong) {
      await site.host.restore(shop, id, { parts: { files: true, paths, database: 'all' } });
      expect([titleOf(), postOf()]).toEqual([before, post]);
    }
    const left = [...(await readdir(site.file(shop, '.'))), ...(await readdir(site.file(shop, '.private')))];
    expect(left.filter((name) => /homeport-|database|restore/.test(name))).toEqual([]);
    expect((await readdir(join(site.folder, 'installs', shop.id))).sort()).toEqual(['database', 'files']);
    await rm(site.file(shop, 'wp-content/chosen'), { recursive: true });
    await rm(site.file(shop, '.private/note.txt'));
  });

  onlyInLong(test)(
    'lists its tables, and restores chosen ones with what WordPress knows of them',
    async () => {
      const change = (sql: string) => {
        const opened = new Sqlite(databaseFile(shop));
        try {
          return opened.exec(sql);
        } finally {
          opened.close();
        }
      };
      const value = (sql: string) => {
        const opened = database(shop);
        try {
          return opened.prepare(sql).pluck().get();
        } finally {
          opened.close();
        }
      };
      const title = "select option_value from wp_options where option_name = 'blogname'";
      const post = 'select post_title from wp_posts where ID = 1';
      const rows = (table: string) => value(`select count(*) from ${table}`);
      const posts = rows('wp_posts');
      change(
        "insert into wp_posts (ID, post_title, post_content, post_excerpt, to_ping, pinged, post_content_filtered) values (900, 'Kept', '', '', '', '', '')",
      );
      const id = randomUUID();
      await site.host.snapshot(shop, id);
      const page = { offset: 0, limit: 100 };
      const listed = await site.host.listBackupTables(shop, id, page);
      if ('refused' in listed) throw new Error(listed.reason);
      expect(listed.tables.map(({ name }) => name)).toEqual(listed.tables.map(({ name }) => name).toSorted());
      expect(listed.tables).toContainEqual({ name: 'wp_posts', bytes: null, rows: Number(posts) + 1 });
      expect(listed.tables.filter(({ name }) => !name.startsWith('wp_'))).toEqual([]);

      change("update wp_options set option_value = 'Since' where option_name = 'blogname'");
      change("update wp_posts set post_title = 'Since'; delete from wp_posts where ID = 900");
      change('drop table wp_links');
      await writeFile(site.file(shop, 'since.txt'), 'stays');
      const restore = (database: string[], more = {}) =>
        site.host.restore(shop, id, { parts: { files: false, database, ...more } });
      await restore(['wp_posts', 'wp_links']);
      expect(value(title)).toBe('Since');
      expect(value('select post_title from wp_posts where ID = 900')).toBe('Kept');
      expect(value(post)).not.toBe('Since');
      expect(rows('wp_links')).toBe(0);
      expect(await readFile(site.file(shop, 'since.txt'), 'utf8')).toBe('stays');
      expect(value("select seq from sqlite_sequence where name = 'wp_posts'")).toBe(900);
      const known = '_wp_sqlite_mysql_information_schema_columns';
      expect(value(`select count(*) from ${known} where table_name = 'wp_links'`)).toBeGreaterThan(10);
      expect((await readdir(join(site.folder, 'installs', shop.id))).sort()).toEqual(['database', 'files']);
      expect(await readdir(join(site.folder, 'installs', shop.id, 'database'))).not.toContain(
        'restored.sqlite',
      );

      // A table that cannot be restored alone changes nothing.
      change('create table wp_more (id integer primary key, link_id integer references wp_links (link_id))');
      await expect(restore(['wp_links'])).rejects.toThrow(
        'A foreign key connects the tables "wp_more" and "wp_links"',
      );
      expect(rows('wp_more')).toBe(0);
      // With chosen files, and as a checkpoint that is put back, which removes tables that came later.
      const parts = { paths: ['wp-config.php'], files: true, dropAbsent: true };
      await restore(['wp_more', 'wp_links', 'wp_options'], parts);
      expect(() => rows('wp_more')).toThrow('no such table');
      expect(value(title)).not.toBe('Since');
      expect((await site.http('shop.test', '/')).status).toBe(200);
      change('delete from wp_posts where ID = 900');
      await rm(site.file(shop, 'since.txt'));
    },
  );

  onlyInLong(test)('of the other kind of website is refused', async () => {
    const files = siteState('plain', ['plain.test']);
    await site.host.apply(files);
    const [ofFiles, ofWordPress] = [randomUUID(), randomUUID()];
    await site.host.snapshot(files, ofFiles);
    await site.host.snapshot(shop, ofWordPress);
    await expect(site.host.restore(shop, ofFiles, { from: files })).rejects.toThrow(/of a static website/);
    await expect(site.host.restore(files, ofWordPress, { from: shop })).rejects.toThrow(/of a WordPress/);
    expect((await site.http('plain.test', '/')).text).toContain('plain');
  });
});

test('a deleted install leaves no process and no file, and comes back from its last backup', async () => {
  const gone = runs(siteState('gone', ['gone.test']));
  await site.host.apply(gone);
  const written = new Sqlite(databaseFile(gone));
  written.prepare("update wp_options set option_value = 'Kept' where option_name = 'blogname'").run();
  written.close();
  await site.host.retire(gone);
  expect(php.stopped.at(-1)).toBe(gone.id);
  const last = randomUUID();
  await site.host.snapshot(gone, last);
  await site.host.remove(gone, { keepBackups: true });
  expect(php.stopped.at(-1)).toBe(gone.id);
  expect(await readdir(join(site.folder, 'installs'))).not.toContain(gone.id);
  expect((await site.http('gone.test', '/')).status).toBe(404);

  await site.host.apply(gone);
  await site.host.restore(gone, last);
  const restored = database(gone);
  const title = restored.prepare("select option_value from wp_options where option_name = 'blogname'");
  expect(title.pluck().get()).toBe('Kept');
  restored.close();
  await site.host.remove(gone);
});
