import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { text } from '../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { type ManualClock, manualClock } from '../../../test/manual-clock.ts';
import { freePort } from '../../../test/servers/free-port.ts';
import { newSshKey } from '../../../test/ssh-key.ts';
import { type ServedMachine, serveMachine } from '../../hosting/remote/embedded-machine.fixture.ts';
import { parseIdentity } from '../../hosting/remote/identity.ts';
import { timestamp } from '../../lib/clock.ts';
import { HOUR_MS, MINUTE_MS } from '../../lib/durations.ts';
import { copyInstall, restoreBackup } from '../backups/jobs.ts';
import { backupPassword } from '../provisioning/host-questions.ts';
import { deleteInstalls, environment, jobsOf, row, startFleet } from './fleet.fixture.ts';

/** This machine's host with a capacity of two, and another reached by TLS. */
let local: ServedMachine;
let other: ServedMachine;
let homeport: TestHomeport;
let clock: ManualClock;
let accountId: string;
let owner: Person;

beforeAll(async () => {
  clock = manualClock(new Date());
  local = await serveMachine({ capacity: 2, reservedNames: ['www-data'] });
  other = await serveMachine({
    capacity: 50,
    phpVersions: ['8.2', '7.4'],
    wordpressVersions: ['6.1.9', '6.0'],
  });
  homeport = await startTestHomeport({ clock, environment: environment(local.runFolder) });
  ({ accountId, owner } = await homeport.ownedAccount());
});
afterEach(() => deleteInstalls(homeport, owner.client));
afterAll(async () => {
  await homeport?.remove();
  await local?.close();
  await other?.close();
});

/** Registers the other machine as an operator does. */
async function addOther(name = 'web2'): Promise<void> {
  const { services } = homeport;
  const present = (await services.hosts.list()).find((host) => host.name === name);
  if (present) return;
  // The machine takes its id from the identity, as `homeport host` does.
  const port = await freePort();
  const { identity } = await services.hosts.add(name, `https://127.0.0.1:${port}`);
  const parsed = parseIdentity(identity);
  other.description.id = parsed.hostId;
  await other.listenTls(parsed, port);
}

const install = (more: object = {}) => homeport.install(owner, accountId, more);

describe('two hosts', () => {
  beforeAll(() => addOther());

  it('get new installs by free capacity', async () => {
    const first = await install();
    const second = await install();
    const third = await install();
    const places = await Promise.all([first, second, third].map(({ id }) => row(homeport, id)));
    expect(places.every((place) => place?.status === 'active')).toBe(true);
    // The other one has a capacity of fifty.
    expect(places.at(-1)).toMatchObject({ host_id: other.description.id, php_version: '8.2' });
    const { id, name } = third;
    await other.write({ id }, 'index.html', 'on the other');
    expect((await other.http(`${name}.localhost`, '/')).text).toBe('on the other');
    expect((await local.http(`${name}.localhost`, '/')).status).toBe(404);

    await owner.client.delete(`/installs/${id}`);
    await homeport.idle();
    expect((await other.http(`${name}.localhost`, '/')).status).toBe(404);
  });

  it('are chosen by the versions they offer', async () => {
    const old = await install({ php_version: '7.4' });
    expect(await row(homeport, old.id)).toMatchObject({
      status: 'active',
      host_id: other.description.id,
      php_version: '7.4',
    });
    const newest = await install({ php_version: '8.4' });
    expect(await row(homeport, newest.id)).toMatchObject({
      host_id: local.description.id,
      php_version: '8.4',
    });
  });

  it('get no new installs while drained', async () => {
    await homeport.services.hosts.setAccepting('web2', false);
    const { id } = await install();
    expect(await row(homeport, id)).toMatchObject({ host_id: local.description.id });
    await homeport.services.hosts.setAccepting('web2', true);
  });

  it('reserve their own logins on themselves only', async () => {
    const owned = { name: 'www-data', account_id: accountId };
    const made = await owner.client.post('/installs', owned);
    expect(made.status).toBe(201);
    await homeport.idle();
    expect(await row(homeport, text(made.body, 'id'))).toMatchObject({
      status: 'active',
      host_id: other.description.id,
    });
    await homeport.services.hosts.setAccepting('web2', false);
    const refused = await owner.client.post('/installs', owned);
    expect(refused.status).toBe(400);
    await homeport.services.hosts.setAccepting('web2', true);
  });

  it('are not removed while they have installs', async () => {
    const { name } = await install({ php_version: '7.4' });
    await expect(homeport.services.hosts.remove('web2')).rejects.toThrow(
      'There is an install on the host "web2". Move or delete them first',
    );
    expect(name).toBeTruthy();
  });

  it('publish a challenge where the name is served, and everywhere for an unknown name', async () => {
    const { id, name } = await install({ php_version: '7.4' });
    const fleet = startFleet(homeport);
    await fleet.start();
    const path = '/.well-known/homeport-check/abcdef';
    const at = async (machine: ServedMachine, hostname: string) => (await machine.http(hostname, path)).text;
    const known = { hostname: `${name}.localhost`, path, text: 'known' };
    await fleet.publish(known);
    expect(await at(other, known.hostname)).toBe('known');
    expect(await at(local, known.hostname)).not.toBe('known');
    await fleet.withdraw(known);
    expect(await at(other, known.hostname)).not.toBe('known');

    await owner.client.post(`/installs/${id}/domains`, { name: '*.wild.example.com' });
    await homeport.idle();
    const below = { hostname: 'any.wild.example.com', path, text: 'below' };
    await fleet.publish(below);
    expect(await at(other, below.hostname)).toBe('below');
    expect(await at(local, below.hostname)).not.toBe('below');

    const unknown = { hostname: 'unknown.example.com', path, text: 'unknown' };
    await fleet.publish(unknown);
    expect([await at(local, unknown.hostname), await at(other, unknown.hostname)]).toEqual([
      'unknown',
      'unknown',
    ]);
    await fleet.withdraw(unknown);
    expect(await at(local, unknown.hostname)).not.toBe('unknown');
    await fleet.stop();
  });

  it('get answers about their own installs only', async () => {
    const here = await install({ php_version: '8.4' });
    const there = await install({ php_version: '7.4' });
    const key = newSshKey();
    await owner.client.post('/ssh_keys', { public_key: key.public });
    const { fingerprint_sha256: fingerprint } = await homeport.platform.database.reader
      .selectFrom('ssh_keys')
      .select('fingerprint_sha256')
      .where('user_id', '=', owner.userId)
      .executeTakeFirstOrThrow();
    const login = (ref: { id: string; name: string }) => ({
      install: { id: ref.id, name: ref.name },
      userId: owner.userId,
    });
    expect(await local.server.questions.sshLogin(here.name, fingerprint)).toEqual(login(here));
    expect(await local.server.questions.sshLogin(there.name, fingerprint)).toBeNull();
    expect(await other.server.questions.sshLogin(there.name, fingerprint)).toEqual(login(there));
    expect(await other.server.questions.sshLogin(here.name, fingerprint)).toBeNull();

    const { sealer, database } = homeport.platform;
    expect(await local.server.questions.backupPassword(here.id)).toBe(backupPassword(sealer, here.id));
    await expect(local.server.questions.backupPassword(there.id)).rejects.toThrow(/is not on this host/);
    await expect(local.server.questions.backupPassword(randomUUID())).rejects.toThrow(/is not on this host/);

    // A host that restores another host's backup needs the password of that repository.
    const running = (kind: string) =>
      database.write(({ queries }) =>
        queries
          .insertInto('jobs')
          .values({
            id: randomUUID(),
            kind,
            lane: here.id,
            payload: JSON.stringify({ backup_id: randomUUID(), install_id: here.id, from_id: there.id }),
            state: 'running',
            max_attempts: 1,
            run_at: timestamp(clock),
            request_id: null,
            created_at: timestamp(clock),
            lease_until: timestamp(clock, HOUR_MS),
            worker_id: null,
            error: null,
            started_at: timestamp(clock),
            finished_at: null,
          })
          .execute(),
      );
    for (const { name } of [restoreBackup, copyInstall]) {
      await running(name);
      expect(await local.server.questions.backupPassword(there.id)).toBe(backupPassword(sealer, there.id));
      await expect(other.server.questions.backupPassword(here.id)).rejects.toThrow(/is not on this host/);
      await database.write(({ queries }) => queries.deleteFrom('jobs').where('kind', '=', name).execute());
    }
  });

  it('remove an install without a row, wherever it is', async () => {
    const fleet = startFleet(homeport);
    await fleet.start();
    const known = await install({ php_version: '7.4' });
    const scratch = { id: randomUUID(), name: 'restore-check-12345678' };
    const machine = await fleet.machineOf(known.id);
    await machine.apply({
      ...scratch,
      primaryHostname: `${scratch.name}.localhost`,
      hostnames: [
        { name: `${scratch.name}.localhost`, redirectTo: null, forceHttps: false, certificate: null },
      ],
      offload: null,
      phpVersion: null,
      wordpressVersion: null,
    });
    expect(other.versions.has(scratch.id)).toBe(true);
    await fleet.remove(scratch);
    expect(other.versions.has(scratch.id)).toBe(false);
    await expect(fleet.machineOf(scratch.id)).rejects.toThrow('The install no longer exists');
    await fleet.stop();
  });

  it('keep serving the websites of one while the other is unreachable', async () => {
    const here = await install({ php_version: '8.4' });
    const there = await install({ php_version: '7.4' });
    await other.down();
    for (const { id } of [here, there])
      await owner.client.post(`/installs/${id}/purge_cache`, { type: 'page' });
    await homeport.idle();
    expect((await jobsOf(homeport, here.id)).at(-1)).toMatchObject({
      kind: 'purge_cache',
      state: 'succeeded',
    });
    expect((await jobsOf(homeport, there.id)).at(-1)).toMatchObject({
      kind: 'purge_cache',
      state: 'queued',
      error: expect.stringContaining('The host web2 does not answer: nothing answers at https://127.0.0.1:'),
    });
    await other.up();
    clock.advance(10 * MINUTE_MS);
    await homeport.idle();
    expect((await jobsOf(homeport, there.id)).at(-1)).toMatchObject({ state: 'succeeded' });
  });
});
