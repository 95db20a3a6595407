import { once } from 'node:events';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runCommand } from '../../../lib/run-command.ts';
import { createQuestionSocket, type QuestionSocket } from '../machine/question-socket.ts';
import { renderEntrance } from './entrance.ts';
import { SSH_QUESTIONS } from './ssh-server.ts';

const KEY = 'AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl';
const SCRIPT = join(import.meta.dirname, 'perl', 'authorized-keys.pl');

let folder: string;
let path: string;
let socket: QuestionSocket;
let asked: string[];
let lines: string[];
let answer: (question: string) => Promise<string | null>;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-keys-'));
  path = join(folder, 'keys.sock');
  asked = [];
  lines = [];
  answer = async () => 'restrict,pty the line\n';
  socket = createQuestionSocket({
    path,
    access: { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, mode: 0o600 },
    answer: (question) => {
      asked.push(question);
      return answer(question);
    },
    purpose: 'SSH login',
    limits: SSH_QUESTIONS,
    log: pino({}, { write: (line) => lines.push(line) }),
  });
  await socket.open();
});
afterEach(async () => {
  await socket.close();
  await rm(folder, { recursive: true });
});

/** The answer that sshd’s script gets. */
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
    expect(asked).toEqual([`${process.pid} my-shop ssh-ed25519 ${KEY}`]);
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

describe('the session', () => {
  /** Output and end of a session if the host answers with `entrance`. */
  async function session(entrance: string, environment: Record<string, string>): Promise<string> {
    answer = async () => entrance;
    const script = join(import.meta.dirname, 'perl', 'session.pl');
    const { stdout } = await runCommand('/usr/bin/perl', [script, path], { environment });
    return stdout;
  }

  test('becomes what leads into the sandbox, with the command behind', async () => {
    const entrance = renderEntrance(['/usr/bin/env', '-i', 'EMPTY=', 'TWO= a\nb ']);
    const command = { SSH_ORIGINAL_COMMAND: 'echo "$TERM [$EMPTY] [$TWO] $(umask) $PWD"', TERM: 'vt100' };
    expect(await session(entrance, command)).toBe('vt100 [] [ a\nb ] 0022 /\n');
    expect(asked).toEqual([expect.stringMatching(/^\d+ plain$/)]);
  });

  test('takes no terminal name that says more than a name', async () => {
    const command = { SSH_ORIGINAL_COMMAND: 'echo "$TERM"', TERM: 'x LD_PRELOAD=/y' };
    expect(await session(renderEntrance(['/usr/bin/env', '-i']), command)).toBe('dumb\n');
  });

  test('asks for the way of SFTP if that is wanted', async () => {
    const command = { SSH_ORIGINAL_COMMAND: '/usr/lib/openssh/sftp-server' };
    expect(await session(renderEntrance(['/bin/echo']), command)).toBe('/usr/lib/openssh/sftp-server\n');
    expect(asked).toEqual([expect.stringMatching(/^\d+ sftp$/)]);
  });

  test.each(['', '/bin/echo\0', '/bin/echo', '/nowhere\0\n'])(
    'refuses after the answer %j',
    async (entrance) => {
      await expect(session(entrance, { SSH_ORIGINAL_COMMAND: 'id' })).rejects.toMatchObject({
        status: 1,
        stdout: '',
        stderr: expect.stringContaining('Please try again in a minute'),
      });
    },
  );

  test('refuses where the host does not listen', async () => {
    await socket.close();
    await expect(session('', {})).rejects.toMatchObject({ status: 1, stdout: '' });
  });
});

describe('the socket', () => {
  test('is there for the asker alone', async () => {
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test('answers nothing, and says why, if there is no knowing', async () => {
    answer = () => Promise.reject(new Error('the control plane is away'));
    expect(await ask('shop')).toBe('');
    expect(lines.join('')).toMatch(/the control plane is away.*"asked":"\d+ shop ssh-ed25519 /);
  });

  test('takes the first line alone, and nothing endless', async () => {
    expect(await send('hello\nworld\n')).toBe('restrict,pty the line\n');
    expect(await send('x'.repeat(30_000))).toBe('');
    expect(asked).toEqual(['hello']);
  });

  test('answers beside many who connect and ask nothing, or have their answer and stay', async () => {
    const asking = [...Array<string>(100).fill(''), ...Array<string>(100).fill('hello\n')];
    const idle = asking.map((text) => {
      const client = connect({ path, allowHalfOpen: true });
      client.on('error', () => {});
      client.resume();
      client.write(text);
      return client;
    });
    await Promise.all(idle.map((client) => once(client, 'connect')));
    const silent = idle.slice(0, 100);
    expect(await ask('shop')).toBe('restrict,pty the line\n');
    // Some had to make room; their slowness would have turned all of them out.
    expect(silent.some((client) => !client.readableEnded)).toBe(true);
    await expect.poll(() => silent.filter((client) => client.readableEnded).length).toBeGreaterThan(0);
    for (const client of idle) client.destroy();
  });

  test('lets go of who has not asked when it is closed', async () => {
    const client = connect(path);
    client.on('error', () => {});
    await once(client, 'connect');
    const closed = once(client, 'close');
    await socket.close();
    await closed;
  });

  test('replaces one of a killed host, and is opened again if it was deleted', async () => {
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
