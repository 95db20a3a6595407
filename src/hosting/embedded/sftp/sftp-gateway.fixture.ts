import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import ssh2, { type Client, type ConnectConfig } from 'ssh2';
import { limiterFor } from '../../../../test/connections.ts';
import { manualClock } from '../../../../test/manual-clock.ts';
import { newSshKey } from '../../../../test/ssh-key.ts';
import { NO_LIMITS } from '../../contract/install-limits.ts';
import type { SshLogin } from '../../contract/questions.ts';
import { measureFiles } from '../snapshots/measure-files.ts';
import { createDiskQuotas } from './disk-quota.ts';
import { promised, type Sftp } from './sftp-client.fixture.ts';
import { createSftpGateway, type SftpGateway, type SftpGatewayOptions } from './sftp-gateway.ts';

export const shop = { id: randomUUID(), name: 'shop' };
export const blog = { id: randomUUID(), name: 'blog' };
/** May sign in as `shop`. */
export const ada = makeKey();
/** May sign in as `blog`. */
export const eve = makeKey();

export function makeKey(type: 'ed25519' | 'rsa' | 'ecdsa' = 'ed25519') {
  const pair = newSshKey(type);
  const blob = Buffer.from(pair.public.split(' ')[1] ?? '', 'base64');
  const fingerprint = createHash('sha256').update(blob).digest('base64').replace(/=+$/, '');
  return { ...pair, fingerprint };
}

export type SftpPlace = Awaited<ReturnType<typeof startSftpPlace>>;

/** A gateway to the files of two installs, with clients. */
export async function startSftpPlace() {
  const base = fs.mkdtempSync(join(tmpdir(), 'sftp-'));
  for (const { id, name } of [shop, blog]) {
    fs.mkdirSync(join(base, id));
    fs.writeFileSync(join(base, id, 'index.html'), `<h1>${name}</h1>`);
  }
  fs.writeFileSync(join(base, 'secret'), 'of the platform');
  const clock = manualClock();
  const logins = new Map<string, SshLogin>([
    [`shop ${ada.fingerprint}`, { install: shop, userId: 'ada' }],
    [`blog ${eve.fingerprint}`, { install: blog, userId: 'eve' }],
  ]);
  const clients: Client[] = [];
  let asked = 0;
  const filesOf = (id: string) => join(base, id);
  const optionsOf = (more: Partial<SftpGatewayOptions>): SftpGatewayOptions => ({
    listen: { host: '127.0.0.1', port: 0 },
    hostKeyFile: join(base, 'host-key'),
    filesOf,
    quotas: createDiskQuotas({
      measure: (id) => measureFiles(filesOf(id), NO_LIMITS),
      limits: NO_LIMITS,
      clock,
    }),
    questions: {
      async sshLogin(name, fingerprint) {
        asked += 1;
        return logins.get(`${name} ${fingerprint}`) ?? null;
      },
    },
    connections: limiterFor('ssh', { total: 256, perBlock: 64 }),
    log: pino({ level: 'silent' }),
    clock,
    ...more,
  });
  let gateway: SftpGateway = createSftpGateway(optionsOf({}));
  let address = await gateway.start();

  async function start(more: Partial<SftpGatewayOptions> = {}): Promise<void> {
    gateway = createSftpGateway(optionsOf(more));
    address = await gateway.start();
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
    // The client writes a packet in pieces. Without this, the second piece would wait for the acknowledgement of the first.
    client.setNoDelay(true);
    return client;
  }

  return {
    /** The folder of everything here; each install's files are in a folder named by its id. */
    base,
    clock,
    /** The name that each key may sign in as. */
    logins,
    /** Clients disconnected at the end of the test. */
    clients,
    /** The number of access checks. */
    asked: () => asked,
    address: () => address,
    filesOf,
    hostFile: (path: string, install = shop) => join(base, install.id, path),
    start,
    stop: () => gateway.stop(),
    async restart(more: Partial<SftpGatewayOptions>): Promise<void> {
      await gateway.stop();
      await start(more);
    },
    /** As `ada` by default. */
    connect,
    signIn: async (more: ConnectConfig = {}): Promise<Sftp> => sftpOf(await connect(more)),
    async remove(): Promise<void> {
      for (const client of clients) client.destroy();
      await gateway.stop();
      fs.rmSync(base, { recursive: true });
    },
  };
}

export function sftpOf(client: Client): Promise<Sftp> {
  return new Promise((resolve, reject) => {
    client.sftp((error, sftp) => (error ? reject(error) : resolve(promised(sftp))));
  });
}
