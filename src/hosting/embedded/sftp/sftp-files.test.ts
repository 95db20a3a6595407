import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import ssh2 from 'ssh2';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { onlyInLong, rounds } from '../../../../test/rounds.ts';
import { DAY_MS } from '../../../lib/durations.ts';
import { codeOf } from './sftp-client.fixture.ts';
import { type SftpPlace, sftpOf, startSftpPlace } from './sftp-gateway.fixture.ts';

const { STATUS_CODE } = ssh2.utils.sftp;

let here: SftpPlace;
beforeEach(async () => {
  here = await startSftpPlace();
});
afterEach(() => here.remove());

test('the folder that its name hides from visitors keeps that name', async () => {
  const sftp = await here.signIn();
  fs.mkdirSync(here.hostFile('.private/inner'), { recursive: true });
  fs.mkdirSync(here.hostFile('other/.private'), { recursive: true });
  for (const from of ['/.private', '/other/../.private', '//.private/', '/.private/inner/..']) {
    for (const rename of [sftp.rename, sftp.posixRename]) {
      await expect(rename(from, '/x')).rejects.toMatchObject({
        code: STATUS_CODE.PERMISSION_DENIED,
        message: expect.stringContaining('.private keeps its name'),
      });
    }
  }
  await sftp.rename('/.private/inner', '/.private/moved');
  await sftp.rename('/other/.private', '/other/shown');
  expect(fs.readdirSync(here.hostFile('.private'))).toEqual(['moved']);
});

describe('files', () => {
  test('large files survive upload and download unchanged, with each cipher', async () => {
    const content = randomBytes(rounds(2, 20) * 1024 * 1024);
    fs.writeFileSync(join(here.base, 'local'), content);
    for (const cipher of ['aes128-gcm@openssh.com', 'aes256-ctr'] as const) {
      const sftp = await here.signIn({ algorithms: { cipher: [cipher] } });
      await sftp.put(join(here.base, 'local'), '/large.bin');
      expect(fs.readFileSync(here.hostFile('large.bin')).equals(content)).toBe(true);
      await sftp.get('/large.bin', join(here.base, 'back'));
      expect(fs.readFileSync(join(here.base, 'back')).equals(content)).toBe(true);
    }
  });

  onlyInLong(test)(
    'several transfers at once, in one session, several sessions and several connections',
    async () => {
      const client = await here.connect();
      const sessions = [await sftpOf(client), await sftpOf(client), await here.signIn()];
      await Promise.all(
        Array.from({ length: 12 }, async (_, i) => {
          const content = randomBytes(1_000_000 + i);
          fs.writeFileSync(join(here.base, `local${i}`), content);
          const sftp = sessions[i % 3];
          if (sftp === undefined) throw new Error('no session');
          await sftp.put(join(here.base, `local${i}`), `/f${i}`);
          await sftp.get(`/f${i}`, join(here.base, `back${i}`));
          expect(fs.readFileSync(join(here.base, `back${i}`)).equals(content)).toBe(true);
        }),
      );
    },
  );

  test('listing a folder, with all names, kinds and attributes', async () => {
    for (let i = 0; i < 300; i++) fs.writeFileSync(here.hostFile(`file ${i}`), 'x'.repeat(i));
    fs.mkdirSync(here.hostFile('folder'));
    fs.writeFileSync(here.hostFile('ünï 文件 💾'), '');
    fs.symlinkSync('index.html', here.hostFile('link'));
    fs.utimesSync(here.hostFile('file 7'), 1_700_000_000, 1_700_000_000);
    fs.chmodSync(here.hostFile('file 7'), 0o640);
    here.clock.advance(Date.parse('2023-12-01') - here.clock.now().getTime());
    const sftp = await here.signIn();
    const listed = await sftp.readdir('/');
    expect(listed.map(({ filename }) => filename).sort()).toEqual(fs.readdirSync(here.hostFile('')).sort());
    const entry = (name: string) => listed.find(({ filename }) => filename === name);
    expect(entry('file 7')?.longname).toBe('-rw-r-----    1 shop     shop            7 Nov 14 22:13 file 7');
    expect(entry('file 7')?.attrs).toMatchObject({ size: 7, mtime: 1_700_000_000, mode: 0o100640 });
    expect(entry('folder')?.attrs.isDirectory()).toBe(true);
    expect(entry('folder')?.longname).toMatch(/^drwx/);
    expect(entry('link')?.attrs.isSymbolicLink()).toBe(true);
    here.clock.advance(365 * DAY_MS);
    const later = (await sftp.readdir('/')).find(({ filename }) => filename === 'file 7');
    expect(later?.longname).toContain('Nov 14  2023 file 7');
    expect(await sftp.readdir('/folder')).toEqual([]);
  });

  test('creating, renaming and removing', async () => {
    const sftp = await here.signIn();
    await sftp.mkdir('/a');
    await sftp.mkdir('/a/b');
    await sftp.writeFile('/a/b/c.txt', 'hello');
    await sftp.rename('/a/b/c.txt', '/d.txt');
    expect(fs.readFileSync(here.hostFile('d.txt'), 'utf8')).toBe('hello');
    await sftp.rename('/a', '/z');
    expect(await codeOf(sftp.rename('/d.txt', '/index.html'))).toBe(STATUS_CODE.FAILURE);
    expect(fs.readFileSync(here.hostFile('index.html'), 'utf8')).toBe('<h1>shop</h1>');
    await sftp.posixRename('/d.txt', '/index.html');
    expect(fs.readFileSync(here.hostFile('index.html'), 'utf8')).toBe('hello');
    expect(await codeOf(sftp.rmdir('/z'))).toBe(STATUS_CODE.FAILURE);
    await sftp.rmdir('/z/b');
    await sftp.rmdir('/z');
    await sftp.unlink('/index.html');
    expect(fs.readdirSync(here.hostFile(''))).toEqual([]);
    expect(await codeOf(sftp.rmdir('/'))).toBe(STATUS_CODE.PERMISSION_DENIED);
    expect(await codeOf(sftp.rename('/', '/x'))).toBe(STATUS_CODE.PERMISSION_DENIED);
  });

  test('opening honours the flags', async () => {
    const sftp = await here.signIn();
    const through = async (path: string, flags: string, at: number, text: string) => {
      const handle = await sftp.open(path, flags);
      await sftp.write(handle, at, text);
      await sftp.close(handle);
      return fs.readFileSync(here.hostFile('t'), 'utf8');
    };
    expect(await codeOf(sftp.open('/t', 'r'))).toBe(STATUS_CODE.NO_SUCH_FILE);
    expect(await codeOf(sftp.open('/t', 'r+'))).toBe(STATUS_CODE.NO_SUCH_FILE);
    expect(await through('/t', 'w', 0, '0123456789')).toBe('0123456789');
    expect(await through('/t', 'r+', 3, 'xyz')).toBe('012xyz6789');
    expect(await through('/t', 'a', 0, '+')).toBe('012xyz6789+');
    expect(await through('/t', 'w', 0, 'new')).toBe('new');
    expect(await codeOf(sftp.open('/t', 'wx'))).toBe(STATUS_CODE.FAILURE);
    expect(await codeOf(sftp.open('/', 'r'))).toBe(STATUS_CODE.FAILURE);
    expect(await codeOf(sftp.open('/none/t', 'w'))).toBe(STATUS_CODE.NO_SUCH_FILE);
    expect(await codeOf(sftp.open('/t/t', 'w'))).toBe(STATUS_CODE.NO_SUCH_FILE);
    expect(await codeOf(sftp.open(`/${'n'.repeat(300)}`, 'w'))).toBe(STATUS_CODE.FAILURE);

    const reading = await sftp.open('/t', 'r');
    expect((await sftp.read(reading, 1, 10)).toString()).toBe('ew');
    expect((await sftp.read(reading, 3, 10)).length).toBe(0);
    expect(await codeOf(sftp.write(reading, 0, 'x'))).toBe(STATUS_CODE.FAILURE);
    await sftp.close(reading);
    expect(await codeOf(sftp.read(reading, 0, 1))).toBe(STATUS_CODE.FAILURE);
    const writing = await sftp.open('/t', 'w');
    expect(await codeOf(sftp.read(writing, 0, 1))).toBe(STATUS_CODE.FAILURE);
    expect(await codeOf(sftp.write(writing, 2 ** 45, 'x'))).toBe(STATUS_CODE.FAILURE);
    expect(await codeOf(sftp.fsetstat(writing, { size: 2 ** 45 }))).toBe(STATUS_CODE.FAILURE);
  });

  test('attributes are shown and set, without setuid, and the platform keeps access', async () => {
    const sftp = await here.signIn();
    const handle = await sftp.open('/t', 'w', 0o4777);
    expect((await sftp.fstat(handle)).mode & 0o7000).toBe(0);
    await sftp.fsetstat(handle, { mode: 0o6755, size: 5 });
    expect(await sftp.fstat(handle)).toMatchObject({ mode: 0o100755, size: 5 });
    await sftp.setstat('/t', { mode: 0o044, atime: 1_600_000_000, mtime: 1_600_000_001 });
    expect(await sftp.stat('/t')).toMatchObject({
      mode: 0o100644,
      atime: 1_600_000_000,
      mtime: 1_600_000_001,
    });
    await sftp.setstat('/t', { size: 2 });
    expect(fs.statSync(here.hostFile('t')).size).toBe(2);
    await sftp.mkdir('/folder', 0o2000);
    await sftp.setstat('/folder', { mode: 0o1055 });
    expect((await sftp.stat('/folder')).mode).toBe(0o040755);
    expect(await codeOf(sftp.setstat('/folder', { size: 2 }))).not.toBe('succeeded');
    const other = (process.getuid?.() ?? 0) + 1;
    expect(await codeOf(sftp.setstat('/t', { uid: other, gid: other }))).toBe(STATUS_CODE.PERMISSION_DENIED);
    expect(await codeOf(sftp.stat('/none'))).toBe(STATUS_CODE.NO_SUCH_FILE);
    expect((await sftp.stat('/')).isDirectory()).toBe(true);
  });

  test('symbolic links cannot be created, and pipes are not opened', async () => {
    const sftp = await here.signIn();
    expect(await codeOf(sftp.symlink('/index.html', '/link'))).toBe(STATUS_CODE.OP_UNSUPPORTED);
    expect(fs.existsSync(here.hostFile('link'))).toBe(false);
    await promisify(execFile)('mkfifo', [here.hostFile('pipe')]);
    expect(await codeOf(sftp.open('/pipe', 'r'))).toBe(STATUS_CODE.FAILURE);
    expect(await codeOf(sftp.open('/pipe', 'r+'))).toBe(STATUS_CODE.FAILURE);
    expect(await codeOf(sftp.open('/pipe', 'w'))).toBe(STATUS_CODE.FAILURE);
  });
});
