import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { text } from '../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { mostlyOn } from '../../../../test/only-on.ts';
import { signedIn } from '../../../../test/portal-client.ts';
import { NOT_FOUND } from '../../../../test/refusal.ts';
import { operatorFor } from '../../../access/caller.ts';
import { serveMachine } from '../../../hosting/remote/embedded-machine.fixture.ts';
import { timestamp } from '../../../lib/clock.ts';
import { DAY_MS } from '../../../lib/durations.ts';
import { NotFound } from '../../../lib/failures.ts';

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
  homeport.services.installOperations.list(operatorFor(person.userId), id);
const request = (id: string) =>
  owner.client.post(`/installs/${id}/backups`, { description: 'x', notification_emails: ['a@b.example'] });

describe('the operations of an install', () => {
  mostlyOn('sqlite', it)('are its own, latest first', async () => {
    const other = await homeport.install(owner, accountId);
    await request(other.id);
    clock.advance(1_000);
    await homeport.idle();
    const { results } = await operations(other.id);
    expect(results).toEqual([
      {
        id: expect.any(String),
        kind: 'backup.create',
        account_id: accountId,
        install: { id: other.id, name: other.name },
        cancellable: false,
        retryable: false,
        progress: expect.objectContaining({ step: null, unit: 'bytes' }),
        result: { backup_id: expect.any(String) },
        cache: null,
        pages: null,
        backup: { id: expect.any(String), description: 'x', created_at: expect.any(String) },
        domain: null,
        copy: null,
        status: 'succeeded',
        attempt: 1,
        error: null,
        created_at: expect.any(String),
        started_at: expect.any(String),
        finished_at: expect.any(String),
      },
      expect.objectContaining({ kind: 'install.create', status: 'succeeded' }),
    ]);
    expect((await operations()).results).toMatchObject([{ kind: 'install.create' }]);
  });

  it('name the domain of a certificate order until it is deleted', async () => {
    const { id } = await homeport.install(owner, accountId);
    const { body } = await owner.client.post(`/installs/${id}/domains`, { name: 'ordered.example' });
    const path = `/installs/${id}/domains/${text(body, 'id')}`;
    await homeport.idle();
    expect((await owner.client.post(`${path}/ssl_certificate`)).status).toBe(202);
    await homeport.idle();
    const order = { kind: 'certificate.order', status: 'failed', cancellable: false };
    const domain = { id: text(body, 'id'), name: 'ordered.example' };
    const listed = await operations(id);
    expect(listed.results[0]).toMatchObject({ ...order, domain });
    expect(listed.next.order_certificate).not.toBeNull();
    expect((await owner.client.delete(path)).status).toBe(204);
    await homeport.idle();
    expect((await operations(id)).results).toContainEqual(
      expect.objectContaining({ ...order, domain: null }),
    );
  });

  it('show a backup only to users who see its install', async () => {
    const target = await homeport.install(owner, accountId);
    const source = await homeport.install(owner, accountId);
    await request(source.id);
    clock.advance(1_000);
    await homeport.idle();
    const caller = operatorFor(owner.userId);
    const { backups } = homeport.services;
    const { results } = await backups.list(caller, source.id, { limit: 1, offset: 0 });
    await backups.restore(caller, source.id, results[0]?.id ?? '', {
      into: target.id,
      parts: { files: true, database: true, tables: null },
      checkpoint: false,
      notification_emails: [],
    });
    await homeport.idle();
    const given = await homeport.person(accountId, 'partial', [target.id]);
    const shown = async (person: Person) => (await operations(target.id, person)).results[0];
    expect(await shown(owner)).toMatchObject({ kind: 'backup.restore', backup: { description: 'x' } });
    expect(await shown(given)).toMatchObject({ kind: 'backup.restore', backup: null });
  });

  mostlyOn('sqlite', it)(
    'give the reason of a failure in the customer’s words, and show a pending retry',
    async () => {
      const broken = await homeport.install(owner, accountId);
      const files = join(homeport.config.dataDir, 'host', 'installs', broken.id, 'files');
      renameSync(files, `${files}.aside`);
      await request(broken.id);
      await homeport.idle();
      const [backup] = (await operations(broken.id)).results;
      expect(backup).toMatchObject({
        kind: 'backup.create',
        error: { message: expect.stringMatching(/^[A-Z].*\.$/) },
      });
      expect(['queued', 'failed']).toContain(backup?.status);
      expect(backup?.error?.message).not.toContain(homeport.config.dataDir);
    },
  );

  mostlyOn('sqlite', it)('are at most fifty, unfinished or finished', async () => {
    const busy = await homeport.install(owner, accountId);
    const later = timestamp(clock, DAY_MS);
    await homeport.platform.database.write(async ({ queries }) => {
      for (let n = 0; n < 55; n++) {
        const isFinished = n % 2 === 0;
        const id = crypto.randomUUID();
        await queries
          .insertInto('jobs')
          .values({
            id,
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
        await queries
          .insertInto('operations')
          .values({
            id,
            kind: 'install.apply',
            job_id: id,
            account_id: accountId,
            install_id: busy.id,
            install_name: busy.name,
            result: null,
            created_at: later,
          })
          .execute();
      }
    });
    const { results } = await operations(busy.id);
    expect(results.map(({ attempt }) => attempt)).toEqual(Array.from({ length: 50 }, (_, n) => 54 - n));
  });

  mostlyOn('sqlite', it)('include the time at which rate-limited ones are allowed again', async () => {
    const limited = await homeport.install(owner, accountId);
    expect((await operations(limited.id)).next).toEqual({
      purge_object: null,
      check_status: null,
      verify_domain: null,
      order_certificate: null,
    });
    expect((await owner.client.post(`/installs/${limited.id}/purge_cache`, { type: 'object' })).status).toBe(
      202,
    );
    expect((await operations(limited.id)).next).toEqual({
      purge_object: timestamp(clock, 60_000),
      check_status: null,
      verify_domain: null,
      order_certificate: null,
    });
    clock.advance(60_000);
    expect((await operations(limited.id)).next.purge_object).toBeNull();
  });

  mostlyOn('sqlite', it)('name the purged pages', async () => {
    const { id } = await homeport.install(owner, accountId);
    await owner.client.post(`/installs/${id}/purge_cache`, { type: 'page', paths: ['/a/', '/b/?c'] });
    expect((await operations(id)).results[0]).toMatchObject({
      cache: 'page',
      pages: { count: 2, first: '/a/' },
    });
  });

  mostlyOn('sqlite', it)('name the purged cache', async () => {
    const { id } = await homeport.install(owner, accountId);
    for (const type of ['page', 'cdn']) {
      expect((await owner.client.post(`/installs/${id}/purge_cache`, { type })).status).toBe(202);
    }
    expect((await operations(id)).results).toMatchObject([
      { kind: 'cache.purge', cache: 'cdn' },
      { kind: 'cache.purge', cache: 'page' },
      { kind: 'install.create', cache: null },
    ]);
  });

  mostlyOn('sqlite', it)('are visible to everyone who sees the install', async () => {
    const given = await homeport.person(accountId, 'partial', [install.id]);
    expect((await operations(install.id, given)).results).toHaveLength(1);
    for (const person of [
      await homeport.person(accountId, 'partial'),
      (await homeport.ownedAccount()).owner,
    ]) {
      await expect(operations(install.id, person)).rejects.toBeInstanceOf(NotFound);
    }
    await expect(operations(crypto.randomUUID())).rejects.toBeInstanceOf(NotFound);
  });
});

mostlyOn('sqlite', describe)('the portal', () => {
  it('shows operations and the options of a new install', async () => {
    const portal = await signedIn(homeport, owner);
    const fresh = await homeport.install(owner, accountId);
    expect(await portal.get(`/installs/${fresh.id}/operations`)).toMatchObject({
      status: 200,
      body: {
        results: [{ kind: 'install.create' }],
        next: { purge_object: null, check_status: null, verify_domain: null, order_certificate: null },
        // File websites have no object cache, and this platform has no CDN.
        caches: ['page'],
      },
    });
    expect(await portal.get('/install_options')).toMatchObject({
      status: 200,
      body: { php_versions: [], runtimes: ['static'], site_domain: 'localhost' },
    });
    expect(await portal.get(`/installs/${crypto.randomUUID()}/operations`)).toMatchObject(NOT_FOUND);
  });
});

mostlyOn('sqlite', describe)('the options of a new install', () => {
  it('have no PHP on a host that serves files', async () => {
    expect(await homeport.services.installOperations.options()).toEqual({
      php_versions: [],
      runtimes: ['static'],
      site_domain: 'localhost',
    });
  });
});

mostlyOn('sqlite', describe)('on Linux hosts', () => {
  it('the fleet reports its PHP versions, and why provisioning failed', async () => {
    const machine = await serveMachine({ phpVersions: ['8.2', '8.4'] });
    const linux = await startTestHomeport({
      environment: { HOMEPORT_HOST: 'linux', HOMEPORT_HOST_RUN_FOLDER: machine.runFolder },
    });
    const { installOperations: ofLinux } = linux.services;
    const { accountId: account, owner: person } = await linux.ownedAccount();
    const caller = operatorFor(person.userId);
    expect(await ofLinux.options()).toEqual({
      php_versions: ['8.4', '8.2'],
      runtimes: ['wordpress'],
      site_domain: 'localhost',
    });
    machine.description.phpVersions = ['8.2'];
    const doomed = await linux.install(person, account, { php_version: '8.4' });
    expect((await person.client.get(`/installs/${doomed.id}`)).body).toMatchObject({ status: 'failed' });
    expect((await ofLinux.list(caller, doomed.id)).results).toMatchObject([
      { kind: 'install.create', status: 'failed', error: { message: expect.stringMatching(/no 8\.4/) } },
    ]);
    await linux.remove();
    await machine.close();
  });
});
