import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { rounds } from '../../../../test/rounds.ts';
import { ada, eve, makeKey, type SftpPlace, shop, startSftpPlace } from './sftp-gateway.fixture.ts';

let here: SftpPlace;
beforeEach(async () => {
  here = await startSftpPlace();
});
afterEach(() => here.remove());

describe.skipIf(!hasOpenSsh())("OpenSSH's own client", () => {
  interface Ended {
    code: number;
    output: string;
  }

  const sftp = (batch: string, key = ada): Promise<Ended> =>
    run('sftp', ['-b', '-', 'shop@127.0.0.1'], { key, input: batch });

  const scp = (from: string, to: string): Promise<Ended> => run('scp', [from, to], { key: ada, input: '' });

  async function run(
    program: 'sftp' | 'scp',
    operands: string[],
    { key, input }: { key: typeof ada; input: string },
  ): Promise<Ended> {
    const keyFile = join(here.base, `key-${randomUUID()}`);
    fs.writeFileSync(keyFile, key.private, { mode: 0o600 });
    const options = [
      'StrictHostKeyChecking=no',
      'UserKnownHostsFile=/dev/null',
      'IdentitiesOnly=yes',
      'BatchMode=yes',
    ];
    const child = spawn(
      program,
      [
        '-F',
        '/dev/null',
        '-P',
        String(here.address().port),
        '-i',
        keyFile,
        ...options.flatMap((option) => ['-o', option]),
        ...operands,
      ],
      { cwd: here.base },
    );
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk;
    });
    child.stderr.on('data', (chunk: Buffer) => {
      output += chunk;
    });
    child.stdin.end(input);
    const [code] = await once(child, 'close');
    return { code, output };
  }

  test('puts, gets, lists, renames, changes modes and removes', async () => {
    const content = randomBytes(rounds(2, 20) * 1024 * 1024);
    fs.writeFileSync(join(here.base, 'local'), content);
    fs.mkdirSync(join(here.base, 'tree/sub'), { recursive: true });
    fs.writeFileSync(join(here.base, 'tree/sub/a'), 'a');
    const batch = [
      'pwd',
      'put local large',
      'get large back',
      'put -r tree',
      'put -p local kept',
      'ls -la',
      'mkdir folder',
      'rename large folder/renamed',
      'chmod 600 folder/renamed',
      'cd folder',
      'ls -l',
      '-rename renamed ../index.html',
      'rm renamed',
      'cd ..',
      'rmdir folder',
      '-symlink index.html link',
      '-get ../secret stolen',
    ];
    const { code, output } = await sftp(`${batch.join('\n')}\n`);
    expect(output).toContain('Remote working directory: /');
    expect(output).toMatch(new RegExp(`-rw-------\\s+\\S+ +\\S+ +\\S+ +${content.length} .* renamed`));
    expect(code).toBe(0);
    expect(fs.readFileSync(join(here.base, 'back')).equals(content)).toBe(true);
    expect(fs.readFileSync(here.hostFile('tree/sub/a'), 'utf8')).toBe('a');
    expect(fs.readdirSync(here.hostFile('')).sort()).toEqual(['index.html', 'kept', 'tree']);
    expect(fs.readFileSync(here.hostFile('index.html'), 'utf8')).toBe('<h1>shop</h1>');
    expect(fs.existsSync(join(here.base, 'stolen'))).toBe(false);
  });

  test('with an RSA key, signed over SHA-2', async () => {
    const key = makeKey('rsa');
    here.logins.set(`shop ${key.fingerprint}`, { install: shop, userId: 'x' });
    expect(await sftp('ls\n', key)).toMatchObject({ code: 0, output: expect.stringContaining('index.html') });
  });

  test('sftp exits with 1 if a command of its batch fails', async () => {
    expect(await sftp('get missing\n')).toMatchObject({
      code: 1,
      output: expect.stringContaining('not found'),
    });
  });

  test('scp copies in both directions and exits with 0', async () => {
    const content = randomBytes(300_000);
    fs.writeFileSync(join(here.base, 'local'), content);
    const there = 'shop@127.0.0.1:copied';
    expect(await scp('local', there)).toMatchObject({ code: 0 });
    expect(fs.readFileSync(here.hostFile('copied')).equals(content)).toBe(true);
    expect(await scp(there, 'back')).toMatchObject({ code: 0 });
    expect(fs.readFileSync(join(here.base, 'back')).equals(content)).toBe(true);
  });

  test('scp exits with 1 if it cannot copy', async () => {
    fs.writeFileSync(join(here.base, 'local'), 'x');
    expect(await scp('shop@127.0.0.1:missing', 'back')).toMatchObject({ code: 1 });
    expect(await scp('local', 'shop@127.0.0.1:no-such-folder/copied')).toMatchObject({ code: 1 });
  });

  test('is refused with a wrong key', async () => {
    expect(await sftp('ls\n', eve)).toMatchObject({
      code: 255,
      output: expect.stringContaining('Permission denied'),
    });
  });
});

function hasOpenSsh(): boolean {
  return (process.env.PATH ?? '').split(':').some((folder) => fs.existsSync(join(folder, 'sftp')));
}
