import { once } from 'node:events';
import fs from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import ssh2, { type ConnectConfig } from 'ssh2';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { limiterFor } from '../../../../test/connections.ts';
import { NO_LIMITS } from '../../contract/install-limits.ts';
import { measureFiles } from '../snapshots/measure-files.ts';
import { createDiskQuotas } from './disk-quota.ts';
import { codeOf } from './sftp-client.fixture.ts';
import {
  ada,
  blog,
  eve,
  makeKey,
  type SftpPlace,
  sftpOf,
  shop,
  startSftpPlace,
} from './sftp-gateway.fixture.ts';
import { createSftpGateway } from './sftp-gateway.ts';

const { STATUS_CODE } = ssh2.utils.sftp;

let here: SftpPlace;
beforeEach(async () => {
  here = await startSftpPlace();
});
afterEach(() => here.remove());

describe('signing in', () => {
  test.each(['ed25519', 'rsa', 'ecdsa'] as const)('with a key of type %s', async (type) => {
    const key = makeKey(type);
    here.logins.set(`shop ${key.fingerprint}`, { install: shop, userId: 'x' });
    const sftp = await here.signIn({ privateKey: key.private });
    expect((await sftp.readFile('/index.html')).toString()).toBe('<h1>shop</h1>');
  });

  test('a wrong key, a wrong name, a password or nothing is refused', async () => {
    const refused = /All configured authentication methods failed/;
    await expect(here.connect({ privateKey: eve.private })).rejects.toThrow(refused);
    await expect(here.connect({ username: 'blog' })).rejects.toThrow(refused);
    await expect(here.connect({ username: 'nobody' })).rejects.toThrow(refused);
    await expect(here.connect({ privateKey: undefined, password: 'x' } as ConnectConfig)).rejects.toThrow(
      refused,
    );
    await expect(here.connect({ username: shop.id })).rejects.toThrow(refused);
  });

  test('a signature by another key is refused, even if the offered key is authorized', async () => {
    const adas = ssh2.utils.parseKey(ada.private);
    const eves = ssh2.utils.parseKey(eve.private);
    if (adas instanceof Error || eves instanceof Error) throw new Error('bad key');
    const forged = Object.create(adas, {
      sign: { value: (data: Buffer, hash?: string) => eves.sign(data, hash) },
    });
    await expect(here.connect({ privateKey: forged })).rejects.toThrow(/authentication methods failed/);
  });

  test('is refused while authorization cannot be checked', async () => {
    await here.restart({
      questions: {
        sshLogin: () => Promise.reject(new Error('the database is away')),
      },
    });
    await expect(here.connect()).rejects.toThrow(/authentication methods failed/);
  });

  test('the host key is created once, readable by its owner only, and kept', async () => {
    const seen: string[] = [];
    const hostVerifier = (key: Buffer) => {
      seen.push(key.toString('base64'));
      return true;
    };
    await here.connect({ hostVerifier });
    const file = join(here.base, 'host-key');
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
    fs.chmodSync(file, 0o644);
    await here.restart({});
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
    await here.connect({ hostVerifier });
    expect(new Set(seen).size).toBe(1);
    expect(seen[0]?.startsWith(Buffer.from('\0\0\0\x0bssh-ed25519').toString('base64').slice(0, 18))).toBe(
      true,
    );
    fs.writeFileSync(file, 'no key');
    await here.stop();
    await expect(here.start()).rejects.toThrow(/holds no private SSH key/);
    expect(fs.readFileSync(file, 'utf8')).toBe('no key');
    fs.rmSync(file);
    await here.start();
  });

  test('an address in use is reported in one sentence', async () => {
    const second = createSftpGateway({
      listen: here.address(),
      hostKeyFile: join(here.base, 'host-key'),
      filesOf: (id) => id,
      quotas: createDiskQuotas({
        measure: (id) => measureFiles(id, NO_LIMITS),
        limits: NO_LIMITS,
        clock: here.clock,
      }),
      questions: { sshLogin: async () => null },
      connections: limiterFor('ssh'),
      log: pino({ level: 'silent' }),
      clock: here.clock,
    });
    await expect(second.start()).rejects.toThrow(
      /^SFTP cannot be served on 127\.0\.0\.1:\d+: another program uses this port/,
    );
  });
});

describe('when access ends', () => {
  test('nothing new is opened, and the connection ends', async () => {
    const client = await here.connect();
    const sftp = await sftpOf(client);
    expect(await codeOf(sftp.stat('/'))).toBe('succeeded');
    here.logins.clear();
    const closed = once(client, 'close');
    expect(await codeOf(sftp.readFile('/index.html'))).not.toBe('succeeded');
    await closed;
    await expect(here.connect()).rejects.toThrow(/authentication methods failed/);
  });

  test('a transfer is cut within a second, and later requests are not executed', async () => {
    const client = await here.connect();
    const sftp = await sftpOf(client);
    const handle = await sftp.open('/t', 'w');
    await sftp.write(handle, 0, 'before');
    here.logins.delete(`shop ${ada.fingerprint}`);
    here.clock.advance(999);
    await sftp.write(handle, 6, ' still');
    here.clock.advance(1);
    const closed = once(client, 'close');
    const late = Array.from({ length: 20 }, (_, i) => codeOf(sftp.write(handle, 12 + i, 'x')));
    expect(await Promise.all(late)).not.toContain('succeeded');
    await closed;
    expect(fs.readFileSync(here.hostFile('t'), 'utf8')).toBe('before still');
  });

  test('access also ends if the name or key now belongs to another install or user', async () => {
    const first = await here.signIn();
    here.logins.set(`shop ${ada.fingerprint}`, { install: blog, userId: 'ada' });
    expect(await codeOf(first.readFile('/index.html'))).not.toBe('succeeded');
    here.logins.set(`shop ${ada.fingerprint}`, { install: shop, userId: 'ada' });
    const second = await here.signIn();
    here.logins.set(`shop ${ada.fingerprint}`, { install: shop, userId: 'eve' });
    expect(await codeOf(second.stat('/'))).not.toBe('succeeded');
  });

  test('transfers check access about once a second, not for every block', async () => {
    const sftp = await here.signIn();
    const handle = await sftp.open('/t', 'w');
    const before = here.asked();
    for (let i = 0; i < 50; i++) await sftp.write(handle, i, 'x');
    expect(here.asked()).toBe(before);
    here.clock.advance(1_000);
    for (let i = 0; i < 50; i++) await sftp.write(handle, i, 'x');
    expect(here.asked()).toBe(before + 1);
  });

  test('while access cannot be checked, no request is executed and the connection stays open', async () => {
    let isAway = false;
    await here.restart({
      questions: {
        async sshLogin() {
          if (isAway) throw new Error('the database is away');
          return { install: shop, userId: 'ada' };
        },
      },
    });
    const sftp = await here.signIn();
    isAway = true;
    expect(await codeOf(sftp.readFile('/index.html'))).toBe(STATUS_CODE.FAILURE);
    isAway = false;
    expect((await sftp.readFile('/index.html')).toString()).toBe('<h1>shop</h1>');
  });
});
