import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import ssh2 from 'ssh2';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { limiterFor } from '../../../../test/connections.ts';
import { openFilesIn } from '../open-files.fixture.ts';
import { codeOf } from './sftp-client.fixture.ts';
import { makeKey, type SftpPlace, sftpOf, startSftpPlace } from './sftp-gateway.fixture.ts';

const { STATUS_CODE } = ssh2.utils.sftp;

let here: SftpPlace;
beforeEach(async () => {
  here = await startSftpPlace();
});
afterEach(() => here.remove());

const MEGABYTE = 1024 * 1024;
/** Twice as many as the responses and windows that may be in memory hold. */
const READS = 600;

/** Bytes that this process has read from files and sockets. */
function bytesRead(): number {
  return Number(/^rchar: (\d+)$/m.exec(fs.readFileSync('/proc/self/io', 'utf8'))?.[1]);
}

describe('limits', () => {
  test('open files of a session', async () => {
    await here.restart({ limits: { handles: 3 } });
    const sftp = await here.signIn();
    const handles = [await sftp.open('/a', 'w'), await sftp.opendir('/'), await sftp.open('/a', 'r')];
    expect(await codeOf(sftp.open('/a', 'r'))).toBe(STATUS_CODE.FAILURE);
    expect(await codeOf(sftp.opendir('/'))).toBe(STATUS_CODE.FAILURE);
    await sftp.close(handles[1] ?? Buffer.alloc(0));
    await sftp.open('/a', 'r');
  });

  test('sessions of a connection', async () => {
    await here.restart({ limits: { sessions: 2 } });
    const client = await here.connect();
    const first = await sftpOf(client);
    await sftpOf(client);
    await expect(sftpOf(client)).rejects.toThrow();
    const closed = once(first.raw, 'close');
    first.raw.end();
    await closed;
    await sftpOf(client);
  });

  test('connections, and those without a user from one address', async () => {
    await here.restart({
      connections: limiterFor('ssh', { total: 4 }),
      startups: { start: 8, rate: 30, full: 16, perBlock: 2 },
    });
    const plain = async () => {
      const socket = net.connect(here.address().port, here.address().host);
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
    for (let i = 0; i < 4; i++) {
      // The gateway notices a moment later that those have disconnected.
      await expect.poll(() => here.connect().then(() => 'in', String)).toBe('in');
    }
    await expect(here.connect()).rejects.toThrow();
  });

  test('silent clients of a few addresses block no others', async () => {
    await here.restart({ random: () => 0 });
    const silent: net.Socket[] = [];
    for (let i = 0; i < 64; i++) {
      const socket = net.connect({ ...here.address(), localAddress: `127.0.1.${1 + (i % 4)}` });
      socket.on('error', () => {});
      socket.resume();
      silent.push(socket);
      await once(socket, 'connect');
    }
    await here.signIn({ localAddress: '127.0.0.9' });
    for (const socket of silent) socket.destroy();
  });

  test('attempts to sign in', async () => {
    await here.restart({ limits: { authAttempts: 3 } });
    const keys = Array.from({ length: 6 }, () => makeKey().private);
    const before = here.asked();
    const client = new ssh2.Client();
    here.clients.push(client);
    client.on('error', () => {});
    const closed = once(client, 'close');
    client.connect({
      ...here.address(),
      username: 'shop',
      authHandler: keys.map((key) => ({ type: 'publickey' as const, username: 'shop', key })),
    });
    await closed;
    expect(here.asked() - before).toBe(3);
  });

  test('the sign-in timeout and the idle timeout', async () => {
    await here.restart({ limits: { loginGraceMs: 300 } });
    const closed = ['', 'SSH-2.0-slow\r\n'].map((version) => {
      const socket = net.connect(here.address().port, here.address().host);
      socket.write(version);
      socket.resume();
      return once(socket, 'close');
    });
    await Promise.all(closed);
    await here.restart({ limits: { idleMs: 3_000 } });
    const client = await here.connect();
    const left = once(client, 'close');
    const sftp = await sftpOf(client);
    for (let i = 0; i < 4; i++) {
      await sleep(1_000);
      await sftp.stat('/');
    }
    await left;
  });

  test.runIf(process.platform === 'linux')(
    'a client that sends requests without reading takes no memory, and is answered once it reads',
    async () => {
      fs.writeFileSync(here.hostFile('large'), randomBytes(1024 * 1024));
      const client = await here.connect();
      const sftp = await sftpOf(client);
      const handle = await sftp.open('/large', 'r');
      const socket: net.Socket = Reflect.get(client, '_sock');
      socket.pause();
      const before = bytesRead();
      const reads = Array.from({ length: READS }, (_, i) => sftp.read(handle, (i % 32) * 32_768, 32_768));
      // Only data read from the file can be in memory.
      await expect.poll(() => bytesRead() - before).toBeGreaterThan(MEGABYTE);
      await sleep(300);
      expect(bytesRead() - before).toBeLessThan(12 * MEGABYTE);
      socket.resume();
      const bytes = (await Promise.all(reads)).reduce((sum, part) => sum + part.length, 0);
      expect(bytes).toBe(READS * 32_768);
    },
  );

  test('a client that floods requests is cut off', async () => {
    const client = await here.connect();
    const sftp = await sftpOf(client);
    const handle = await sftp.open('/index.html', 'r');
    const socket: net.Socket = Reflect.get(client, '_sock');
    socket.pause();
    fs.truncateSync(here.hostFile('index.html'), 10 * 1024 * 1024);
    for (let i = 0; i < 9_000; i++) sftp.read(handle, 0, 32_768).catch(() => {});
    await sleep(300);
    socket.resume();
    await once(client, 'close');
  });
});

describe('clients that vanish', () => {
  test('leave no file open, whether they disconnect, crash or break the protocol', async () => {
    for (let i = 0; i < 5; i++) {
      const client = await here.connect();
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
    await expect.poll(() => openFilesIn(here.base)).toEqual([]);
  });

  test('random bytes on the port harm no other client', async () => {
    const sftp = await here.signIn();
    for (const noise of [
      randomBytes(10_000),
      Buffer.from('GET / HTTP/1.1\r\n\r\n'),
      Buffer.from('SSH-2.0-x\r\n\0\0\0\0'),
      Buffer.concat([Buffer.from('SSH-2.0-x\r\n'), randomBytes(5_000)]),
    ]) {
      const socket = net.connect(here.address().port, here.address().host);
      socket.on('error', () => {});
      socket.resume();
      socket.end(noise);
      await once(socket, 'close');
    }
    expect((await sftp.readFile('/index.html')).toString()).toBe('<h1>shop</h1>');
  });

  test('stopping ends them', async () => {
    const client = await here.connect();
    await sftpOf(client);
    const closed = once(client, 'close');
    const idle = net.connect(here.address().port, here.address().host);
    idle.on('error', () => {});
    await once(idle, 'data');
    await here.stop();
    await closed;
    await here.stop();
    await here.start();
  });
});
