import { once } from 'node:events';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runCommand } from '../run-command.ts';
import type { KeyQuestion } from './key-question.ts';
import { createKeysSocket, type KeysSocket } from './keys-socket.ts';

const KEY = 'AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl';
const SCRIPT = join(import.meta.dirname, 'perl', 'authorized-keys.pl');

let folder: string;
let path: string;
let socket: KeysSocket;
let asked: KeyQuestion[];
let lines: string[];
let answer: (question: KeyQuestion) => Promise<string | null>;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-keys-'));
  path = join(folder, 'keys.sock');
  asked = [];
  lines = [];
  answer = async () => 'restrict,pty the line\n';
  socket = createKeysSocket({
    path,
    asker: { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
    answer: (question) => {
      asked.push(question);
      return answer(question);
    },
    log: pino({}, { write: (line) => lines.push(line) }),
  });
  await socket.open();
});
afterEach(async () => {
  await socket.close();
  await rm(folder, { recursive: true });
});

/** What the script of sshd gets. */
const ask = (user: string, type = 'ssh-ed25519', key = KEY) =>
  runCommand('/usr/bin/perl', [SCRIPT, path, user, type, key]).then(({ stdout }) => stdout);

/** What comes back for these bytes. */
async function send(bytes: string): Promise<string> {
  const client = connect(path);
  let text = '';
  client.on('data', (part) => {
    text += part.toString();
  });
  client.on('error', () => {});
  client.write(bytes);
  await once(client, 'close');
  return text;
}

describe('the asker', () => {
  test('hands on the question, and the answer to sshd', async () => {
    expect(await ask('my-shop')).toBe('restrict,pty the line\n');
    expect(asked).toMatchObject([{ monitor: process.pid, user: 'my-shop', type: 'ssh-ed25519', key: KEY }]);
  });

  test('hands on nothing where the answer is no', async () => {
    answer = async () => null;
    expect(await ask('shop')).toBe('');
  });

  test('does not ask what cannot be right', async () => {
    expect(await ask('../shop')).toBe('');
    expect(await ask('shop\nroot')).toBe('');
    expect(await ask('shop', 'ssh ed25519')).toBe('');
    expect(await ask('shop', 'ssh-ed25519', 'AAAA BBBB')).toBe('');
    expect(asked).toEqual([]);
  });

  test('fails where the host does not listen', async () => {
    await socket.close();
    await expect(ask('shop')).rejects.toThrow(/the host does not listen/);
  });
});

describe('the socket', () => {
  test('is there for the asker alone', async () => {
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test('answers nothing, and says why, if there is no knowing', async () => {
    answer = () => Promise.reject(new Error('the control plane is away'));
    expect(await ask('shop')).toBe('');
    expect(lines.join('')).toMatch(
      /"install":"shop".*the control plane is away|the control plane is away.*"install":"shop"/,
    );
  });

  test('answers nothing to what is no question', async () => {
    expect(await send('hello\n')).toBe('');
    expect(await send(`1 shop ssh-dss ${KEY}\n`)).toBe('');
    expect(await send('x'.repeat(30_000))).toBe('');
    expect(asked).toEqual([]);
  });

  test('replaces one that a killed host left, and is opened again where somebody took it away', async () => {
    await rm(path);
    expect(await socket.isOpen()).toBe(false);
    await writeFile(path, '');
    await socket.open();
    expect(await socket.isOpen()).toBe(true);
    expect(await ask('shop')).toBe('restrict,pty the line\n');
    await socket.open();
    expect(await ask('shop')).toBe('restrict,pty the line\n');
  });
});
