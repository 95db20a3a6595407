import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silent } from '../../test/database.ts';
import type { BackupRefusal, EntryPage } from '../hosting/contract/backup-contents.ts';
import type { Host } from '../hosting/contract/host.ts';
import {
  answerOtherProcesses,
  askForDatabase,
  askForLogin,
  askForMail,
  askForTables,
  askForWordPress,
} from './serving-socket.ts';

const INSTALL = { id: crypto.randomUUID(), name: 'shop' };
const MAIL = { hasRelay: false, limitPerHour: 200, sentLastHour: 3, queued: 0, sender: 'wp@example.com' };
const LINK = { token: `1769851860.${'t'.repeat(43)}`, expiresAt: '2026-01-01T00:00:00.000Z' };
const PHP = { version: '8.4', engine: 'wasm', notMachine: 'PHP-FPM is not installed' } as const;
const BACKUP = crypto.randomUUID();
const TABLE = { name: 'wp_posts', bytes: null, rows: 3 };
const DAMAGED: BackupRefusal = { refused: 'backup', reason: 'The backup is damaged.' };
let dataDir: string;
let createLogin: Host['createLogin'];
let serving: Awaited<ReturnType<typeof answerOtherProcesses>>;

const host = {
  createLogin: (...asked: Parameters<Host['createLogin']>) => createLogin(...asked),
  createDatabaseLink: async () => LINK,
  readMail: async () => MAIL,
  listBackupTables: async (_install: object, backupId: string, { offset, limit }: EntryPage) =>
    backupId === BACKUP ? { count: offset + limit, tables: [TABLE] } : DAMAGED,
  wordpressHere: async () => PHP,
};
const socket = () => join(dataDir, 'host', 'serving.sock');

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'hp-'));
  await mkdir(join(dataDir, 'host'));
  // That of a killed process.
  await writeFile(socket(), '');
  serving = await answerOtherProcesses({ dataDir }, host, silent);
});
afterAll(() => rm(dataDir, { recursive: true }));

function post(body: string): Promise<{ status: number | undefined; body: string }> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath: socket(), method: 'POST', agent: false }, (response) =>
      text(response).then((said) => resolve({ status: response.statusCode, body: said }), reject),
    );
    asked.on('error', reject);
    asked.setHeader('Content-Length', Buffer.byteLength(body));
    asked.end(body);
  });
}

describe('the socket of the serving process', () => {
  it('creates logins for other processes of its user', async () => {
    expect(await askForWordPress({ dataDir })).toEqual(PHP);
    expect((await stat(socket())).mode & 0o777).toBe(0o600);
    const login = { token: 't'.repeat(43), expiresAt: '2026-01-01T00:00:00.000Z', user: 'admin' };
    createLogin = async (install, user) => ({ ...login, user: `${install.name} ${user}` });
    expect(await askForLogin({ dataDir }, INSTALL, 'editor')).toEqual({ ...login, user: 'shop editor' });
    const refused = { refused: 'unknown_user', reason: 'No such user.' } as const;
    createLogin = async () => refused;
    expect(await askForLogin({ dataDir }, INSTALL, 'nobody')).toEqual(refused);
  });

  it('creates links to databases for them', async () => {
    expect(await askForDatabase({ dataDir }, INSTALL)).toEqual(LINK);
  });

  it('tells other processes about the mail of an install', async () => {
    expect(await askForMail({ dataDir }, INSTALL)).toEqual(MAIL);
  });

  it('lists tables of backups for them', async () => {
    const page = { offset: 20, limit: 10 };
    expect(await askForTables({ dataDir }, INSTALL, BACKUP, page)).toEqual({ count: 30, tables: [TABLE] });
    expect(await askForTables({ dataDir }, INSTALL, crypto.randomUUID(), page)).toEqual(DAMAGED);
  });

  it('answers failures and unknown questions without their cause', async () => {
    createLogin = () => Promise.reject(new Error('secret'));
    await expect(askForLogin({ dataDir }, INSTALL, null)).rejects.toThrow(/Its log has the cause/);
    for (const body of ['{}', 'no JSON', ' '.repeat(20_000)]) {
      expect(await post(body)).toEqual({ status: 500, body: '' });
    }
  });

  it('is gone when the process has stopped', async () => {
    await serving.stop();
    expect(await askForLogin({ dataDir }, INSTALL, null)).toMatchObject({
      refused: 'website',
      reason: expect.stringMatching(/Homeport is not running/),
    });
    expect(await askForWordPress({ dataDir })).toEqual({ reason: expect.stringMatching(/not running/) });
    expect(await askForDatabase({ dataDir }, INSTALL)).toMatchObject({ refused: 'website' });
    expect(await askForTables({ dataDir }, INSTALL, BACKUP, { offset: 0, limit: 1 })).toEqual({
      refused: 'backup',
      reason: expect.stringMatching(/not running/),
    });
    expect(await askForMail({ dataDir }, INSTALL)).toEqual({
      refused: 'website',
      reason: expect.stringMatching(/not running/),
    });
  });
});
