import { createHash, randomBytes } from 'node:crypto';
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase } from '../../src/database/open.ts';
import { BACKUP_NAME } from '../../src/platform-backup/storage.ts';
import { field, text } from '../client.ts';
import { type DatabasePlace, databasePlace, migratedPlace, silent, temporaryFolder } from '../database.ts';
import { visit } from '../edge.ts';
import { type Person, startTestHomeport } from '../homeport.ts';
import { mostlyOn, onlyOn } from '../only-on.ts';
import { cases, isLong, onlyInLong } from '../rounds.ts';
import { type S3Server, startS3Server } from '../servers/s3-server.ts';
import { call, callJson } from './call-homeport.ts';
import { begin, type Environment, environmentFor, type Running } from './run-homeport.ts';

// In the long tests larger than one part of an upload. Each backup and each check reads it.
const LARGE_BYTES = isLong ? 17 * 1024 * 1024 : 100_000;
const PAGE = '<!doctype html><p>Kept</p>';
const FORMER_PAGE = '<!doctype html><p>Of a backup</p>';

let place: DatabasePlace;
let environment: Environment;
let backups: ReturnType<typeof temporaryFolder>;
/** The owner of the install "keptsite". */
let owner: Person;
let name: string;
/** The backup of the install that is in all later backups of the platform. */
let installBackup: string;

beforeAll(async () => {
  place = await migratedPlace();
  backups = temporaryFolder();
  environment = await environmentFor(place);
});
afterAll(async () => {
  await place.remove();
  backups.remove();
});

/** Every file below a folder: its mode, time and checksum. */
function filesBelow(folder: string): Record<string, string> {
  if (!existsSync(folder)) return {};
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return Object.fromEntries(
    entries.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const { mode, mtimeMs } = statSync(path);
      const sha256 = createHash('sha256').update(readFileSync(path)).digest('hex');
      return [path.slice(folder.length), `${mode.toString(8)} ${Math.floor(mtimeMs)} ${sha256}`];
    }),
  );
}

/** A restored host gets every website applied again. */
const ADDED_BY_RESTORE = ['jobs apply_install', 'operations install.apply'];

/** Every row of every table, as JSON; without what a restore and its record add. */
async function rowsOf({ settings }: DatabasePlace): Promise<Record<string, string[]>> {
  const database = openDatabase(settings, silent);
  try {
    const tables = await database.reader.introspection.getTables();
    const all: Record<string, string[]> = {};
    for (const { name: table } of tables.filter(
      (one) => one.name !== 'platform_backups' && one.name !== 'changes',
    )) {
      const { rows } = await sql<object>`select * from ${sql.table(table)}`.execute(database.reader);
      all[table] = rows
        .filter((row) => !ADDED_BY_RESTORE.includes(`${table} ${Reflect.get(row, 'kind')}`))
        .map((row) => JSON.stringify(row))
        .sort();
    }
    return all;
  } finally {
    await database.close();
  }
}

test('a backup made while writes go on is whole, and has what was written before', async () => {
  const homeport = await startTestHomeport({ place });
  try {
    const owned = await homeport.ownedAccount();
    owner = owned.owner;
    const { id: install } = await homeport.install(owner, owned.accountId, { name: 'keptsite' });
    const files = join(place.settings.dataDir, 'host/installs', install, 'files');
    writeFileSync(join(files, 'index.html'), FORMER_PAGE);
    installBackup = text(await callJson(environment, 'backup', 'create', 'keptsite'), 'id');
    writeFileSync(join(files, 'index.html'), PAGE);
    writeFileSync(join(files, 'large.bin'), randomBytes(LARGE_BYTES));

    let written = 0;
    let ended = false;
    const creating = begin(environment, 'platform', 'backup', 'create', backups.path, '--json');
    creating.ended.then(() => {
      ended = true;
    });
    while (!ended) {
      const site = { name: 'Meanwhile', account_id: owned.accountId };
      expect((await owner.client.post('/sites', site)).status).toBe(201);
      written++;
      await sleep(20);
    }
    const { code, stdout, stderr } = await creating.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const manifest: unknown = JSON.parse(stdout);
    name = text(manifest, 'name');
    expect(name).toMatch(BACKUP_NAME);
    expect(manifest).toMatchObject({
      sealing_key: false,
      websites: [{ id: install, name: 'keptsite', missing: null }],
    });
    expect(written).toBeGreaterThan(0);
  } finally {
    await homeport.remove();
  }
  const folder = join(backups.path, name);
  expect(readdirSync(backups.path)).toEqual([name]);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  const modes = Object.values(filesBelow(folder)).map((one) => one.split(' ')[0]);
  expect(new Set(modes)).toEqual(new Set(['100600']));
  expect(existsSync(join(folder, 'sealing.key'))).toBe(false);
  expect(await call(environment, 'platform', 'backup', 'verify', folder)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('is whole'),
  });
  const doctor = field(JSON.parse((await call(environment, 'doctor', '--json')).stdout), 'checks');
  expect(doctor).toContainEqual(expect.objectContaining({ check: 'platform backup', state: 'ok' }));
});

test('restored into an empty folder, every row and every byte is there, and the website answers', async () => {
  const made = await callJson(environment, 'platform', 'backup', 'create', backups.path);
  const location = join(backups.path, text(made, 'name'));
  // The second backup has links to the packs of the first.
  const packs = Object.keys(filesBelow(join(backups.path, name))).filter((path) => path.endsWith('.pack'));
  expect(packs.map((path) => statSync(join(location, path)).nlink)).toEqual(packs.map(() => 2));
  expect(field(made, 'stored_bytes')).toBeLessThan(Number(field(made, 'bytes')));
  const restored = await databasePlace();
  const elsewhere = await environmentFor(restored);
  try {
    const keyless = await call(elsewhere, 'platform', 'restore', location);
    expect(keyless).toMatchObject({ code: 1, stderr: expect.stringContaining('--sealing-key') });

    const key = join(place.settings.dataDir, 'sealing.key');
    const { code, stdout, stderr } = await call(
      elsewhere,
      'platform',
      'restore',
      location,
      '--sealing-key',
      key,
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('Next:');
    expect(await rowsOf(restored)).toEqual(await rowsOf(place));
    const [from, to] = [place.settings.dataDir, restored.settings.dataDir];
    expect(filesBelow(join(to, 'host/installs'))).toEqual(filesBelow(join(from, 'host/installs')));
    for (const part of ['host', 'tls']) {
      const names = Object.keys(filesBelow(join(from, part)));
      // Proofs are of the moment, last-server.json names a process of the first machine, and the usage ledger has the day's salt.
      const kept = names.filter((one) => !/^\/(proofs\/|last-server\.json|usage\.sqlite)/.test(one));
      expect(Object.keys(filesBelow(join(to, part))).sort()).toEqual(kept.sort());
      for (const one of kept)
        expect(readFileSync(join(to, part, one)), one).toEqual(readFileSync(join(from, part, one)));
    }
    expect(readFileSync(join(to, 'sealing.key'))).toEqual(readFileSync(join(from, 'sealing.key')));
    const homeport = await startTestHomeport({ place: restored });
    try {
      const page = () => visit(homeport, 'http://keptsite.localhost/');
      await expect.poll(page, { timeout: 60_000 }).toMatchObject({ status: 200, body: PAGE });
      expect((await homeport.clientOf(owner.credential).get('/user')).status).toBe(200);
      await callJson(elsewhere, 'backup', 'restore', installBackup, '--yes');
      expect(await page()).toMatchObject({ status: 200, body: FORMER_PAGE });
    } finally {
      await homeport.remove();
    }
    const again = await call(elsewhere, 'platform', 'restore', location, '--sealing-key', key);
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('is not empty') });
  } finally {
    await restored.remove();
  }
});

const DAMAGES: [string, (folder: string) => void][] = [
  ['a truncated file', (folder: string) => truncateSync(firstOf(folder, /websites.*\.pack$/), 1_000)],
  ['a changed byte', (folder: string) => flip(firstOf(folder, /\.pack$/))],
  ['a missing file', (folder: string) => rmSync(firstOf(folder, /websites.*\.backup\.jsonl$/))],
  ['a missing pack of backups', (folder: string) => rmSync(firstOf(folder, /\.pack$/))],
  ['a changed manifest', (folder: string) => flip(join(folder, 'manifest.json'))],
];
// Checksums are compared before a database is asked.
mostlyOn('sqlite', describe)('a damaged backup', () => {
  test.each(cases(['a changed byte'], DAMAGES))(
    'with %s is found by verify and by restore, which leaves the folder empty',
    async (_what, damage) => {
      const damaged = temporaryFolder();
      const restored = await databasePlace();
      try {
        const location = join(damaged.path, name);
        cpSync(join(backups.path, name), location, { recursive: true });
        damage(location);
        const key = join(place.settings.dataDir, 'sealing.key');
        const elsewhere = { ...environment, ...(await environmentFor(restored)) };
        for (const words of [
          ['platform', 'backup', 'verify', location],
          ['platform', 'restore', location, '--sealing-key', key],
        ]) {
          const { code, stderr } = await call(elsewhere, ...words);
          expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('damaged') });
          expect(stderr).not.toMatch(/^ +at /m);
        }
        expect(
          readdirSync(restored.settings.dataDir).filter((one) => !/^websites\.lock.*$/.test(one)),
        ).toEqual([]);
      } finally {
        damaged.remove();
        await restored.remove();
      }
    },
  );
});

function firstOf(folder: string, pattern: RegExp): string {
  const [found] = Object.keys(filesBelow(folder)).filter((path) => pattern.test(path));
  if (found === undefined) throw new Error(`${folder} has no ${pattern}`);
  return join(folder, found);
}

function flip(file: string): void {
  const content = readFileSync(file);
  const middle = Math.floor(content.length / 2);
  content[middle] = (content[middle] ?? 0) ^ 1;
  writeFileSync(file, content);
}

/** A bucket, and the settings that lead to it. */
async function bucket(
  refuse: (method: string, key: string) => boolean,
): Promise<{ server: S3Server; settings: Environment }> {
  const credentials = { accessKeyId: 'backup', secretAccessKey: randomBytes(12).toString('hex') };
  const server = await startS3Server({ credentials, buckets: ['platform'], refuse });
  const settings = {
    ...environment,
    HOMEPORT_PLATFORM_BACKUP: `s3:http://127.0.0.1:${server.port}/platform/homeport`,
    HOMEPORT_PLATFORM_BACKUP_CREDENTIALS: `${credentials.accessKeyId}:${credentials.secretAccessKey}`,
  };
  return { server, settings };
}

/** Folders in which a backup prepares what it uploads. */
const staged = () => readdirSync(place.settings.dataDir).filter((one) => one.startsWith('.homeport-'));

// What differs between the databases is in the backups in a folder above. website-packs.test.ts has the requests to a bucket.
onlyInLong(onlyOn('sqlite', test))('to a bucket and back; older ones are pruned', async () => {
  const { server, settings } = await bucket(() => false);
  const restored = await databasePlace();
  try {
    const first = text(
      await callJson(settings, 'platform', 'backup', 'create', '--with-sealing-key'),
      'name',
    );
    const second = text(
      await callJson(settings, 'platform', 'backup', 'create', '--with-sealing-key'),
      'name',
    );
    expect(server.requests.some(({ path }) => path.includes('partNumber=2'))).toBe(isLong);
    expect(staged()).toEqual([]);
    expect(await callJson(settings, 'platform', 'backup', 'list')).toMatchObject([
      { name: first },
      { name: second },
    ]);
    expect(await callJson(settings, 'platform', 'backup', 'verify', second)).toMatchObject({
      name: second,
      ok: true,
    });
    const uploads = () =>
      server.requests.filter(({ method, path }) => method === 'PUT' && /\.pack/.test(path));
    const former = uploads().length;
    expect(former).toBeGreaterThan(0);
    expect(uploads().every(({ path }) => path.includes(first))).toBe(true);
    expect(await callJson(settings, 'platform', 'backup', 'prune', '--keep', '1')).toEqual({
      removed: [first],
    });
    const keysOf = (name: string) =>
      [...server.objects('platform').keys()].filter((key) => key.includes(name));
    expect(keysOf(first).length).toBeGreaterThan(0);
    expect(keysOf(first).every((key) => key.startsWith('homeport/files/'))).toBe(true);
    expect(await callJson(settings, 'platform', 'backup', 'verify', second)).toMatchObject({ ok: true });

    const { databaseUrl, dataDir } = restored.settings;
    const elsewhere = {
      ...settings,
      HOMEPORT_DATA_DIR: dataDir,
      ...(databaseUrl === null ? {} : { HOMEPORT_DATABASE_URL: databaseUrl }),
    };
    expect(await call(elsewhere, 'platform', 'restore', second)).toMatchObject({ code: 0, stderr: '' });
    expect(filesBelow(join(dataDir, 'host/installs'))).toEqual(
      filesBelow(join(place.settings.dataDir, 'host/installs')),
    );
    expect(await rowsOf(restored)).toEqual(await rowsOf(place));
    const snapshots = (folder: string) => Object.keys(filesBelow(join(folder, 'host/snapshots')));
    expect(snapshots(dataDir)).toEqual(snapshots(place.settings.dataDir));

    await callJson(settings, 'platform', 'backup', 'create', '--full');
    expect(uploads()).toHaveLength(2 * former);
    await callJson(settings, 'platform', 'backup', 'prune', '--keep', '1');
    expect([...keysOf(first), ...keysOf(second)]).toEqual([]);
  } finally {
    await server.close();
    await restored.remove();
  }
});

onlyInLong(onlyOn('sqlite', test))(
  'a bucket that fails in the middle holds no backup afterwards',
  async () => {
    const { server, settings } = await bucket(
      (method, key) => method === 'PUT' && key.includes('.backup.jsonl'),
    );
    try {
      const { code, stderr } = await call(settings, 'platform', 'backup', 'create');
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('AccessDenied') });
      expect([...server.objects('platform').keys()]).toEqual([]);
      expect(server.openUploads()).toBe(0);
      expect(staged()).toEqual([]);
      expect(await callJson(settings, 'platform', 'backup', 'list')).toEqual([]);
    } finally {
      await server.close();
    }
  },
);

onlyOn('sqlite', test)('kill -9 in the middle leaves nothing that is taken for a backup', async () => {
  let creating: Running | undefined;
  const { server, settings } = await bucket((method, key) => {
    if (method === 'PUT' && key.includes('websites/')) creating?.process.kill('SIGKILL');
    return false;
  });
  try {
    creating = begin(settings, 'platform', 'backup', 'create');
    expect((await creating.ended).code).toBeNull();
    expect([...server.objects('platform').keys()]).not.toEqual([]);
    expect(await callJson(settings, 'platform', 'backup', 'list')).toEqual([]);
    // A later one is not disturbed by what is left.
    creating = undefined;
    await callJson(settings, 'platform', 'backup', 'create');
    expect(await callJson(settings, 'platform', 'backup', 'list')).toHaveLength(1);
  } finally {
    await server.close();
  }
});
