import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { visit } from '../../../test/edge.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { signedIn } from '../../../test/portal-client.ts';
import { NOT_FOUND } from '../../../test/refusal.ts';
import { operatorFor } from '../../access/caller.ts';
import { type ManualClock, manualClock, timestamp } from '../../clock.ts';
import { NotFound } from '../../failures.ts';
import { serveMachine } from '../../hosting/remote/embedded-machine.fixture.ts';

let homeport: TestHomeport;
let clock: ManualClock;
let accountId: string;
let owner: Person;
let install: { id: string; name: string };

beforeAll(async () => {
  clock = manualClock(new Date());
  homeport = await startTestHomeport({ clock });
  ({ accountId, owner } = await homeport.ownedAccount());
  install = await homeport.install(owner, accountId);
});
afterAll(() => homeport.remove());

const operations = (id = install.id, person = owner) =>
  homeport.services.operations.list(operatorFor(person.userId), id);
const connection = (id = install.id, person = owner) =>
  homeport.services.operations.connection(operatorFor(person.userId), id);
const request = (id: string) =>
  owner.client.post(`/installs/${id}/backups`, { description: 'x', notification_emails: ['a@b.example'] });

describe('the operations of an install', () => {
  it('are what was done to it, the latest first, and nothing of others', async () => {
    const other = await homeport.install(owner, accountId);
    await request(other.id);
    clock.advance(1_000);
    await homeport.idle();
    const { results } = await operations(other.id);
    expect(results).toEqual([
      {
        id: expect.any(String),
        kind: 'create_backup',
        cache: null,
        state: 'succeeded',
        attempt: 1,
        reason: null,
        created_at: expect.any(String),
        started_at: expect.any(String),
        finished_at: expect.any(String),
      },
      expect.objectContaining({ kind: 'provision_install', state: 'succeeded' }),
    ]);
    expect((await operations()).results).toMatchObject([{ kind: 'provision_install' }]);
  });

  it('tell why one failed, in the customer’s words, and that it waits for another attempt', async () => {
    const broken = await homeport.install(owner, accountId);
    const files = join(homeport.config.dataDir, 'host', 'installs', broken.id, 'files');
    renameSync(files, `${files}.aside`);
    await request(broken.id);
    await homeport.idle();
    const [backup] = (await operations(broken.id)).results;
    expect(backup).toMatchObject({ kind: 'create_backup', reason: expect.stringMatching(/^[A-Z].*\.$/) });
    expect(['queued', 'failed']).toContain(backup?.state);
    expect(backup?.reason).not.toContain(homeport.config.dataDir);
  });

  it('are at most fifty, under way or finished', async () => {
    const busy = await homeport.install(owner, accountId);
    const later = timestamp(clock, 24 * 60 * 60_000);
    await homeport.platform.database.write(async ({ queries }) => {
      for (let n = 0; n < 55; n++) {
        const isFinished = n % 2 === 0;
        await queries
          .insertInto('jobs')
          .values({
            id: crypto.randomUUID(),
            kind: 'apply_install',
            lane: busy.id,
            payload: '{}',
            state: isFinished ? 'succeeded' : 'queued',
            attempt: n,
            max_attempts: 99,
            run_at: later,
            request_id: null,
            created_at: later,
            lease_until: null,
            worker_id: null,
            error: null,
            started_at: null,
            finished_at: isFinished ? later : null,
          })
          .execute();
      }
    });
    const { results } = await operations(busy.id);
    expect(results.map(({ attempt }) => attempt)).toEqual(Array.from({ length: 50 }, (_, n) => 54 - n));
  });

  it('tell when what is limited may be asked for again', async () => {
    const limited = await homeport.install(owner, accountId);
    expect((await operations(limited.id)).next).toEqual({ purge_object: null, check_status: null });
    expect((await owner.client.post(`/installs/${limited.id}/purge_cache`, { type: 'object' })).status).toBe(
      202,
    );
    expect((await operations(limited.id)).next).toEqual({
      purge_object: timestamp(clock, 60_000),
      check_status: null,
    });
    clock.advance(60_000);
    expect((await operations(limited.id)).next.purge_object).toBeNull();
  });

  it('say which cache is emptied', async () => {
    const { id } = await homeport.install(owner, accountId);
    for (const type of ['page', 'cdn']) {
      expect((await owner.client.post(`/installs/${id}/purge_cache`, { type })).status).toBe(202);
    }
    expect((await operations(id)).results).toMatchObject([
      { kind: 'purge_cache', cache: 'cdn' },
      { kind: 'purge_cache', cache: 'page' },
      { kind: 'provision_install', cache: null },
    ]);
  });

  it('are shown to whoever sees the install', async () => {
    const given = await homeport.person(accountId, 'partial', [install.id]);
    expect((await operations(install.id, given)).results).toHaveLength(1);
    for (const person of [
      await homeport.person(accountId, 'partial'),
      (await homeport.ownedAccount()).owner,
    ]) {
      await expect(operations(install.id, person)).rejects.toBeInstanceOf(NotFound);
      await expect(connection(install.id, person)).rejects.toBeInstanceOf(NotFound);
    }
    await expect(operations(crypto.randomUUID())).rejects.toBeInstanceOf(NotFound);
  });
});

describe('the portal', () => {
  it('shows operations, connection and what a new install can be given', async () => {
    const portal = await signedIn(homeport, owner);
    const fresh = await homeport.install(owner, accountId);
    expect(await portal.get(`/installs/${fresh.id}/operations`)).toMatchObject({
      status: 200,
      body: { results: [{ kind: 'provision_install' }], next: { purge_object: null, check_status: null } },
    });
    expect(await portal.get(`/installs/${fresh.id}/connection`)).toMatchObject({
      status: 200,
      body: { connection: { username: fresh.name, shell: false } },
    });
    expect(await portal.get('/install_options')).toMatchObject({
      status: 200,
      body: { php_versions: [], site_domain: 'localhost' },
    });
    for (const path of ['operations', 'connection']) {
      expect(await portal.get(`/installs/${crypto.randomUUID()}/${path}`)).toMatchObject(NOT_FOUND);
    }
    await homeport.platform.database.write(({ queries }) =>
      queries.updateTable('installs').set({ status: 'failed' }).where('id', '=', fresh.id).execute(),
    );
    expect((await portal.get(`/installs/${fresh.id}/connection`)).body).toEqual({ connection: null });
  });
});

describe('the connection of an install', () => {
  it('is that of the host in this process, on the ports that it has', async () => {
    const { hosting } = homeport;
    expect(await connection()).toEqual({
      host: 'localhost',
      port: hosting?.ssh.port,
      username: install.name,
      shell: false,
      http_url: `http://${install.name}.localhost:${hosting?.edgeHttp.port}/`,
      https_url: `https://${install.name}.localhost:${hosting?.edgeHttps.port}/`,
    });
    expect((await visit(homeport, (await connection())?.http_url ?? '')).status).toBe(200);
  });

  it('names the primary domain', async () => {
    const name = `${install.name}.example`;
    await owner.client.post(`/installs/${install.id}/domains`, { name, primary: true });
    expect((await connection())?.https_url).toBe(`https://${name}:${homeport.hosting?.edgeHttps.port}/`);
  });

  it('is not known to a process beside the host, unless the settings tell', async () => {
    const roles = { api: true, hosting: false };
    const beside = (environment: Record<string, string>) =>
      startTestHomeport({ place: homeport.place, roles, environment });
    const unknowing = await beside({});
    const knowing = await beside({
      HOMEPORT_EDGE_HTTP: '127.0.0.1:80',
      HOMEPORT_EDGE_HTTPS: '127.0.0.1:443',
      HOMEPORT_SSH_LISTEN: '127.0.0.1:2222',
    });
    const ask = ({ services }: TestHomeport) =>
      services.operations.connection(operatorFor(owner.userId), install.id);
    expect(await ask(unknowing)).toBeNull();
    expect(await ask(knowing)).toMatchObject({ host: 'localhost', port: 2222, shell: false });
    await unknowing.remove();
    await knowing.remove();
  });

  it('is none for an install that could not be made', async () => {
    const failed = await homeport.install(owner, accountId);
    await homeport.platform.database.write(({ queries }) =>
      queries.updateTable('installs').set({ status: 'failed' }).where('id', '=', failed.id).execute(),
    );
    expect(await connection(failed.id)).toBeNull();
  });
});

describe('what a new install can be given', () => {
  it('is no PHP where websites are files', async () => {
    expect(await homeport.services.operations.options()).toEqual({
      php_versions: [],
      site_domain: 'localhost',
    });
  });
});

describe('on Linux hosts', () => {
  it('an install is reached where its machine is, with a shell; the fleet says which PHP there is, and why none could be made', async () => {
    const machine = await serveMachine({ phpVersions: ['8.2', '8.4'] });
    const linux = await startTestHomeport({
      environment: { HOMEPORT_HOST: 'linux', HOMEPORT_HOST_RUN_FOLDER: machine.runFolder },
    });
    const { operations: ofLinux } = linux.services;
    const { accountId: account, owner: person } = await linux.ownedAccount();
    const caller = operatorFor(person.userId);
    expect(await ofLinux.options()).toEqual({ php_versions: ['8.4', '8.2'], site_domain: 'localhost' });
    const placed = await linux.install(person, account);
    const { ports } = machine.description;
    expect(await ofLinux.connection(caller, placed.id)).toEqual({
      host: 'localhost',
      port: ports.ssh,
      username: placed.name,
      shell: true,
      http_url: `http://${placed.name}.localhost:${ports.http}/`,
      https_url: `https://${placed.name}.localhost:${ports.https}/`,
    });
    await linux.platform.database.write(({ queries }) =>
      queries.updateTable('installs').set({ host_id: null }).where('id', '=', placed.id).execute(),
    );
    expect(await ofLinux.connection(caller, placed.id)).toBeNull();

    machine.description.phpVersions = ['8.2'];
    const doomed = await linux.install(person, account, { php_version: '8.4' });
    expect((await person.client.get(`/installs/${doomed.id}`)).body).toMatchObject({ status: 'failed' });
    expect((await ofLinux.list(caller, doomed.id)).results).toMatchObject([
      { kind: 'provision_install', state: 'failed', reason: expect.stringMatching(/no 8\.4/) },
    ]);
    expect(await ofLinux.connection(caller, doomed.id)).toBeNull();
    await linux.remove();
    await machine.close();
  });
});
