import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SMTPServer } from 'smtp-server';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { silent, temporaryFolder } from '../../../test/database.ts';
import { freePort } from '../../../test/servers/free-port.ts';
import { readConfig } from '../../config/config.ts';
import { systemClock } from '../../lib/clock.ts';
import { checkConfiguration } from './configuration.ts';
import { checkDataFolder, judgeSpace, judgeWriting } from './data-folder.ts';
import { examineDatabase } from './database.ts';
import { reasonOf } from './finding.ts';
import { checkMail } from './mail.ts';
import { checkSealingKey } from './sealing-key.ts';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

describe('the configuration', () => {
  test.each<[Record<string, string>, string | undefined]>([
    [{}, undefined],
    [{ HOMEPORT_LISTEN: '127.0.0.1:0' }, undefined],
    [{ HOMEPORT_LISTEN: '127.0.0.1:9443' }, undefined],
    [
      { HOMEPORT_LISTEN: '127.0.0.1:9443', HOMEPORT_PUBLIC_URL: 'https://localhost:8443' },
      'HOMEPORT_PUBLIC_URL=https://localhost:9443',
    ],
    [{ HOMEPORT_LISTEN: '127.0.0.1:443', HOMEPORT_PUBLIC_URL: 'https://localhost' }, undefined],
    [{ HOMEPORT_LISTEN: '127.0.0.1:9443', HOMEPORT_PUBLIC_URL: 'https://api.example.com' }, undefined],
    [{ HOMEPORT_PUBLIC_URL: 'http://api.example.com' }, 'HOMEPORT_TRUST_PROXY'],
    [{ HOMEPORT_PUBLIC_URL: 'http://api.example.com', HOMEPORT_TRUST_PROXY: '10.0.0.1' }, undefined],
  ])('%o: %s', (environment, remedy) => {
    const findings = checkConfiguration(readConfig(environment), undefined);
    expect(findings).toHaveLength(1);
    expect(findings[0]?.state).toBe(remedy === undefined ? 'ok' : 'warning');
    if (remedy !== undefined) expect(findings[0]?.remedy).toContain(remedy);
  });

  test('a settings file that everybody can read', () => {
    const file = join(folder.path, 'homeport.env');
    writeFileSync(file, '', { mode: 0o640 });
    expect(checkConfiguration(readConfig({}), file)).toMatchObject([
      { state: 'ok', message: expect.stringContaining(file) },
    ]);
    chmodSync(file, 0o644);
    expect(checkConfiguration(readConfig({}), file)).toMatchObject([
      { state: 'warning', remedy: `chmod 600 ${file}` },
    ]);
  });
});

describe('the data folder', () => {
  test('a disk that is full is not taken for a lack of rights', () => {
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    expect(judgeWriting('/data', full)).toMatchObject({
      state: 'problem',
      message: expect.stringContaining('no space left'),
      remedy: expect.stringContaining('Make room'),
    });
  });

  test.each([
    [0o700, 'ok'],
    [0o750, 'warning'],
    [0o755, 'problem'],
  ])('mode %o is %s, and nothing is left in it', (mode, state) => {
    chmodSync(folder.path, mode);
    expect(checkDataFolder(folder.path)[0]).toMatchObject({ check: 'data folder', state });
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test('none there, and a file in its place', () => {
    const path = join(folder.path, 'data');
    expect(checkDataFolder(path)).toMatchObject([
      { state: 'warning', message: `${path} does not exist yet.` },
    ]);
    writeFileSync(path, '');
    expect(checkDataFolder(path)).toMatchObject([
      { state: 'problem', message: expect.stringContaining('not a folder') },
    ]);
    expect(checkDataFolder(join(path, 'inner'))).toMatchObject([{ state: 'problem' }]);
  });

  test.skipIf(process.getuid?.() === 0)('one that cannot be written', () => {
    chmodSync(folder.path, 0o500);
    expect(checkDataFolder(folder.path)[0]).toMatchObject({ state: 'problem' });
    chmodSync(folder.path, 0o700);
  });

  test.each([
    [5e9, 20e9, 'ok'],
    [2e9, 100e9, 'warning'],
    [9e8, 10e9, 'warning'],
    [9e7, 10e9, 'problem'],
  ])('%d of %d bytes free is %s', (free, size, state) => {
    expect(judgeSpace(free, size, '/data')).toMatchObject({ check: 'disk space', state });
  });
});

describe('the database', () => {
  test('none there is not made', async () => {
    const settings = { databaseUrl: null, dataDir: folder.path };
    const { findings, database } = await examineDatabase(settings, silent);
    expect(findings).toMatchObject([
      { state: 'warning', message: expect.stringContaining('does not exist') },
    ]);
    expect(database).toBeNull();
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test('a file that is no database, and a folder in its place', async () => {
    const settings = { databaseUrl: null, dataDir: folder.path };
    const file = join(folder.path, 'homeport.sqlite');
    writeFileSync(file, 'not a database, but long enough to be taken for one'.repeat(100));
    expect((await examineDatabase(settings, silent)).findings).toMatchObject([
      { state: 'problem', message: expect.stringContaining('not a database') },
    ]);
    const other = { databaseUrl: null, dataDir: join(folder.path, 'other') };
    mkdirSync(join(other.dataDir, 'homeport.sqlite'), { recursive: true });
    expect((await examineDatabase(other, silent)).findings).toMatchObject([{ state: 'problem' }]);
  });

  test('a file that cannot even be looked for', async () => {
    symlinkSync('homeport.sqlite', join(folder.path, 'homeport.sqlite'));
    const { findings } = await examineDatabase({ databaseUrl: null, dataDir: folder.path }, silent);
    expect(findings).toMatchObject([{ state: 'problem', message: expect.stringContaining('ELOOP') }]);
  });

  test('a server that does not answer, without its password', async () => {
    const databaseUrl = `postgres://someone:topsecret@127.0.0.1:${await freePort()}/homeport`;
    const { findings } = await examineDatabase({ databaseUrl, dataDir: folder.path }, silent);
    expect(findings).toMatchObject([{ state: 'problem', message: expect.stringContaining('ECONNREFUSED') }]);
    expect(JSON.stringify(findings)).not.toContain('topsecret');
  });
});

describe('the sealing key', () => {
  test('is made by the first start, holds 32 bytes and is closed to others', async () => {
    const file = join(folder.path, 'sealing.key');
    const found = () => checkSealingKey({ dataDir: folder.path, sealingKey: null }, null);
    expect(await found()).toMatchObject({ state: 'ok' });
    writeFileSync(file, Buffer.alloc(32, 7).toString('base64'), { mode: 0o600 });
    expect(await found()).toMatchObject({ state: 'ok' });
    chmodSync(file, 0o640);
    expect(await found()).toMatchObject({ state: 'problem', remedy: `chmod 600 ${file}` });
    writeFileSync(file, 'short');
    expect(await found()).toMatchObject({ state: 'problem', message: expect.stringContaining('32 bytes') });
  });

  test('that is configured must be there, and is not made', async () => {
    const sealingKey = join(folder.path, 'operator.key');
    const found = () => checkSealingKey({ dataDir: folder.path, sealingKey }, null);
    expect(await found()).toMatchObject({
      state: 'problem',
      message: `The file in HOMEPORT_SEALING_KEY_FILE does not exist: ${sealingKey}.`,
      remedy: expect.stringContaining('Create it with 32 bytes'),
    });
    expect(readdirSync(folder.path)).toEqual([]);
    writeFileSync(sealingKey, Buffer.alloc(32, 7).toString('base64'), { mode: 0o640 });
    expect(await found()).toMatchObject({ state: 'problem', remedy: `chmod 600 ${sealingKey}` });
    chmodSync(sealingKey, 0o400);
    expect(await found()).toMatchObject({ state: 'ok' });
  });
});

describe('mail', () => {
  const settings = (smtpUrl: string | null) => ({ smtpUrl, mailFrom: 'a@b.example', dataDir: folder.path });

  test('without a mail server', async () => {
    expect(await checkMail(settings(null), systemClock)).toMatchObject({ state: 'warning' });
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test('a mail server that takes our mails, one that does not know us, and none', async () => {
    const server = new SMTPServer({
      authOptional: false,
      allowInsecureAuth: true,
      disabledCommands: ['STARTTLS'],
      onAuth: ({ username, password }, _session, done) => {
        if (username === 'homeport' && password === 'topsecret') done(null, { user: username });
        else done(new Error('Invalid username or password'));
      },
    });
    const port = await freePort();
    await new Promise<void>((resolve) => {
      server.listen(port, '127.0.0.1', resolve);
    });
    const state = (url: string) => checkMail(settings(url), systemClock);
    expect(await state(`smtp://homeport:topsecret@127.0.0.1:${port}`)).toMatchObject({ state: 'ok' });
    const refused = await state(`smtp://homeport:topsecrets@127.0.0.1:${port}`);
    expect(refused).toMatchObject({ state: 'problem', message: expect.stringContaining('Invalid') });
    await new Promise<void>((resolve) => server.close(resolve));
    const silentServer = await state(`smtp://homeport:topsecret@127.0.0.1:${port}`);
    expect(silentServer).toMatchObject({
      state: 'problem',
      message: expect.stringContaining('ECONNREFUSED'),
    });
    expect(JSON.stringify([refused, silentServer])).not.toContain('topsecret');
  });
});

test('a failure in one line', () => {
  expect(reasonOf(new AggregateError([new Error('connect ECONNREFUSED ::1:5432')]))).toBe(
    'connect ECONNREFUSED ::1:5432',
  );
  expect(reasonOf(new Error('Cannot reach postgres://me:secret@db/x.\nmore'))).toBe(
    'Cannot reach postgres://***@db/x',
  );
});
