import { execFile, spawn } from 'node:child_process';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pino from 'pino';
import ssh2, { type Client, type ConnectConfig, type SFTPWrapper } from 'ssh2';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { newSshKey } from '../../../test/ssh-key.ts';
import { manualClock } from '../../clock.ts';
import { DAY_MS } from '../../durations.ts';
import type { SshLogin } from '../host.ts';
import { createSftpGateway, type SftpGateway, type SftpGatewayOptions } from './sftp-gateway.ts';

const { STATUS_CODE } = ssh2.utils.sftp;

let base: string;
let clock: ReturnType<typeof manualClock>;
/** Which key may enter as which name. */
let logins: Map<string, SshLogin>;
let asked: number;
let gateway: SftpGateway;
let address: { host: string; port: number };
const clients: Client[] = [];

const shop = { id: randomUUID(), name: 'shop' };
const blog = { id: randomUUID(), name: 'blog' };
const ada = makeKey();
const eve = makeKey();

beforeEach(async () => {
  base = fs.mkdtempSync(join(tmpdir(), 'sftp-'));
  for (const { id, name } of [shop, blog]) {
    fs.mkdirSync(join(base, id));
    fs.writeFileSync(join(base, id, 'index.html'), `<h1>${name}</h1>`);
  }
  fs.writeFileSync(join(base, 'secret'), 'of the platform');
  clock = manualClock();
  asked = 0;
  logins = new Map([
    [`shop ${ada.fingerprint}`, { install: shop, userId: 'ada' }],
    [`blog ${eve.fingerprint}`, { install: blog, userId: 'eve' }],
  ]);
  await startGateway();
});

afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await gateway.stop();
  fs.rmSync(base, { recursive: true });
});

async function startGateway(more: Partial<SftpGatewayOptions> = {}): Promise<void> {
  gateway = createSftpGateway({
    listen: { host: '127.0.0.1', port: 0 },
    hostKeyFile: join(base, 'host-key'),
    filesOf: (id) => join(base, id),
    questions: {
      async sshLogin(name, fingerprint) {
        asked += 1;
        return logins.get(`${name} ${fingerprint}`) ?? null;
      },
    },
    log: pino({ level: 'silent' }),
    clock,
    ...more,
  });
  address = await gateway.start();
}

async function restartGateway(more: Partial<SftpGatewayOptions>): Promise<void> {
  await gateway.stop();
  await startGateway(more);
}

function makeKey(type: 'ed25519' | 'rsa' | 'ecdsa' = 'ed25519') {
  const pair = newSshKey(type);
  const blob = Buffer.from(pair.public.split(' ')[1] ?? '', 'base64');
  const fingerprint = createHash('sha256').update(blob).digest('base64').replace(/=+$/, '');
  return { ...pair, fingerprint };
}

async function connect(more: ConnectConfig = {}): Promise<Client> {
  const client = new ssh2.Client();
  clients.push(client);
  const ready = once(client, 'ready');
  const closed = once(client, 'close').then(() => Promise.reject(new Error('the connection was closed')));
  client.on('error', () => {});
  client.connect({ ...address, username: 'shop', privateKey: ada.private, ...more });
  await Promise.race([ready, closed]);
  closed.catch(() => {});
  // The client writes a packet in pieces, of which the second would otherwise wait for the answer to the first.
  client.setNoDelay(true);
  return client;
}

function sftpOf(client: Client): Promise<Sftp> {
  return new Promise((resolve, reject) => {
    client.sftp((error, sftp) => (error ? reject(error) : resolve(promised(sftp))));
  });
}

async function signIn(more: ConnectConfig = {}): Promise<Sftp> {
  return sftpOf(await connect(more));
}

/** The client's functions as promises. */
function promised(sftp: SFTPWrapper) {
  function call<T = void>(
    run: (done: (error: Error | null | undefined, result: T) => void) => void,
  ): Promise<T> {
    return new Promise((resolve, reject) =>
      run((error, result) => (error ? reject(error) : resolve(result))),
    );
  }
  return {
    raw: sftp,
    open: (path: string, flags: string, mode?: number) =>
      call<Buffer>((done) =>
        mode === undefined
          ? sftp.open(path, flags as 'r', done)
          : sftp.open(path, flags as 'r', { mode }, done),
      ),
    close: (handle: Buffer) => call((done) => sftp.close(handle, (e) => done(e, undefined))),
    write: (handle: Buffer, at: number, bytes: Buffer | string) =>
      call((done) => {
        const buffer = Buffer.from(bytes);
        sftp.write(handle, buffer, 0, buffer.length, at, (e) => done(e, undefined));
      }),
    read: (handle: Buffer, at: number, length: number) =>
      call<Buffer>((done) => {
        const buffer = Buffer.alloc(length);
        sftp.read(handle, buffer, 0, length, at, (e, bytes) => done(e, buffer.subarray(0, bytes)));
      }),
    fstat: (handle: Buffer) => call<ssh2.Stats>((done) => sftp.fstat(handle, done)),
    fsetstat: (handle: Buffer, a: ssh2.InputAttributes) =>
      call((done) => sftp.fsetstat(handle, a, (e) => done(e, undefined))),
    stat: (path: string) => call<ssh2.Stats>((done) => sftp.stat(path, done)),
    lstat: (path: string) => call<ssh2.Stats>((done) => sftp.lstat(path, done)),
    setstat: (path: string, a: ssh2.InputAttributes) =>
      call((done) => sftp.setstat(path, a, (e) => done(e, undefined))),
    readdir: (path: string) => call<ssh2.FileEntryWithStats[]>((done) => sftp.readdir(path, done)),
    opendir: (path: string) => call<Buffer>((done) => sftp.opendir(path, done)),
    unlink: (path: string) => call((done) => sftp.unlink(path, (e) => done(e, undefined))),
    mkdir: (path: string, mode?: number) =>
      call((done) =>
        mode === undefined
          ? sftp.mkdir(path, (e) => done(e, undefined))
          : sftp.mkdir(path, { mode }, (e) => done(e, undefined)),
      ),
    rmdir: (path: string) => call((done) => sftp.rmdir(path, (e) => done(e, undefined))),
    rename: (from: string, to: string) => call((done) => sftp.rename(from, to, (e) => done(e, undefined))),
    posixRename: (from: string, to: string) => {
      // The gateway cannot announce the extension; some clients use it all the same.
      Object.assign(Reflect.get(sftp, '_extensions'), { 'posix-rename@openssh.com': '1' });
      return call((done) => sftp.ext_openssh_rename(from, to, (e) => done(e, undefined)));
    },
    realpath: (path: string) => call<string>((done) => sftp.realpath(path, done)),
    readlink: (path: string) => call<string>((done) => sftp.readlink(path, done)),
    symlink: (target: string, path: string) =>
      call((done) => sftp.symlink(target, path, (e) => done(e, undefined))),
    put: (local: string, remote: string) =>
      call((done) => sftp.fastPut(local, remote, (e) => done(e, undefined))),
    get: (remote: string, local: string) =>
      call((done) => sftp.fastGet(remote, local, (e) => done(e, undefined))),
    readFile: (path: string) => call<Buffer>((done) => sftp.readFile(path, done)),
    writeFile: (path: string, content: string) =>
      call((done) => sftp.writeFile(path, content, (e) => done(e, undefined))),
  };
}
type Sftp = ReturnType<typeof promised>;

async function codeOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'succeeded',
    (error: unknown) => Object(error).code,
  );
}

function hostFile(path: string, install = shop): string {
  return join(base, install.id, path);
}

function openFiles(): number {
  return process.platform === 'linux' ? fs.readdirSync('/proc/self/fd').length : 0;
}

async function eventually(check: () => void): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      return check();
    } catch (error) {
      if (tries === 200) throw error;
      await sleep(10);
    }
  }
}

describe('signing in', () => {
  test.each(['ed25519', 'rsa', 'ecdsa'] as const)('with a key of type %s', async (type) => {
    const key = makeKey(type);
    logins.set(`shop ${key.fingerprint}`, { install: shop, userId: 'x' });
    const sftp = await signIn({ privateKey: key.private });
    expect((await sftp.readFile('/index.html')).toString()).toBe('<h1>shop</h1>');
  });

  test('a wrong key, a wrong name, a password or nothing is refused', async () => {
    const refused = /All configured authentication methods failed/;
    await expect(connect({ privateKey: eve.private })).rejects.toThrow(refused);
    await expect(connect({ username: 'blog' })).rejects.toThrow(refused);
    await expect(connect({ username: 'nobody' })).rejects.toThrow(refused);
    await expect(connect({ privateKey: undefined, password: 'x' } as ConnectConfig)).rejects.toThrow(refused);
    await expect(connect({ username: shop.id })).rejects.toThrow(refused);
  });

  test('a signature by another key is refused, though the offered key may enter', async () => {
    const adas = ssh2.utils.parseKey(ada.private);
    const eves = ssh2.utils.parseKey(eve.private);
    if (adas instanceof Error || eves instanceof Error) throw new Error('bad key');
    const forged = Object.create(adas, {
      sign: { value: (data: Buffer, hash?: string) => eves.sign(data, hash) },
    });
    await expect(connect({ privateKey: forged })).rejects.toThrow(/authentication methods failed/);
  });

  test('is refused while nobody can say who may enter', async () => {
    await restartGateway({
      questions: {
        sshLogin: () => Promise.reject(new Error('the database is away')),
      },
    });
    await expect(connect()).rejects.toThrow(/authentication methods failed/);
  });

  test('the host key is made once, readable by its owner alone, and kept', async () => {
    const seen: string[] = [];
    const hostVerifier = (key: Buffer) => {
      seen.push(key.toString('base64'));
      return true;
    };
    await connect({ hostVerifier });
    const file = join(base, 'host-key');
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
    fs.chmodSync(file, 0o644);
    await restartGateway({});
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
    await connect({ hostVerifier });
    expect(new Set(seen).size).toBe(1);
    expect(seen[0]?.startsWith(Buffer.from('\0\0\0\x0bssh-ed25519').toString('base64').slice(0, 18))).toBe(
      true,
    );
    fs.writeFileSync(file, 'no key');
    await gateway.stop();
    await expect(startGateway()).rejects.toThrow(/holds no private SSH key/);
    expect(fs.readFileSync(file, 'utf8')).toBe('no key');
    fs.rmSync(file);
    await startGateway();
  });

  test('an address in use is one clear sentence', async () => {
    const second = createSftpGateway({
      listen: address,
      hostKeyFile: join(base, 'host-key'),
      filesOf: (id) => id,
      questions: { sshLogin: async () => null },
      log: pino({ level: 'silent' }),
      clock,
    });
    await expect(second.start()).rejects.toThrow(
      /^SFTP cannot be served on 127\.0\.0\.1:\d+: another program uses this port/,
    );
  });
});

describe('files', () => {
  test('20 MB go there and back unchanged, with each kind of cipher', async () => {
    const content = randomBytes(20 * 1024 * 1024);
    fs.writeFileSync(join(base, 'local'), content);
    for (const cipher of ['aes128-gcm@openssh.com', 'aes256-ctr'] as const) {
      const sftp = await signIn({ algorithms: { cipher: [cipher] } });
      await sftp.put(join(base, 'local'), '/large.bin');
      expect(fs.readFileSync(hostFile('large.bin')).equals(content)).toBe(true);
      await sftp.get('/large.bin', join(base, 'back'));
      expect(fs.readFileSync(join(base, 'back')).equals(content)).toBe(true);
    }
  });

  test('several transfers at once, in one session, several sessions and several connections', async () => {
    const client = await connect();
    const sessions = [await sftpOf(client), await sftpOf(client), await signIn()];
    await Promise.all(
      Array.from({ length: 12 }, async (_, i) => {
        const content = randomBytes(1_000_000 + i);
        fs.writeFileSync(join(base, `local${i}`), content);
        const sftp = sessions[i % 3];
        if (sftp === undefined) throw new Error('no session');
        await sftp.put(join(base, `local${i}`), `/f${i}`);
        await sftp.get(`/f${i}`, join(base, `back${i}`));
        expect(fs.readFileSync(join(base, `back${i}`)).equals(content)).toBe(true);
      }),
    );
  });

  test('listing a folder, with all names, kinds and attributes', async () => {
    for (let i = 0; i < 300; i++) fs.writeFileSync(hostFile(`file ${i}`), 'x'.repeat(i));
    fs.mkdirSync(hostFile('folder'));
    fs.writeFileSync(hostFile('ünï 文件 💾'), '');
    fs.symlinkSync('index.html', hostFile('link'));
    fs.utimesSync(hostFile('file 7'), 1_700_000_000, 1_700_000_000);
    fs.chmodSync(hostFile('file 7'), 0o640);
    clock.advance(Date.parse('2023-12-01') - clock.now().getTime());
    const sftp = await signIn();
    const listed = await sftp.readdir('/');
    expect(listed.map(({ filename }) => filename).sort()).toEqual(fs.readdirSync(hostFile('')).sort());
    const entry = (name: string) => listed.find(({ filename }) => filename === name);
    expect(entry('file 7')?.longname).toBe('-rw-r-----    1 shop     shop            7 Nov 14 22:13 file 7');
    expect(entry('file 7')?.attrs).toMatchObject({ size: 7, mtime: 1_700_000_000, mode: 0o100640 });
    expect(entry('folder')?.attrs.isDirectory()).toBe(true);
    expect(entry('folder')?.longname).toMatch(/^drwx/);
    expect(entry('link')?.attrs.isSymbolicLink()).toBe(true);
    clock.advance(365 * DAY_MS);
    const later = (await sftp.readdir('/')).find(({ filename }) => filename === 'file 7');
    expect(later?.longname).toContain('Nov 14  2023 file 7');
    expect(await sftp.readdir('/folder')).toEqual([]);
  });

  test('making, renaming and removing', async () => {
    const sftp = await signIn();
    await sftp.mkdir('/a');
    await sftp.mkdir('/a/b');
    await sftp.writeFile('/a/b/c.txt', 'hello');
    await sftp.rename('/a/b/c.txt', '/d.txt');
    expect(fs.readFileSync(hostFile('d.txt'), 'utf8')).toBe('hello');
    await sftp.rename('/a', '/z');
    expect(await codeOf(sftp.rename('/d.txt', '/index.html'))).toBe(STATUS_CODE.FAILURE);
    expect(fs.readFileSync(hostFile('index.html'), 'utf8')).toBe('<h1>shop</h1>');
    await sftp.posixRename('/d.txt', '/index.html');
    expect(fs.readFileSync(hostFile('index.html'), 'utf8')).toBe('hello');
    expect(await codeOf(sftp.rmdir('/z'))).toBe(STATUS_CODE.FAILURE);
    await sftp.rmdir('/z/b');
    await sftp.rmdir('/z');
    await sftp.unlink('/index.html');
    expect(fs.readdirSync(hostFile(''))).toEqual([]);
    expect(await codeOf(sftp.rmdir('/'))).toBe(STATUS_CODE.PERMISSION_DENIED);
    expect(await codeOf(sftp.rename('/', '/x'))).toBe(STATUS_CODE.PERMISSION_DENIED);
  });

  test('opening as the flags say', async () => {
    const sftp = await signIn();
    const through = async (path: string, flags: string, at: number, text: string) => {
      const handle = await sftp.open(path, flags);
      await sftp.write(handle, at, text);
      await sftp.close(handle);
      return fs.readFileSync(hostFile('t'), 'utf8');
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
    const sftp = await signIn();
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
    expect(fs.statSync(hostFile('t')).size).toBe(2);
    await sftp.mkdir('/folder', 0o2000);
    await sftp.setstat('/folder', { mode: 0o1055 });
    expect((await sftp.stat('/folder')).mode).toBe(0o040755);
    expect(await codeOf(sftp.setstat('/folder', { size: 2 }))).not.toBe('succeeded');
    const other = (process.getuid?.() ?? 0) + 1;
    expect(await codeOf(sftp.setstat('/t', { uid: other, gid: other }))).toBe(STATUS_CODE.PERMISSION_DENIED);
    expect(await codeOf(sftp.stat('/none'))).toBe(STATUS_CODE.NO_SUCH_FILE);
    expect((await sftp.stat('/')).isDirectory()).toBe(true);
  });

  test('symbolic links cannot be made, and pipes are not opened', async () => {
    const sftp = await signIn();
    expect(await codeOf(sftp.symlink('/index.html', '/link'))).toBe(STATUS_CODE.OP_UNSUPPORTED);
    expect(fs.existsSync(hostFile('link'))).toBe(false);
    await promisify(execFile)('mkfifo', [hostFile('pipe')]);
    expect(await codeOf(sftp.open('/pipe', 'r'))).toBe(STATUS_CODE.FAILURE);
    expect(await codeOf(sftp.open('/pipe', 'r+'))).toBe(STATUS_CODE.FAILURE);
    expect(await codeOf(sftp.open('/pipe', 'w'))).toBe(STATUS_CODE.FAILURE);
  });
});

describe('nothing but the own files', () => {
  test('two installs do not see each other', async () => {
    const ours = await signIn();
    const theirs = await signIn({ username: 'blog', privateKey: eve.private });
    await ours.writeFile('/only here', 'x');
    expect((await theirs.readFile('/index.html')).toString()).toBe('<h1>blog</h1>');
    expect(await codeOf(theirs.stat('/only here'))).toBe(STATUS_CODE.NO_SUCH_FILE);
    expect(await codeOf(theirs.stat(`/../${shop.id}/index.html`))).toBe(STATUS_CODE.NO_SUCH_FILE);
  });

  test.each(['/../secret', '../secret', '/a/../../secret', '/./../../secret', '//../secret'])(
    '%s stays inside',
    async (path) => {
      const sftp = await signIn();
      expect(await codeOf(sftp.readFile(path))).toBe(STATUS_CODE.NO_SUCH_FILE);
      expect(await sftp.realpath(path)).toBe('/secret');
      await sftp.writeFile(path, 'mine');
      expect(fs.readFileSync(hostFile('secret'), 'utf8')).toBe('mine');
      expect(fs.readFileSync(join(base, 'secret'), 'utf8')).toBe('of the platform');
    },
  );

  test('paths are shown as the client sees them', async () => {
    const sftp = await signIn();
    expect(await sftp.realpath('.')).toBe('/');
    expect(await sftp.realpath('a/b/../c')).toBe('/a/c');
    expect(await codeOf(sftp.stat('/a\0b'))).toBe(STATUS_CODE.BAD_MESSAGE);
    expect(await codeOf(sftp.stat(`/${'a/'.repeat(3000)}`))).toBe(STATUS_CODE.FAILURE);
  });

  test('links that lead out are followed by no operation', async () => {
    fs.symlinkSync('../secret', hostFile('file'));
    fs.symlinkSync('..', hostFile('folder'));
    fs.symlinkSync(base, hostFile('absolute'));
    fs.symlinkSync('../new', hostFile('dangling'));
    fs.symlinkSync('loop', hostFile('loop'));
    const sftp = await signIn();
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
    expect(fs.readFileSync(join(base, 'secret'), 'utf8')).toBe('of the platform');
    expect(fs.readdirSync(base).sort()).toEqual([shop.id, blog.id, 'host-key', 'secret'].sort());
    // The links themselves are the customer's to see and to remove.
    expect((await sftp.lstat('/file')).isSymbolicLink()).toBe(true);
    await sftp.unlink('/file');
    await sftp.unlink('/folder');
    expect(fs.existsSync(join(base, 'secret'))).toBe(true);
  });

  test('links that stay inside work', async () => {
    fs.mkdirSync(hostFile('real'));
    fs.symlinkSync('real', hostFile('near'));
    fs.symlinkSync(hostFile('index.html'), hostFile('home'));
    const sftp = await signIn();
    await sftp.writeFile('/near/file', 'through');
    expect(fs.readFileSync(hostFile('real/file'), 'utf8')).toBe('through');
    expect((await sftp.readFile('/home')).toString()).toBe('<h1>shop</h1>');
    expect(await sftp.readlink('/near')).toBe('real');
    expect(await sftp.readlink('/home')).toBe('/index.html');
    expect((await sftp.readdir('/near')).map(({ filename }) => filename)).toEqual(['file']);
  });

  test('a folder that keeps changing into a link out is never gone through', async () => {
    fs.mkdirSync(hostFile('folder'));
    fs.writeFileSync(hostFile('folder/secret'), 'inside');
    fs.symlinkSync(base, hostFile('other'));
    const sftp = await signIn();
    const swap = setInterval(() => {
      fs.renameSync(hostFile('folder'), hostFile('spare'));
      fs.renameSync(hostFile('other'), hostFile('folder'));
      fs.renameSync(hostFile('spare'), hostFile('other'));
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
    expect(fs.readFileSync(join(base, 'secret'), 'utf8')).toBe('of the platform');
    expect(fs.readdirSync(base).sort()).toEqual([shop.id, blog.id, 'host-key', 'secret'].sort());
  });

  test('no shell, no command, no other subsystem, no forwarding, no environment', async () => {
    const client = await connect();
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

describe('when access ends', () => {
  test('nothing new is opened, and the connection ends', async () => {
    const client = await connect();
    const sftp = await sftpOf(client);
    expect(await codeOf(sftp.stat('/'))).toBe('succeeded');
    logins.clear();
    const closed = once(client, 'close');
    expect(await codeOf(sftp.readFile('/index.html'))).not.toBe('succeeded');
    await closed;
    await expect(connect()).rejects.toThrow(/authentication methods failed/);
  });

  test('a transfer is cut within a second, and what was asked for afterwards is not done', async () => {
    const client = await connect();
    const sftp = await sftpOf(client);
    const handle = await sftp.open('/t', 'w');
    await sftp.write(handle, 0, 'before');
    logins.delete(`shop ${ada.fingerprint}`);
    clock.advance(999);
    await sftp.write(handle, 6, ' still');
    clock.advance(1);
    const closed = once(client, 'close');
    const late = Array.from({ length: 20 }, (_, i) => codeOf(sftp.write(handle, 12 + i, 'x')));
    expect(await Promise.all(late)).not.toContain('succeeded');
    await closed;
    expect(fs.readFileSync(hostFile('t'), 'utf8')).toBe('before still');
  });

  test('the name or the key meaning another install or person counts as the end too', async () => {
    const first = await signIn();
    logins.set(`shop ${ada.fingerprint}`, { install: blog, userId: 'ada' });
    expect(await codeOf(first.readFile('/index.html'))).not.toBe('succeeded');
    logins.set(`shop ${ada.fingerprint}`, { install: shop, userId: 'ada' });
    const second = await signIn();
    logins.set(`shop ${ada.fingerprint}`, { install: shop, userId: 'eve' });
    expect(await codeOf(second.stat('/'))).not.toBe('succeeded');
  });

  test('transfers ask about once a second, not for every block', async () => {
    const sftp = await signIn();
    const handle = await sftp.open('/t', 'w');
    const before = asked;
    for (let i = 0; i < 50; i++) await sftp.write(handle, i, 'x');
    expect(asked).toBe(before);
    clock.advance(1_000);
    for (let i = 0; i < 50; i++) await sftp.write(handle, i, 'x');
    expect(asked).toBe(before + 1);
  });

  test('while nobody can say, nothing is done, and the connection stays', async () => {
    let isAway = false;
    await restartGateway({
      questions: {
        async sshLogin() {
          if (isAway) throw new Error('the database is away');
          return { install: shop, userId: 'ada' };
        },
      },
    });
    const sftp = await signIn();
    isAway = true;
    expect(await codeOf(sftp.readFile('/index.html'))).toBe(STATUS_CODE.FAILURE);
    isAway = false;
    expect((await sftp.readFile('/index.html')).toString()).toBe('<h1>shop</h1>');
  });
});

describe('limits', () => {
  test('open files of a session', async () => {
    await restartGateway({ limits: { handles: 3 } });
    const sftp = await signIn();
    const handles = [await sftp.open('/a', 'w'), await sftp.opendir('/'), await sftp.open('/a', 'r')];
    expect(await codeOf(sftp.open('/a', 'r'))).toBe(STATUS_CODE.FAILURE);
    expect(await codeOf(sftp.opendir('/'))).toBe(STATUS_CODE.FAILURE);
    await sftp.close(handles[1] ?? Buffer.alloc(0));
    await sftp.open('/a', 'r');
  });

  test('sessions of a connection', async () => {
    await restartGateway({ limits: { sessions: 2 } });
    const client = await connect();
    const first = await sftpOf(client);
    await sftpOf(client);
    await expect(sftpOf(client)).rejects.toThrow();
    const closed = once(first.raw, 'close');
    first.raw.end();
    await closed;
    await sftpOf(client);
  });

  test('connections, and those without a user from one address', async () => {
    await restartGateway({ limits: { connections: 4, unauthenticatedPerAddress: 2 } });
    const plain = async () => {
      const socket = net.connect(address.port, address.host);
      socket.on('error', () => {});
      const outcome = await Promise.race([
        once(socket, 'data').then(() => 'greeted'),
        once(socket, 'close').then(() => 'refused'),
      ]);
      return { socket, outcome };
    };
    const first = [await plain(), await plain()];
    expect(first.map(({ outcome }) => outcome)).toEqual(['greeted', 'greeted']);
    expect((await plain()).outcome).toBe('refused');
    for (const { socket } of first) socket.destroy();
    await sleep(50);
    for (let i = 0; i < 4; i++) await connect();
    await expect(connect()).rejects.toThrow();
  });

  test('attempts to sign in', async () => {
    await restartGateway({ limits: { authAttempts: 3 } });
    const keys = Array.from({ length: 6 }, () => makeKey().private);
    const before = asked;
    const client = new ssh2.Client();
    clients.push(client);
    client.on('error', () => {});
    const closed = once(client, 'close');
    client.connect({
      ...address,
      username: 'shop',
      authHandler: keys.map((key) => ({ type: 'publickey' as const, username: 'shop', key })),
    });
    await closed;
    expect(asked - before).toBe(3);
  });

  test('the time to sign in, and the time without a request', async () => {
    await restartGateway({ limits: { loginGraceMs: 1_000, idleMs: 300 } });
    const socket = net.connect(address.port, address.host);
    socket.write('SSH-2.0-slow\r\n');
    socket.resume();
    await once(socket, 'close');
    const client = await connect();
    const sftp = await sftpOf(client);
    for (let i = 0; i < 5; i++) {
      await sleep(100);
      await sftp.stat('/');
    }
    await once(client, 'close');
  });

  test('a client that asks without reading takes no memory, and is answered once it reads', async () => {
    fs.writeFileSync(hostFile('large'), randomBytes(1024 * 1024));
    const client = await connect();
    const sftp = await sftpOf(client);
    const handle = await sftp.open('/large', 'r');
    const socket: net.Socket = Reflect.get(client, '_sock');
    socket.pause();
    const before = process.memoryUsage().rss;
    const reads = Array.from({ length: 2000 }, (_, i) => sftp.read(handle, (i % 32) * 32_768, 32_768));
    await sleep(300);
    expect(process.memoryUsage().rss - before).toBeLessThan(45 * 1024 * 1024);
    socket.resume();
    const bytes = (await Promise.all(reads)).reduce((sum, part) => sum + part.length, 0);
    expect(bytes).toBe(2000 * 32_768);
  });

  test('a client that never stops asking is cut off', async () => {
    const client = await connect();
    const sftp = await sftpOf(client);
    const handle = await sftp.open('/index.html', 'r');
    const socket: net.Socket = Reflect.get(client, '_sock');
    socket.pause();
    fs.truncateSync(hostFile('index.html'), 10 * 1024 * 1024);
    for (let i = 0; i < 12_000; i++) sftp.read(handle, 0, 32_768).catch(() => {});
    await sleep(300);
    socket.resume();
    await once(client, 'close');
  });
});

describe('clients that vanish', () => {
  test('leave no file open, whether they hang up, crash or break the protocol', async () => {
    await (await signIn()).stat('/');
    for (const client of clients.splice(0)) client.destroy();
    await sleep(100);
    const before = openFiles();
    for (let i = 0; i < 5; i++) {
      const client = await connect();
      const sftp = await sftpOf(client);
      await sftp.open('/index.html', 'r');
      await sftp.opendir('/');
      const writing = await sftp.open(`/t${i}`, 'w');
      for (let block = 0; block < 100; block++) sftp.write(writing, block, 'x').catch(() => {});
      sftp.open('/late', 'w').catch(() => {});
      if (i === 0) sftp.raw.end();
      else if (i === 1) client.end();
      else if (i === 2) client.destroy();
      else if (i === 3) Reflect.get(client, '_sock').resetAndDestroy();
      else
        Reflect.get(client, '_protocol').channelData(
          Reflect.get(sftp.raw, 'outgoing').id,
          Buffer.from([0, 0, 0, 1, 99]),
        );
      await sleep(50);
      client.destroy();
    }
    await eventually(() => expect(openFiles()).toBeLessThanOrEqual(before));
  });

  test('noise on the port harms nobody', async () => {
    const sftp = await signIn();
    for (const noise of [
      randomBytes(10_000),
      Buffer.from('GET / HTTP/1.1\r\n\r\n'),
      Buffer.from('SSH-2.0-x\r\n\0\0\0\0'),
      Buffer.concat([Buffer.from('SSH-2.0-x\r\n'), randomBytes(5_000)]),
    ]) {
      const socket = net.connect(address.port, address.host);
      socket.on('error', () => {});
      socket.resume();
      socket.end(noise);
      await once(socket, 'close');
    }
    expect((await sftp.readFile('/index.html')).toString()).toBe('<h1>shop</h1>');
  });

  test('stopping ends them', async () => {
    const client = await connect();
    await sftpOf(client);
    const closed = once(client, 'close');
    const idle = net.connect(address.port, address.host);
    idle.on('error', () => {});
    await once(idle, 'data');
    await gateway.stop();
    await closed;
    await gateway.stop();
    await startGateway();
  });
});

describe.skipIf(!hasOpenSsh())("OpenSSH's own client", () => {
  async function sftp(batch: string, key = ada): Promise<{ code: number; output: string }> {
    const keyFile = join(base, `key-${randomUUID()}`);
    fs.writeFileSync(keyFile, key.private, { mode: 0o600 });
    const options = [
      'StrictHostKeyChecking=no',
      'UserKnownHostsFile=/dev/null',
      'IdentitiesOnly=yes',
      'BatchMode=yes',
    ];
    const child = spawn(
      'sftp',
      [
        '-F',
        '/dev/null',
        '-P',
        String(address.port),
        '-i',
        keyFile,
        ...options.flatMap((option) => ['-o', option]),
        '-b',
        '-',
        'shop@127.0.0.1',
      ],
      { cwd: base },
    );
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk;
    });
    child.stderr.on('data', (chunk: Buffer) => {
      output += chunk;
    });
    child.stdin.end(batch);
    const [code] = await once(child, 'close');
    return { code, output };
  }

  test('puts, gets, lists, renames, changes modes and removes', async () => {
    const content = randomBytes(20 * 1024 * 1024);
    fs.writeFileSync(join(base, 'local'), content);
    fs.mkdirSync(join(base, 'tree/sub'), { recursive: true });
    fs.writeFileSync(join(base, 'tree/sub/a'), 'a');
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
    expect(output).toMatch(/-rw-------\s+\S+ +\S+ +\S+ +20971520 .* renamed/);
    expect(code).toBe(0);
    expect(fs.readFileSync(join(base, 'back')).equals(content)).toBe(true);
    expect(fs.readFileSync(hostFile('tree/sub/a'), 'utf8')).toBe('a');
    expect(fs.readdirSync(hostFile('')).sort()).toEqual(['index.html', 'kept', 'tree']);
    expect(fs.readFileSync(hostFile('index.html'), 'utf8')).toBe('<h1>shop</h1>');
    expect(fs.existsSync(join(base, 'stolen'))).toBe(false);
  });

  test('with an RSA key, signed over SHA-2', async () => {
    const key = makeKey('rsa');
    logins.set(`shop ${key.fingerprint}`, { install: shop, userId: 'x' });
    expect(await sftp('ls\n', key)).toMatchObject({ code: 0, output: expect.stringContaining('index.html') });
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
