import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { field, text } from '../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { until } from '../../../test/jobs.ts';
import { type ManualClock, manualClock } from '../../../test/manual-clock.ts';
import { refusal } from '../../../test/refusal.ts';
import { onlyInLong } from '../../../test/rounds.ts';
import { freePort } from '../../../test/servers/free-port.ts';
import { operatorFor } from '../../access/caller.ts';
import { PermanentHostError } from '../../hosting/contract/errors.ts';
import { siteState } from '../../hosting/policy/edge.fixture.ts';
import { connectHost } from '../../hosting/remote/client.ts';
import { type ServedMachine, serveMachine } from '../../hosting/remote/embedded-machine.fixture.ts';
import { parseIdentity } from '../../hosting/remote/identity.ts';
import { MINUTE_MS } from '../../lib/durations.ts';
import { hostQuestions } from '../provisioning/host-questions.ts';
import { requireNameFree } from '../provisioning/orphans.ts';
import { createConnections } from './connections.ts';
import { deleteInstalls, environment, jobsOf, row, startFleet } from './fleet.fixture.ts';
import { createFleet, type Fleet } from './fleet.ts';
import { loadInstallOptions } from './install-options.ts';

/** This machine's host, with a capacity of two. */
let local: ServedMachine;
let homeport: TestHomeport;
let clock: ManualClock;
let accountId: string;
let owner: Person;
let localName: string;

beforeAll(async () => {
  clock = manualClock(new Date());
  local = await serveMachine({ capacity: 2, reservedNames: ['www-data'] });
  homeport = await startTestHomeport({ clock, environment: environment(local.runFolder) });
  ({ accountId, owner } = await homeport.ownedAccount());
  localName = (await homeport.services.hosts.list())[0]?.name ?? '';
});
afterEach(() => deleteInstalls(homeport, owner.client));
afterAll(async () => {
  await homeport?.remove();
  await local?.close();
});

const install = (more: object = {}) => homeport.install(owner, accountId, more);

describe('a platform with one host', () => {
  it("registers it under the machine's name and places installs on it", async () => {
    expect(await homeport.services.hosts.list()).toEqual([
      expect.objectContaining({
        id: local.description.id,
        address: `unix:${local.runFolder}/host.sock`,
        accepting: true,
        description: local.description,
        seen_at: expect.any(String),
        reason: null,
      }),
    ]);
    expect(homeport.hosting?.edgeHttp).toEqual({ host: '127.0.0.1', port: local.description.ports.http });

    const { id, name } = await install();
    expect(await row(homeport, id)).toEqual({
      status: 'active',
      host_id: local.description.id,
      php_version: '8.4',
      wordpress_version: '6.8.7',
    });
    const { body } = await owner.client.get(`/installs/${id}`);
    expect(body).toMatchObject({ status: 'active', php_version: '8.4' });
    await local.write({ id }, 'index.html', 'hello from the fleet');
    await owner.client.post(`/installs/${id}/purge_cache`, { type: 'page' });
    await homeport.idle();
    expect((await local.http(`${name}.localhost`, '/')).text).toBe('hello from the fleet');

    expect((await owner.client.delete(`/installs/${id}`)).status).toBe(204);
    await homeport.idle();
    expect((await local.http(`${name}.localhost`, '/')).status).toBe(404);
    expect(local.versions.has(id)).toBe(false);
  });

  it('installs the requested PHP version and refuses one that no host has', async () => {
    const { id } = await install({ php_version: '8.2' });
    expect(await row(homeport, id)).toMatchObject({ status: 'active', php_version: '8.2' });
    const refused = await owner.client.post('/installs', {
      name: 'oldshop',
      account_id: accountId,
      php_version: '5.6',
    });
    expect(refused).toMatchObject(
      refusal(
        'Installation.php_version',
        'invalid_value / not_offered',
        'PHP 5.6 is not offered; choose one of 8.4, 8.2',
      ),
    );
    for (const php_version of ['8', 'newest', '8.2; rm', 8.2]) {
      const { status } = await owner.client.post('/installs', {
        name: 'oldshop',
        account_id: accountId,
        php_version,
      });
      expect({ php_version, status }).toEqual({ php_version, status: 400 });
    }
    expect(
      (await owner.client.post('/installs', { name: 'nullshop', account_id: accountId, php_version: null }))
        .status,
    ).toBe(201);
    await homeport.idle();
  });

  it('keeps the PHP version of an install after its host stopped offering it', async () => {
    const { id } = await install({ php_version: '8.4' });
    const { phpVersions } = local.description;
    const offer = (versions: string[]) => {
      local.description.phpVersions = versions;
      return homeport.services.hosts.note(local.description);
    };
    await offer(['8.2']);
    try {
      const same = await owner.client.patch(`/installs/${id}`, { php_version: '8.4' });
      expect(same).toMatchObject({ status: 200, body: { php_version: '8.4' } });
      const another = { name: 'newshop', account_id: accountId, php_version: '8.4' };
      expect(await owner.client.post('/installs', another)).toMatchObject({
        status: 400,
        body: { errors: [{ message: 'PHP 8.4 is not offered; choose one of 8.2' }] },
      });
    } finally {
      await offer(phpVersions);
    }
  });

  it("reserves the names of the machine's logins", async () => {
    const answer = await owner.client.post('/installs', { name: 'www-data', account_id: accountId });
    expect(answer).toMatchObject(
      refusal(
        'Installation.name',
        'invalid_value / reserved',
        'The name "www-data" is reserved for the platform',
      ),
    );
  });

  it("keeps a host's public name from installs, and install names from hosts", async () => {
    const { hosts } = homeport.services;
    await hosts.change(localName, { publicName: 'gate.localhost' });
    expect(await owner.client.post('/installs', { name: 'gate', account_id: accountId })).toMatchObject(
      refusal(
        'Installation.name',
        'invalid_value / reserved',
        'The name "gate" is reserved for the platform',
      ),
    );
    await hosts.change(localName, { publicName: null });
    const made = await owner.client.post('/installs', { name: 'gate', account_id: accountId });
    expect(made.status).toBe(201);
    const refused = 'gate.localhost is the name of an install; a host needs another public name.';
    await expect(hosts.change(localName, { publicName: 'Gate.localhost' })).rejects.toThrow(refused);
    await expect(
      hosts.add('web3', 'https://10.0.0.3:8470', { publicName: 'gate.localhost' }),
    ).rejects.toThrow(refused);
  });

  it('names the host in reports', async () => {
    const { id } = await install();
    const domain = text((await owner.client.get(`/installs/${id}/domains`)).body, 'results', 0, 'id');
    const asked = await owner.client.post(`/installs/${id}/domains/${domain}/check_status`);
    await homeport.idle();
    const path = `/installs/${id}/domains/check_status/${text(asked.body, 'report_id')}`;
    expect(field((await owner.client.get(path)).body, 'report', 'domains', 0, 'cluster_id')).toBe(localName);
  });

  it('empties all caches from the innermost outwards, and all of them again after a failure', async () => {
    const { id } = await install();
    const { purge } = local.machine;
    const kinds: string[] = [];
    local.machine.purge = async (one, kind) => {
      kinds.push(kind);
      if (kinds.length === 2) throw new Error('the page cache is locked');
      await purge(one, kind);
    };
    try {
      await owner.client.post(`/installs/${id}/purge_cache`, { type: 'all' });
      await homeport.idle();
      expect(kinds).toEqual(['object', 'page']);
      clock.advance(MINUTE_MS);
      await homeport.idle();
    } finally {
      local.machine.purge = purge;
    }
    expect(kinds).toEqual(['object', 'page', 'object', 'page', 'cdn']);
    expect((await jobsOf(homeport, id)).at(-1)).toMatchObject({
      kind: 'purge_cache',
      state: 'succeeded',
      attempt: 2,
    });
  });

  it('backs up and restores on the host', async () => {
    const { id, name } = await install();
    await local.write({ id }, 'index.html', 'saved');
    const asked = await owner.client.post(`/installs/${id}/backups`, {
      description: 'before',
      notification_emails: ['a@example.com'],
    });
    await homeport.idle();
    const backupId = text(asked.body, 'id');
    expect((await owner.client.get(`/installs/${id}/backups/${backupId}`)).body).toMatchObject({
      status: 'completed',
    });
    await local.write({ id }, 'index.html', 'spoilt');
    await homeport.services.backups.requestRestore(backupId);
    await homeport.idle();
    expect((await local.http(`${name}.localhost`, '/')).text).toBe('saved');
  });

  it('restores what a website lost on a host of an earlier version, which can make no website for it', async () => {
    const { id } = await install();
    await local.write({ id }, 'index.html', 'as it was');
    const backup = await owner.client.post(`/installs/${id}/backups`, {
      ...{ description: 'before', notification_emails: [] },
    });
    await homeport.idle();
    await local.write({ id }, 'index.html', 'half of it');
    await homeport.platform.database.write(({ queries }) =>
      queries
        .updateTable('installs')
        .set({ lost_data: 'Tables are missing.' })
        .where('id', '=', id)
        .execute(),
    );
    const { makeForRestore } = local.machine;
    local.machine.makeForRestore = () => Promise.reject(new PermanentHostError('unknown command'));
    const restored = `/installs/${id}/backups/${text(backup.body, 'id')}/restore`;
    await owner.client.post(restored, { notification_emails: [], create_checkpoint: false });
    await homeport.idle();
    local.machine.makeForRestore = makeForRestore;
    expect(await readFile(local.file({ id }, 'index.html'), 'utf8')).toBe('as it was');
  });

  it('fails an install that no host has capacity for, with a reason, and counts nothing for it', async () => {
    await install();
    await install();
    const third = await install();
    expect(await row(homeport, third.id)).toMatchObject({ status: 'failed', host_id: null });
    expect(await jobsOf(homeport, third.id)).toEqual([
      {
        kind: 'provision_install',
        state: 'failed',
        error: expect.stringMatching(
          /^No host has room for another install; "homeport host add" adds a machine/,
        ),
        attempt: 1,
      },
      expect.objectContaining({ kind: 'remove_install', state: 'succeeded' }),
    ]);
  });

  it('never exceeds the capacity when requests compete', async () => {
    const { database } = homeport.platform;
    await Promise.all(
      ['one', 'two', 'three', 'four', 'five'].map((suffix) =>
        homeport.services.installs.create(operatorFor(owner.userId), {
          name: `rush${process.pid}${suffix}`,
          account_id: accountId,
        }),
      ),
    );
    await homeport.idle();
    const states = await database.reader.selectFrom('installs').select(['status', 'host_id']).execute();
    expect(states.filter(({ status }) => status === 'active')).toHaveLength(2);
    expect(states.filter(({ status, host_id }) => status === 'failed' && host_id === null)).toHaveLength(3);
  });

  it('removes the remains of a failed provisioning and frees its place', async () => {
    // The host has dropped that version since its last description.
    const { phpVersions } = local.description;
    local.description.phpVersions = ['8.2'];
    const { id } = await install({ php_version: '8.4' });
    local.description.phpVersions = phpVersions;
    expect(await row(homeport, id)).toMatchObject({ status: 'failed', host_id: null });
    expect((await jobsOf(homeport, id)).at(0)).toMatchObject({ state: 'failed' });
  });

  it('places nothing for an install that was deleted before', async () => {
    const fleet = startFleet(homeport);
    await fleet.start();
    const gone = siteState(`gone${process.pid}`, [`gone${process.pid}.localhost`]);
    const refused = fleet.apply(gone);
    await expect(refused).rejects.toThrow(new PermanentHostError('The install was deleted meanwhile'));
    expect(local.versions.has(gone.id)).toBe(false);
    await fleet.remove({ ...gone, hostId: null });
    await fleet.remove({ ...gone, hostId: randomUUID() });
    await fleet.stop();
  });

  it('switches WordPress, and keeps the old version if the host cannot', async () => {
    const { id, name } = await install();
    const { installs } = homeport.services;
    expect(await installs.switchWordpress(name, '6.1.9')).toMatchObject({ installId: id, from: '6.8.7' });
    await homeport.idle();
    expect(await row(homeport, id)).toMatchObject({ wordpress_version: '6.1.9' });
    expect(local.versions.get(id)).toEqual({ phpVersion: '8.4', wordpressVersion: '6.1.9' });

    await expect(installs.switchWordpress(name, '4.0')).rejects.toThrow(
      `The host ${localName} has no WordPress 4.0; it has 6.8.7, 6.1.9.`,
    );
    await expect(installs.switchWordpress('nobody', '6.1.9')).rejects.toThrow(
      'There is no install "nobody"; "homeport install list" shows them all.',
    );
    const written = await homeport.platform.database.reader
      .selectFrom('activity')
      .select(['account_id', 'subject_name', 'details', 'user_name'])
      .where('action', '=', 'install.switch_core')
      .where('subject_id', '=', id)
      .execute();
    const details = { from: '6.8.7', to: '6.1.9' };
    expect(written).toEqual([
      { account_id: accountId, subject_name: name, details, user_name: 'the operator' },
    ]);

    const { wordpressVersions } = local.description;
    local.description.wordpressVersions = ['6.1.9'];
    const { jobId } = await installs.switchWordpress(name, '6.8.7');
    await homeport.idle();
    local.description.wordpressVersions = wordpressVersions;
    expect(await homeport.platform.queue.find(jobId)).toMatchObject({ state: 'failed', attempt: 1 });
    expect(await row(homeport, id)).toMatchObject({ status: 'active', wordpress_version: '6.1.9' });
  });
});

describe('an unreachable host', () => {
  it('is recorded as unreachable; its jobs wait and run when it is back', async () => {
    const { id, name } = await install();
    await local.down();
    const asked = await owner.client.post(`/installs/${id}/domains`, {
      name: `away${process.pid}.example.com`,
    });
    expect(asked.status).toBe(201);
    await homeport.idle();
    const waiting = (await jobsOf(homeport, id)).find(
      ({ kind, state }) => kind === 'apply_install' && state === 'queued',
    );
    expect(waiting?.error).toContain(
      `HostUnreachableError: The host ${localName} does not answer: nothing listens at`,
    );
    await local.up();
    clock.advance(10 * MINUTE_MS);
    await homeport.idle();
    expect((await local.http(`away${process.pid}.example.com`, '/')).status).not.toBe(404);
    expect((await local.http(`${name}.localhost`, '/')).status).not.toBe(404);
  });

  it('shows in the list while it lasts', async () => {
    const fleet = startFleet(homeport, 100);
    await fleet.start();
    await local.down();
    const listed = async () => (await homeport.services.hosts.list()).find(({ name }) => name === localName);
    await until(async () => {
      expect((await listed())?.reason).toMatch(/nothing listens at/);
    });
    await local.up();
    await until(async () => expect(await listed()).toMatchObject({ reason: null }));
    await fleet.stop();
  });
});

describe('a compromised host', () => {
  /** A host that keeps answering pings and never finishes a call, or describes itself as the test says. */
  async function hostile(name: string, described?: object): Promise<{ asked: string[] }> {
    const { identity } = await homeport.services.hosts.add(name, `https://127.0.0.1:${await freePort()}`);
    const { certificate, key, ca } = parseIdentity(identity);
    const asked: string[] = [];
    const server = createServer({ cert: certificate, key, ca, requestCert: true }, (request, response) => {
      asked.push(request.url ?? '');
      response.writeHead(200);
      if (described !== undefined && request.url === '/v1/describe') {
        return response.end(JSON.stringify({ result: { ...described, id: parseIdentity(identity).hostId } }));
      }
      const beat = setInterval(() => response.write('\n'), 50);
      response.once('close', () => clearInterval(beat));
    });
    const address = (await homeport.services.hosts.list()).find((host) => host.name === name)?.address ?? '';
    server.listen(Number(new URL(address).port), '127.0.0.1');
    await once(server, 'listening');
    spoilt.push({ name, close: () => server.close() });
    return { asked };
  }
  const spoilt: { name: string; close(): unknown }[] = [];
  afterEach(async () => {
    for (const { name, close } of spoilt.splice(0)) {
      close();
      await homeport.services.hosts.remove(name);
    }
  });

  const impatient = (limits: Parameters<typeof connectHost>[1]): Fleet =>
    createFleet(homeport.platform, {
      connect: (target) => connectHost(target, limits),
      questionsOf: (hostId) => hostQuestions(homeport.platform, hostId),
      requireNameFree: (hostId, install) =>
        requireNameFree(homeport.platform.database.reader, hostId, install),
      patienceMs: 1_000,
    });
  const known = async (name: string) =>
    (await homeport.services.hosts.list()).find((host) => host.name === name);

  // These wait for silent hosts, whatever the database.
  it('delays neither the start nor calls to other hosts, and is reported as silent', async () => {
    const { asked } = await hostile('spoilt1');
    await homeport.platform.database.write(({ queries }) =>
      queries.updateTable('hosts').set({ seen_at: null }).where('name', '=', localName).execute(),
    );
    // Longer than the test may take.
    const patient = impatient({ describe: 300_000 });
    await patient.start();
    await until(() => expect(asked).toContain('/v1/describe'));
    expect(await known(localName)).toMatchObject({ seen_at: expect.any(String), reason: null });
    await patient.stop();
    const fleet = impatient({ describe: 1_000 });
    await fleet.start();
    await until(async () =>
      expect((await known('spoilt1'))?.reason).toMatch(/does not answer: it has not finished within 1 s/),
    );
    await fleet.stop();
  });

  onlyInLong(it)(
    'gets no second status check before it has answered the first, and is dropped when the platform stops',
    async () => {
      const { asked } = await hostile('spoilt2');
      // Longer than the test may take.
      const fleet = impatient({ describe: 300_000 });
      await fleet.start();
      // A failed placement makes the fleet check all hosts again.
      for (let time = 0; time < 2; time++) await fleet.apply(siteState('nowhere')).catch(() => {});
      await until(() => expect(asked).toContain('/v1/describe'));
      // Once by this fleet, and perhaps by the platform's own, which checks all hosts every half minute.
      expect(asked.filter((url) => url === '/v1/describe').length).toBeLessThanOrEqual(2);
      await fleet.stop();
      expect(await known('spoilt2')).toMatchObject({ reason: null });
    },
  );

  onlyInLong(it)('is skipped when a challenge is published and withdrawn everywhere', async () => {
    await hostile('spoilt3', local.description);
    const fleet = impatient({ publish: 1_500, withdraw: 1_500 });
    await fleet.start();
    const proof = { hostname: 'nobodys.example.com', path: '/.well-known/homeport-check/xyz', text: 'here' };
    await fleet.publish(proof);
    expect((await local.http(proof.hostname, proof.path)).text).toBe('here');
    await fleet.withdraw(proof);
    expect((await local.http(proof.hostname, proof.path)).text).not.toBe('here');
    await fleet.stop();
  });

  it('reserves no names for other hosts, and its impossible capacity is not believed', async () => {
    await hostile('spoilt4', { ...local.description, reservedNames: ['shopping'] });
    await hostile('spoilt5', { ...local.description, capacity: 1_000_000 });
    const fleet = impatient({});
    await fleet.start();
    await until(async () => {
      expect(await known('spoilt4')).toMatchObject({ description: { reservedNames: ['shopping'] } });
      expect(await known('spoilt5')).toMatchObject({
        description: null,
        reason: expect.stringContaining('/capacity'),
      });
    });
    expect((await loadInstallOptions(homeport.platform.database.reader)).reservedNames).not.toContain(
      'shopping',
    );
    await fleet.stop();
  });
});

describe('starting', () => {
  it('finds the same host again', async () => {
    const before = await homeport.services.hosts.list();
    const again = await startTestHomeport({
      place: homeport.place,
      environment: environment(local.runFolder),
      roles: { api: false, hosting: true },
    });
    expect((await again.services.hosts.list()).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    await again.stop();
  });

  it('says what to do without any host', async () => {
    await expect(startTestHomeport({ environment: environment('/run/nowhere') })).rejects.toThrow(
      /^There is no host for the websites\. The host \S+ does not answer: nothing listens at \/run\/nowhere\/host\.sock\. Start it there, as root, with "homeport host".*"homeport host add"\.$/,
    );
  });

  it('lets another host that takes its place while the server runs act as another', async () => {
    const first = await serveMachine();
    const own = await startTestHomeport({ environment: environment(first.runFolder) });
    await own.stop();
    const reading = await startTestHomeport({
      place: own.place,
      environment: environment(first.runFolder),
      roles: { api: true, hosting: false },
    });
    const { platform } = reading;
    const connections = createConnections(platform, {
      connect: connectHost,
      questionsOf: (hostId) => hostQuestions(platform, hostId),
    });
    await connections.start();
    const { id: earlier } = first.description;
    const connected = await connections.machine(earlier);
    await first.down();
    first.description.id = randomUUID();
    await first.up();
    await connections.refresh();
    // What is meant for the earlier host does not reach the one in its place.
    await expect(connections.machine(earlier)).rejects.toThrow('is not the one at');
    expect(await connections.machine(first.description.id)).not.toBe(connected);
    await expect(connected.describe()).rejects.toThrow();
    await connections.close();
    await reading.stop();
    await own.place.remove();
    await first.close();
  });

  it('continues if a known host is unreachable, and treats another host in its place as another', async () => {
    const first = await serveMachine();
    const own = await startTestHomeport({ environment: environment(first.runFolder) });
    await own.stop();
    await first.down();
    const again = await startTestHomeport({
      place: own.place,
      environment: environment(first.runFolder),
      roles: { api: false, hosting: true },
    });
    expect(await again.services.hosts.list()).toEqual([
      expect.objectContaining({ reason: expect.stringContaining('nothing listens at') }),
    ]);
    await again.stop();
    first.description.id = randomUUID();
    await first.up();
    const third = await startTestHomeport({
      place: own.place,
      environment: environment(first.runFolder),
      roles: { api: false, hosting: true },
    });
    const [earlier, later] = await third.services.hosts.list();
    expect(earlier).toMatchObject({ reason: 'Another host has taken its place' });
    expect(later).toMatchObject({ id: first.description.id, reason: null });
    expect(later?.name).toBe(`${earlier?.name}-${first.description.id.slice(0, 4)}`);
    await third.stop();
    await own.place.remove();
    await first.close();
  });
});
