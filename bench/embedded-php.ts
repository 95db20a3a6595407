import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import pino from 'pino';
import { createPhpSites } from '../src/hosting/embedded/php/create-php-sites.ts';
import type { PhpSite } from '../src/hosting/embedded/php/php-sites.ts';

// Measures PHP on the embedded host: starts, a soak of small requests, and pages of WordPress.
// Usage: bin/node bench/embedded-php.ts CORE PLUGIN [REQUESTS]. CORE is a folder with WordPress 6.4 or newer, PLUGIN one with the SQLite
// plugin of WordPress, REQUESTS is 3,000 by default.

const [CORE, PLUGIN, REQUESTS = '3000'] = process.argv.slice(2);
const PAGES = 40;
const TICK_MS = 10;

if (CORE === undefined || PLUGIN === undefined) {
  process.stderr.write('Usage: bin/node bench/embedded-php.ts CORE PLUGIN [REQUESTS]\n');
  process.exit(2);
}

const folder = await mkdtemp(join(tmpdir(), 'homeport-bench-php-'));
const sites = createPhpSites({
  folder: join(folder, 'runtime'),
  roots: { writable: [folder], readable: [CORE, PLUGIN] },
  idleMs: 600_000,
  memoryMb: 4_000,
  waitMs: 600_000,
  spare: true,
  mayConnect: () => false,
  loopbacks: { add() {} },
  loopback: () => undefined,
  deliverMail: async () => {},
  log: pino({ level: 'warn' }),
});
try {
  const one = await site('one', CORE, PLUGIN, 1);
  await timed('spare ready', () => sites.available());
  await timed('first answer, with a spare', () => get(one, '/small.php'));
  const before = await memory();
  const failures = await soak(one, Number(REQUESTS));
  console.log(`${REQUESTS} small requests: ${failures} failed, memory ${before} → ${await memory()} MB`);
  await timed('installation of WordPress', () => install(one));
  await timed('first page', () => get(one, '/'));
  await pages(one);
} finally {
  await sites.close();
  await rm(folder, { recursive: true, force: true });
}

async function site(id: string, core: string, plugin: string, threads: number): Promise<PhpSite> {
  const website = join(folder, id, 'files');
  const own = join(folder, id, 'private');
  const database = join(folder, id, 'database');
  for (const path of [own, database]) await mkdir(path, { recursive: true });
  await cp(join(core, 'wp-content'), join(website, 'wp-content'), { recursive: true });
  await writeFile(join(website, 'small.php'), '<?php echo "small";');
  await writeFile(
    join(website, 'wp-content/db.php'),
    "<?php require '/homeport/sqlite/wp-includes/sqlite/db.php';",
  );
  const keys = ['AUTH', 'SECURE_AUTH', 'LOGGED_IN', 'NONCE'].flatMap((key) => [`${key}_KEY`, `${key}_SALT`]);
  await writeFile(
    join(website, 'wp-config.php'),
    `<?php ${keys.map((key) => `define('${key}', 'bench');`).join(' ')} $table_prefix = 'wp_';
    define('ABSPATH', '/wordpress/'); require ABSPATH . 'wp-settings.php';`,
  );
  return {
    id,
    core,
    website,
    private: own,
    database,
    readOnly: { '/homeport/sqlite': plugin },
    prepend: `<?php foreach (['DB_ENGINE' => 'sqlite', 'DB_DIR' => '/database', 'DB_FILE' => 'wordpress.sqlite',
      'DB_NAME' => 'wordpress', 'DB_USER' => '', 'DB_PASSWORD' => '', 'DB_HOST' => '', 'DB_CHARSET' => 'utf8mb4',
      'DB_COLLATE' => '', 'SQLITE_JOURNAL_MODE' => 'TRUNCATE', 'WP_HOME' => 'http://bench.example',
      'WP_SITEURL' => 'http://bench.example', 'DISABLE_WP_CRON' => true, 'WP_HTTP_BLOCK_EXTERNAL' => true] as $n => $v)
      if (!defined($n)) define($n, $v);`,
    limits: { memoryMb: 256, seconds: 120, uploadMb: 64, threads },
  };
}

async function get(of: PhpSite, target: string): Promise<number> {
  const { status, body } = await sites.request(of, {
    method: 'GET',
    target,
    headers: {},
    body: null,
    https: false,
    clientAddress: '192.0.2.7',
    host: 'bench.example',
  });
  await text(body);
  return status;
}

async function soak(of: PhpSite, count: number): Promise<number> {
  let failures = 0;
  for (let number = 0; number < count; number++) {
    if ((await get(of, `/small.php?${number}`).catch(() => 0)) !== 200) failures += 1;
  }
  return failures;
}

async function install(of: PhpSite): Promise<void> {
  const { output, error } = await sites.run(of, {
    code: `<?php define('WP_INSTALLING', true); require '/wordpress/wp-load.php';
      require ABSPATH . 'wp-admin/includes/upgrade.php'; wp_install('Bench', 'admin', 'a@bench.example', true, '', 'bench'); echo 'done';`,
    host: 'bench.example',
    https: false,
    seconds: 120,
  });
  if (!output.endsWith('done')) throw new Error(`WordPress was not installed: ${error}`);
}

async function pages(of: PhpSite): Promise<void> {
  // The first ones are compiled.
  for (let number = 0; number < 5; number++) await get(of, `/?warm=${number}`);
  const before = await processorMs();
  for (let number = 0; number < PAGES; number++) {
    const status = await get(of, `/?page=${number}`);
    if (status !== 200) throw new Error(`a page answered ${status}`);
  }
  const each = ((await processorMs()) - before) / PAGES;
  console.log(
    `a page of WordPress: ${each.toFixed(0)} ms of processor time; the largest process has ${await memory()} MB`,
  );
}

async function timed<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  const [began, used] = [performance.now(), await processorMs()];
  const result = await work();
  const processor = (await processorMs()) - used;
  console.log(`${name}: ${Math.round(performance.now() - began)} ms, ${processor} ms of processor time`);
  return result;
}

/** Processor time of the processes that run PHP. */
async function processorMs(): Promise<number> {
  const all = await descendants();
  return all.reduce((sum, { ticks }) => sum + ticks, 0) * TICK_MS;
}

/** Memory of the largest of them in MB. */
async function memory(): Promise<number> {
  return Math.max(0, ...(await descendants()).map(({ megabytes }) => megabytes));
}

async function descendants(): Promise<{ ticks: number; megabytes: number }[]> {
  const processes = new Map<number, { parent: number; ticks: number; megabytes: number }>();
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = Number(fields[11]) + Number(fields[12]);
    processes.set(Number(name), {
      parent: Number(fields[1]),
      ticks,
      megabytes: Math.round((Number(fields[21]) * 4) / 1024),
    });
  }
  const isOurs = (id: number): boolean => {
    const parent = processes.get(id)?.parent;
    return parent === process.pid || (parent !== undefined && parent > 1 && isOurs(parent));
  };
  return [...processes].filter(([id]) => isOurs(id)).map(([, one]) => one);
}
