import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPlatform } from '../../src/app/open-platform.ts';
import { readConfig } from '../../src/config/config.ts';
import { createHostService } from '../../src/features/hosts/service.ts';
import { field, text } from '../client.ts';
import { type DatabasePlace, databasePlace, silent } from '../database.ts';
import { visit } from '../edge.ts';
import { installName, type Person, startTestHomeport, type TestHomeport } from '../homeport.ts';
import type { TestMachine } from './machine.ts';
import { createNamespace, type Namespace } from './namespaces.ts';
import { createPreparedMachine } from './prepared.ts';
import { tracesOf } from './traces.ts';

const CONTROL_PORT = 7443;

/** A host in its own network namespace, like another machine. */
interface FarHost {
  name: string;
  namespace: Namespace;
  machine: TestMachine;
  process: ChildProcess;
}

let folder: string;
let place: DatabasePlace;
let homeport: TestHomeport;
let owner: Person;
let accountId: string;
const hosts: FarHost[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-two-hosts-'));
  place = await databasePlace();
  // The control plane has no host at its own socket: this folder is empty.
  const environment = {
    HOMEPORT_HOST: 'linux',
    HOMEPORT_HOST_RUN_FOLDER: folder,
    HOMEPORT_SITE_DOMAIN: 'sites.test',
    HOMEPORT_DELETED_DAYS: '0',
  };
  const platform = await openPlatform(
    readConfig({ ...environment, HOMEPORT_DATA_DIR: place.settings.dataDir }),
    { log: silent },
  );
  const service = createHostService(platform);
  for (const name of ['east', 'west']) {
    const namespace = await createNamespace();
    const { identity } = await service.add(name, `https://${namespace.address}:${CONTROL_PORT}`);
    hosts.push(await startFarHost(name, namespace, identity));
  }
  for (const { namespace } of hosts) {
    const others = hosts.filter((other) => other.namespace !== namespace);
    for (const other of others) await namespace.reach(other.namespace);
  }
  await platform.database.close();
  homeport = await startTestHomeport({ environment, place });
  ({ accountId, owner } = await homeport.ownedAccount());
});

afterAll(async () => {
  await homeport?.remove();
  for (const { process: child, machine, namespace } of hosts) {
    if (child.exitCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    await machine.remove();
    await namespace.remove();
  }
  await place?.remove();
  await rm(folder, { recursive: true, force: true });
});

async function startFarHost(name: string, namespace: Namespace, identity: string): Promise<FarHost> {
  const file = join(folder, `${name}.pem`);
  await writeFile(file, identity, { mode: 0o600 });
  const machine = await createPreparedMachine({
    HOMEPORT_HOST_LISTEN: `${namespace.address}:${CONTROL_PORT}`,
    HOMEPORT_HOST_IDENTITY: file,
    HOMEPORT_EDGE_HTTP: `${namespace.address}:80`,
    HOMEPORT_EDGE_HTTPS: `${namespace.address}:443`,
    HOMEPORT_SSH_LISTEN: `${namespace.address}:22`,
    HOMEPORT_HOST_CAPACITY: '2',
  });
  const script = fileURLToPath(new URL('own-host.ts', import.meta.url));
  const [enter = '', ...rest] = [...namespace.enter, process.execPath, script, machine.instance];
  const child = spawn(enter, rest, {
    env: { PATH: process.env.PATH ?? '', ...machine.environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'exit').then(() => Promise.reject(new Error(`the host ${name} did not start`))),
  ]);
  return { name, namespace, machine, process: child };
}

const seen = ({ namespace }: FarHost, url: string, headers: Record<string, string> = {}) => {
  const at = (port: number) => ({ host: namespace.address, port });
  return visit({ hosting: { edgeHttp: at(80), edgeHttps: at(443), ssh: at(22) } }, url, headers);
};

const home = (host: FarHost, name: string) => seen(host, `http://${name}.sites.test/`);

async function install(): Promise<{ id: string; name: string; host: FarHost }> {
  const name = installName();
  const made = await owner.client.post('/installs', { name, account_id: accountId });
  expect(made.status).toBe(201);
  const id = text(made.body, 'id');
  await homeport.idle();
  expect((await owner.client.get(`/installs/${id}`)).body).toMatchObject({ status: 'active' });
  const { name: hostName } = await homeport.platform.database.reader
    .selectFrom('installs as install')
    .innerJoin('hosts as host', 'host.id', 'install.host_id')
    .select('host.name')
    .where('install.id', '=', id)
    .executeTakeFirstOrThrow();
  const host = hosts.find((candidate) => candidate.name === hostName);
  if (!host) throw new Error(`no host ${hostName}`);
  return { id, name, host };
}

test('new installs go to the emptiest host, each edge takes requests for all, and an unreachable host does not block others', async () => {
  const one = await install();
  const other = await install();
  expect(new Set([one.host.name, other.host.name])).toEqual(new Set(['east', 'west']));
  for (const { host, name } of [one, other]) {
    const page = await home(host, name);
    expect(page.status).toBe(200);
    expect(page.body).toContain('/wp-content/');
  }
  await until(async () => (await home(other.host, one.name)).status === 200);
  await visitAnywhere(one, other.host);

  const asked = await owner.client.post(`/installs/${one.id}/domains/${await domainOf(one.id)}/check_status`);
  expect(asked.status).toBe(202);
  await homeport.idle();
  const report = await owner.client.get(
    `/installs/${one.id}/domains/check_status/${text(asked.body, 'report_id')}`,
  );
  expect(field(report.body, 'report', 'domains', 0)).toMatchObject({ cluster_id: one.host.name });

  await home(other.host, other.name);
  expect((await home(other.host, other.name)).headers['x-cache']).toBe('HIT');
  await one.host.namespace.setLink('down');
  await owner.client.post(`/installs/${one.id}/purge_cache`, { type: 'page' });
  await owner.client.post(`/installs/${other.id}/purge_cache`, { type: 'page' });
  await until(async () => (await home(other.host, other.name)).headers['x-cache'] !== 'HIT');
  await one.host.namespace.setLink('up');

  for (const { id } of [one, other]) {
    expect((await owner.client.delete(`/installs/${id}`)).status).toBe(204);
  }
  await homeport.idle();
  for (const { machine } of hosts) expect(await tracesOf(machine)).toEqual([]);
});

/** Visits a website at the edge of a host that does not have it. */
async function visitAnywhere(
  website: { id: string; name: string; host: FarHost },
  at: FarHost,
): Promise<void> {
  const own = `${website.name}.sites.test`;
  const page = await home(at, website.name);
  expect(page.body).toContain('/wp-content/');
  const secure = await seen(at, `https://${own}/wp-includes/css/dashicons.min.css`);
  expect([secure.status, secure.certificateNames]).toEqual([200, `DNS:${own}`]);
  const made = await owner.client.post(`/installs/${website.id}/wordpress/login_links`, { user: 'admin' });
  const link = new URL(text(made.body, 'url'));
  const entered = await seen(at, `${link.protocol}//${own}${link.pathname}${link.search}`);
  expect(entered.status).toBe(302);
  const cookie = (entered.headers['set-cookie'] ?? []).map((line) => line.split(';')[0]).join('; ');
  const admin = await seen(at, `${link.protocol}//${own}/wp-admin/`, { cookie });
  expect([admin.status, admin.body.includes('wp-admin-bar-logout')]).toEqual([200, true]);
  const logged = async () => (await owner.client.get(`/installs/${website.id}/logs/access?limit=50`)).body;
  await until(async () => JSON.stringify(await logged()).includes(`"address":"${at.namespace.gateway}"`));
}

async function domainOf(installId: string): Promise<string> {
  return text((await owner.client.get(`/installs/${installId}/domains`)).body, 'results', 0, 'id');
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 60_000; Date.now() < end; ) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('the condition was not met within 60 s');
}
