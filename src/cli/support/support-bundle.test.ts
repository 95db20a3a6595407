import { createReadStream, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import { sql } from 'kysely';
import tar from 'tar-stream';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { silent, temporaryFolder } from '../../../test/database.ts';
import { onlyInLong } from '../../../test/rounds.ts';
import { SETTINGS } from '../../config/settings.ts';
import { migrate } from '../../database/migrate.ts';
import { openDatabase } from '../../database/open.ts';
import { collectSupport } from './collect.ts';
import { shownSettings } from './shown-settings.ts';
import { writeBundle } from './write-bundle.ts';

const KEY = Buffer.alloc(32, 7).toString('base64');
const RANDOM = 'Zk3vXq9TtR2mLw8bYc5nPd7sHf4gJa1e';
/** A secret of each kind, and the places of those that settings cannot have. */
const SECRETS = {
  smtp: 'smtp-Pa55%40word',
  proxy: 'proxy-pass',
  s3: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  cdn: 'cdn-token-value',
  api: 'initial-credential-password',
  relay: 'relay-file-password',
  sealing: KEY,
  owner: RANDOM,
  database: 'database-password',
  pem: 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC',
  bearer: 'eyJhbGciOi.bearer-value',
  short: 'hunter2',
};
let folder: ReturnType<typeof temporaryFolder>;
let all: string;

beforeAll(async () => {
  folder = temporaryFolder();
  const data = join(folder.path, 'data');
  mkdirSync(data, { mode: 0o700 });
  const database = openDatabase({ databaseUrl: null, dataDir: data }, silent);
  await migrate(database);
  await database.write(({ queries }) =>
    queries
      .insertInto('jobs')
      .values({
        id: crypto.randomUUID(),
        kind: 'deliver_webhook',
        lane: null,
        payload: JSON.stringify({ secret: SECRETS.short }),
        state: 'failed',
        max_attempts: 1,
        run_at: '2026-05-01T00:00:00.000Z',
        lease_until: null,
        worker_id: null,
        error: `connect https://user:${SECRETS.short}@receiver.example/hook?token=${SECRETS.cdn} failed`,
        request_id: null,
        created_at: '2026-05-01T00:00:00.000Z',
        started_at: null,
        finished_at: '2026-05-01T00:00:01.000Z',
      })
      .execute(),
  );
  await database.close();
  writeFileSync(join(data, 'sealing.key'), KEY, { mode: 0o600 });
  writeFileSync(join(data, 'first-sign-in.txt'), `Password  ${SECRETS.owner}\n`, { mode: 0o600 });
  const relay = join(folder.path, 'relay');
  writeFileSync(relay, `relay-user\n${SECRETS.relay}\n`, { mode: 0o600 });
  const log = join(folder.path, 'homeport.log');
  const lines = [
    { msg: 'every known one', list: Object.values(SECRETS).join(' ').replace(SECRETS.short, '') },
    { msg: 'a member', password: SECRETS.short, nested: { 'x-api-key': SECRETS.short } },
    { msg: `Authorization: Basic ${Buffer.from(`me:${SECRETS.short}`).toString('base64')}` },
    { msg: `Authorization: Bearer ${SECRETS.bearer}` },
    { msg: `-----BEGIN PRIVATE KEY-----\n${SECRETS.pem}\n-----END PRIVATE KEY-----` },
    {
      msg: `sealed with ${Buffer.from(SECRETS.relay).toString('base64')}, shown as ${encodeURIComponent(SECRETS.s3)}`,
    },
    { msg: 'the first line that stays', install: 'harbourcafe' },
  ];
  writeFileSync(
    log,
    `${lines.map((line) => JSON.stringify(line)).join('\n')}\nplain password=${SECRETS.short}\n`,
  );
  const files = await collectSupport({
    environment: {
      HOMEPORT_DATA_DIR: data,
      HOMEPORT_LISTEN: '127.0.0.1:0',
      HOMEPORT_SMTP_URL: `smtp://mailer:${SECRETS.smtp}@127.0.0.1:1`,
      HTTPS_PROXY: `http://proxy-user:${SECRETS.proxy}@127.0.0.1:1`,
      HOMEPORT_S3_CREDENTIALS: `AKIAEXAMPLE:${SECRETS.s3}`,
      HOMEPORT_CDN_TOKEN: SECRETS.cdn,
      HOMEPORT_INITIAL_CREDENTIAL: `11111111-1111-4111-8111-111111111111:${SECRETS.api}`,
      HOMEPORT_RELAY_CREDENTIALS: relay,
      HOMEPORT_WORKERS: '4',
      UNRELATED_PASSWORD: SECRETS.short,
    },
    configFile: undefined,
    logs: [log, join(folder.path, 'missing.log')],
  });
  const path = join(folder.path, 'bundle.tar.gz');
  await writeBundle(path, { folder: 'bundle', files, at: new Date(0) });
  await expect(writeBundle(path, { folder: 'bundle', files, at: new Date(0) })).rejects.toThrow(
    'exists already',
  );
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  const parts: string[] = [];
  for await (const entry of createReadStream(path).pipe(createGunzip()).pipe(tar.extract())) {
    parts.push(`=== ${entry.header.name}\n${await text(entry)}`);
  }
  all = parts.join('\n');
});
afterAll(() => folder.remove());

it.each(Object.entries(SECRETS).filter(([kind]) => kind !== 'database'))(
  'has no secret of the kind %s',
  (_kind, secret) => {
    for (const form of [secret, decodeURIComponent(secret), Buffer.from(secret).toString('base64')]) {
      expect(all).not.toContain(form);
    }
  },
);

it('has what a bug report needs', () => {
  for (const name of [
    'version.txt',
    'settings.txt',
    'doctor.json',
    'schema.json',
    'counts.json',
    'hosts.json',
    'failed-jobs.json',
  ]) {
    expect(all).toContain(`=== bundle/${name}\n`);
  }
  expect(all).toContain('HOMEPORT_WORKERS=4\n');
  expect(all).toContain('HOMEPORT_SMTP_URL=smtp://127.0.0.1:1');
  expect(all).toContain('the first line that stays');
  expect(all).toContain('harbourcafe');
  expect(all).toContain('deliver_webhook');
  expect(all).toContain('The file cannot be read: ENOENT');
  expect(all).not.toContain('UNRELATED');
});

it('hides by their definitions the settings that hold secrets', () => {
  const secretive = /password|secret access key|token|smtp:\/\/user|proxy for|the same for HTTP/i;
  // The path of a file with a secret.
  const shown = Object.values(SETTINGS).filter(({ hides }) => hides === undefined);
  expect(shown.filter(({ meaning }) => secretive.test(meaning)).map(({ variable }) => variable)).toEqual([
    'HOMEPORT_RELAY_CREDENTIALS',
  ]);
  const planted = Object.values(SETTINGS).flatMap(({ variable, hides }) =>
    hides === undefined
      ? []
      : [
          [
            variable,
            hides === 'all'
              ? `name:${SECRETS.short}`
              : `https://user:${SECRETS.database}@host/?password=${SECRETS.short}`,
          ],
        ],
  );
  expect(planted.length).toBeGreaterThan(7);
  const texts: Record<string, string> = { ...Object.fromEntries(planted), HOMEPORT_MISSPELT: SECRETS.short };
  const settings = shownSettings(texts);
  for (const secret of [SECRETS.short, SECRETS.database]) expect(settings).not.toContain(secret);
});

it('knows the files of secrets although another setting is wrong', async () => {
  const relay = join(folder.path, 'relay');
  const log = join(folder.path, 'relay.log');
  writeFileSync(log, `the relay refused ${SECRETS.relay}\n`);
  const files = await collectSupport({
    environment: { HOMEPORT_RELAY_CREDENTIALS: relay, HOMEPORT_WORKERS: 'many' },
    configFile: undefined,
    // A folder, as a pipe, is no file.
    logs: [log, folder.path],
  });
  const texts = files.map(({ text }) => text).join('');
  expect(texts).toContain('HOMEPORT_WORKERS must be');
  expect(texts).toContain('the relay refused [removed]');
  expect(texts).toContain('is no file');
});

onlyInLong(it)('names the database, not the configuration, if its tables cannot be read', async () => {
  const data = join(folder.path, 'broken');
  mkdirSync(data, { mode: 0o700 });
  const database = openDatabase({ databaseUrl: null, dataDir: data }, silent);
  await migrate(database);
  await database.write(({ queries }) => sql`drop table webhooks`.execute(queries));
  await database.close();
  const files = await collectSupport({
    environment: { HOMEPORT_DATA_DIR: data, HOMEPORT_LISTEN: '127.0.0.1:0' },
    configFile: undefined,
    logs: [],
  });
  const findings = files.find(({ name }) => name === 'doctor.json')?.text ?? '';
  expect(findings).toContain('"check": "data folder"');
  expect(findings).toContain('It could not be read: no such table: webhooks');
});

it('leaves nothing of a bundle that could not be written', async () => {
  const path = join(folder.path, 'half.tar.gz');
  const file = {
    name: 'version.txt',
    about: '',
    get text(): string {
      throw new Error('no more memory');
    },
  };
  const written = writeBundle(path, { folder: 'half', files: [file], at: new Date(0) });
  await expect(written).rejects.toThrow('no more memory');
  expect(existsSync(path)).toBe(false);
});
