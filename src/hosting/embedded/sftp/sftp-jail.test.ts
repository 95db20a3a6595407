import fs from 'node:fs';
import { join } from 'node:path';
import ssh2 from 'ssh2';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { codeOf } from './sftp-client.fixture.ts';
import { blog, eve, type SftpPlace, sftpOf, shop, startSftpPlace } from './sftp-gateway.fixture.ts';

const { STATUS_CODE } = ssh2.utils.sftp;

let here: SftpPlace;
beforeEach(async () => {
  here = await startSftpPlace();
});
afterEach(() => here.remove());

describe('an install sees only its own files', () => {
  test('two installs cannot see each other', async () => {
    const ours = await here.signIn();
    const theirs = await here.signIn({ username: 'blog', privateKey: eve.private });
    await ours.writeFile('/only here', 'x');
    expect((await theirs.readFile('/index.html')).toString()).toBe('<h1>blog</h1>');
    expect(await codeOf(theirs.stat('/only here'))).toBe(STATUS_CODE.NO_SUCH_FILE);
    expect(await codeOf(theirs.stat(`/../${shop.id}/index.html`))).toBe(STATUS_CODE.NO_SUCH_FILE);
  });

  test.each(['/../secret', '../secret', '/a/../../secret', '/./../../secret', '//../secret'])(
    '%s stays inside',
    async (path) => {
      const sftp = await here.signIn();
      expect(await codeOf(sftp.readFile(path))).toBe(STATUS_CODE.NO_SUCH_FILE);
      expect(await sftp.realpath(path)).toBe('/secret');
      await sftp.writeFile(path, 'mine');
      expect(fs.readFileSync(here.hostFile('secret'), 'utf8')).toBe('mine');
      expect(fs.readFileSync(join(here.base, 'secret'), 'utf8')).toBe('of the platform');
    },
  );

  test('paths are shown as the client sees them', async () => {
    const sftp = await here.signIn();
    expect(await sftp.realpath('.')).toBe('/');
    expect(await sftp.realpath('a/b/../c')).toBe('/a/c');
    expect(await codeOf(sftp.stat('/a\0b'))).toBe(STATUS_CODE.BAD_MESSAGE);
    expect(await codeOf(sftp.stat(`/${'a/'.repeat(3000)}`))).toBe(STATUS_CODE.FAILURE);
  });

  test('no operation follows links that lead out', async () => {
    fs.symlinkSync('../secret', here.hostFile('file'));
    fs.symlinkSync('..', here.hostFile('folder'));
    fs.symlinkSync(here.base, here.hostFile('absolute'));
    fs.symlinkSync('../new', here.hostFile('dangling'));
    fs.symlinkSync('loop', here.hostFile('loop'));
    const sftp = await here.signIn();
    const out = STATUS_CODE.PERMISSION_DENIED;
    for (const path of [
      '/file',
      '/folder/secret',
      '/absolute/secret',
      '/folder/../secret/../folder/secret',
    ]) {
      expect(await codeOf(sftp.open(path, 'r'))).toBe(out);
      expect(await codeOf(sftp.open(path, 'w'))).toBe(out);
      expect(await codeOf(sftp.open(path, 'a'))).toBe(out);
      expect(await codeOf(sftp.stat(path))).toBe(out);
      expect(await codeOf(sftp.setstat(path, { mode: 0o777 }))).toBe(out);
    }
    expect(await codeOf(sftp.lstat('/folder/secret'))).toBe(out);
    expect(await codeOf(sftp.unlink('/folder/secret'))).toBe(out);
    expect(await codeOf(sftp.rename('/folder/secret', '/stolen'))).toBe(out);
    expect(await codeOf(sftp.rename('/index.html', '/folder/planted'))).toBe(out);
    expect(await codeOf(sftp.posixRename('/index.html', '/folder/secret'))).toBe(out);
    expect(await codeOf(sftp.mkdir('/folder/planted'))).toBe(out);
    expect(await codeOf(sftp.rmdir(`/folder/${blog.id}`))).toBe(out);
    expect(await codeOf(sftp.opendir('/folder'))).toBe(out);
    expect(await codeOf(sftp.open('/folder/planted', 'w'))).toBe(out);
    expect(await codeOf(sftp.readlink('/folder/x'))).toBe(out);
    expect(await codeOf(sftp.readlink('/absolute'))).toBe(out);
    expect(await codeOf(sftp.open('/dangling', 'w'))).toBe(out);
    expect(await codeOf(sftp.open('/dangling', 'wx'))).toBe(STATUS_CODE.FAILURE);
    expect(await codeOf(sftp.stat('/loop'))).toBe(out);
    expect(fs.readFileSync(join(here.base, 'secret'), 'utf8')).toBe('of the platform');
    expect(fs.readdirSync(here.base).sort()).toEqual([shop.id, blog.id, 'host-key', 'secret'].sort());
    // The customer can see and remove the links themselves.
    expect((await sftp.lstat('/file')).isSymbolicLink()).toBe(true);
    await sftp.unlink('/file');
    await sftp.unlink('/folder');
    expect(fs.existsSync(join(here.base, 'secret'))).toBe(true);
  });

  test('links that stay inside work', async () => {
    fs.mkdirSync(here.hostFile('real'));
    fs.symlinkSync('real', here.hostFile('near'));
    fs.symlinkSync(here.hostFile('index.html'), here.hostFile('home'));
    const sftp = await here.signIn();
    await sftp.writeFile('/near/file', 'through');
    expect(fs.readFileSync(here.hostFile('real/file'), 'utf8')).toBe('through');
    expect((await sftp.readFile('/home')).toString()).toBe('<h1>shop</h1>');
    expect(await sftp.readlink('/near')).toBe('real');
    expect(await sftp.readlink('/home')).toBe('/index.html');
    expect((await sftp.readdir('/near')).map(({ filename }) => filename)).toEqual(['file']);
  });

  test('a folder that is repeatedly replaced by a link out is never followed', async () => {
    fs.mkdirSync(here.hostFile('folder'));
    fs.writeFileSync(here.hostFile('folder/secret'), 'inside');
    fs.symlinkSync(here.base, here.hostFile('other'));
    const sftp = await here.signIn();
    const swap = setInterval(() => {
      fs.renameSync(here.hostFile('folder'), here.hostFile('spare'));
      fs.renameSync(here.hostFile('other'), here.hostFile('folder'));
      fs.renameSync(here.hostFile('spare'), here.hostFile('other'));
    }, 0);
    try {
      for (let i = 0; i < 150; i++) {
        const content = await sftp.readFile('/folder/secret').catch(() => null);
        if (content !== null) expect(content.toString()).toBe('inside');
        await sftp.writeFile('/folder/planted', 'x').catch(() => {});
        await sftp.mkdir(`/folder/made${i}`).catch(() => {});
      }
    } finally {
      clearInterval(swap);
    }
    expect(fs.readFileSync(join(here.base, 'secret'), 'utf8')).toBe('of the platform');
    expect(fs.readdirSync(here.base).sort()).toEqual([shop.id, blog.id, 'host-key', 'secret'].sort());
  });

  test('no shell, no command, no other subsystem, no forwarding, no environment', async () => {
    const client = await here.connect();
    const talk = (start: (done: ssh2.ClientCallback) => void) =>
      new Promise<{ code: unknown; text: string }>((resolve, reject) => {
        start((error, stream) => {
          if (error) return reject(error);
          let text = '';
          stream.stderr.on('data', (chunk: Buffer) => {
            text += chunk;
          });
          stream.on('close', (code: unknown) => resolve({ code, text }));
          stream.resume();
        });
      });
    const polite = {
      code: 1,
      text: expect.stringMatching(/SFTP only; there is no shell.\r\n.* sign in as shop/),
    };
    expect(await talk((done) => client.shell(done))).toEqual(polite);
    expect(await talk((done) => client.shell(false, done))).toEqual(polite);
    expect(await talk((done) => client.exec('cat /etc/passwd', done))).toEqual(polite);
    await expect(talk((done) => client.subsys('netconf', done))).rejects.toThrow(/Unable to start subsystem/);
    await expect(talk((done) => client.forwardOut('127.0.0.1', 1, '127.0.0.1', 22, done))).rejects.toThrow();
    await expect(
      new Promise((resolve, reject) =>
        client.forwardIn('127.0.0.1', 0, (e, port) => (e ? reject(e) : resolve(port))),
      ),
    ).rejects.toThrow();
    await expect(talk((done) => client.openssh_forwardOutStreamLocal('/tmp/x', done))).rejects.toThrow();
    await expect(talk((done) => client.exec('x', { x11: true }, done))).rejects.toThrow();
    expect((await (await sftpOf(client)).readFile('/index.html')).toString()).toBe('<h1>shop</h1>');
  });
});
