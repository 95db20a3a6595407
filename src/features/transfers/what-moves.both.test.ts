import { once } from 'node:events';
import ssh2 from 'ssh2';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAgent, text } from '../../../test/client.ts';
import { visit } from '../../../test/edge.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { mostlyOn } from '../../../test/only-on.ts';
import { rounds } from '../../../test/rounds.ts';
import { newSshKey } from '../../../test/ssh-key.ts';
import { operatorFor } from '../../access/caller.ts';
import { promised } from '../../hosting/embedded/sftp/sftp-client.fixture.ts';
import { applyInstall } from '../websites/installs/jobs.ts';
import { accept, asked, join, newSituation, type Situation, transferred } from './transfers.fixture.ts';

/** Of requests at the same time, whose order differs. */
const TRIES = Array.from({ length: rounds(1, 3) }, (_, at) => at + 1);
let homeport: TestHomeport;

beforeAll(async () => {
  homeport = await startTestHomeport();
});
afterAll(() => homeport?.remove());

const credentialFor = async (person: Person, accountId: string, installIds: string[] | null) => {
  const issued = await homeport.services.credentials.issue(person.userId, {
    name: 'limited',
    limits: {
      readOnly: false,
      accountId,
      installs: installIds === null ? null : { by: 'id', values: installIds },
    },
  });
  return { ...person, credential: issued, client: homeport.clientOf(issued) };
};

mostlyOn('sqlite', describe)('rights', () => {
  it('go from all users of the origin to those of the destination', async () => {
    const now = await newSituation(homeport);
    const { origin, destination, siteId, install } = now;
    const partial = await homeport.person(origin.accountId, 'partial', [install.id]);
    const inBoth = await homeport.person(origin.accountId, 'partial', [install.id]);
    await join(homeport, inBoth, destination.accountId, 'partial');
    const full = await homeport.person(origin.accountId, 'full');
    const theirs = await homeport.person(destination.accountId, 'full');
    await transferred(homeport, now);
    for (const former of [origin.owner, full, partial, inBoth]) {
      expect((await former.client.get(`/installs/${install.id}`)).status).toBe(404);
      expect((await former.client.get(`/sites/${siteId}`)).status).toBe(404);
    }
    for (const next of [destination.owner, theirs]) {
      expect((await next.client.get(`/installs/${install.id}`)).body).toMatchObject({
        account: { id: destination.accountId },
        site: { id: siteId },
        environment: 'production',
      });
    }
    const counts = await homeport.platform.database.reader
      .selectFrom('accounts')
      .select(['id', 'site_count', 'install_count'])
      .where('id', 'in', [origin.accountId, destination.accountId])
      .execute();
    expect(counts).toEqual(
      expect.arrayContaining([
        { id: origin.accountId, site_count: 0, install_count: 0 },
        { id: destination.accountId, site_count: 1, install_count: 1 },
      ]),
    );
    // A transfer back gives partial users nothing.
    const back = await asked(destination.owner, siteId, origin.accountId);
    await accept(origin.owner, origin.accountId, back);
    await homeport.idle();
    expect((await origin.owner.client.get(`/installs/${install.id}`)).status).toBe(200);
    expect((await partial.client.get(`/installs/${install.id}`)).status).toBe(404);
    expect((await destination.owner.client.get(`/installs/${install.id}`)).status).toBe(404);
    // Users of the destination do not see what happened before it.
    const third = await homeport.ownedAccount();
    const on = await asked(origin.owner, siteId, third.accountId);
    await accept(third.owner, third.accountId, on);
    await homeport.idle();
    const list = await third.owner.client.get(`/sites/${siteId}/site_transfers`);
    expect(list.body).toMatchObject({ count: 1, results: [{ id: on }] });
    expect((await third.owner.client.get(`/sites/${siteId}/site_transfers/${back}`)).status).toBe(404);
  });

  it('of credentials limited to the installs end', async () => {
    const now = await newSituation(homeport);
    const { origin, destination, siteId, install } = now;
    const other = await homeport.install(origin.owner, origin.accountId);
    const onlyThis = await credentialFor(origin.owner, origin.accountId, [install.id]);
    const both = await credentialFor(origin.owner, origin.accountId, [install.id, other.id]);
    const account = await credentialFor(origin.owner, origin.accountId, null);
    await join(homeport, origin.owner, destination.accountId, 'full');
    const unlimited = origin.owner;
    await transferred(homeport, now);
    const statusFor = async ({ client }: Person, id: string) => (await client.get(`/installs/${id}`)).status;
    expect(await statusFor(both, install.id)).toBe(404);
    expect(await statusFor(both, other.id)).toBe(200);
    expect(await statusFor(account, install.id)).toBe(404);
    expect(await statusFor(unlimited, install.id)).toBe(200);
    const stored = await homeport.platform.database.reader
      .selectFrom('credentials')
      .select(['id', 'install_ids', 'revoked_at'])
      .where('user_id', '=', origin.owner.userId)
      .where('install_ids', 'is not', null)
      .orderBy('seq')
      .execute();
    expect(stored).toEqual([
      { id: onlyThis.credential.username, install_ids: [], revoked_at: expect.any(String) },
      { id: both.credential.username, install_ids: [other.id], revoked_at: null },
    ]);
    // The first credential reaches nothing even if the site returns.
    const back = await asked(destination.owner, siteId, origin.accountId);
    await accept(origin.owner, origin.accountId, back);
    await homeport.idle();
    expect(await statusFor(both, install.id)).toBe(404);
    expect(await statusFor(unlimited, install.id)).toBe(200);
  });

  it('of the install on hosts of the origin end with its import key', async () => {
    const now = await newSituation(homeport);
    const { database, clock, sealer } = homeport.platform;
    const row = { public_key: 'a', sealed_key: sealer.seal('b'), created_at: clock.now().toISOString() };
    await database.write(({ queries }) =>
      queries
        .insertInto('import_keys')
        .values({ install_id: now.install.id, ...row })
        .execute(),
    );
    await transferred(homeport, now);
    expect(await database.reader.selectFrom('import_keys').select('install_id').execute()).toEqual([]);
  });

  it('of an open SFTP connection end with the transfer', async () => {
    const now = await newSituation(homeport, true);
    const { origin, destination, install } = now;
    const keys = { origin: newSshKey(), destination: newSshKey() };
    await origin.owner.client.post('/ssh_keys', { public_key: keys.origin.public });
    await destination.owner.client.post('/ssh_keys', { public_key: keys.destination.public });
    const connect = async (privateKey: string) => {
      const address = homeport.hosting?.ssh;
      if (!address) throw new Error('no SSH server');
      const client = new ssh2.Client();
      client.on('error', () => {});
      client.connect({ ...address, username: install.name, privateKey });
      await once(client, 'ready');
      const sftp = await new Promise<ssh2.SFTPWrapper>((resolve, reject) =>
        client.sftp((error, channel) => (error ? reject(error) : resolve(channel))),
      );
      return { client, files: promised(sftp) };
    };
    const former = await connect(keys.origin.private);
    expect((await former.files.readdir('.')).length).toBeGreaterThan(0);
    await expect(connect(keys.destination.private)).rejects.toThrow();
    await transferred(homeport, now);
    const closed = once(former.client, 'close');
    await expect(
      Promise.race([former.files.readdir('.'), closed.then(() => Promise.reject(new Error('closed')))]),
    ).rejects.toThrow();
    await closed;
    await expect(connect(keys.origin.private)).rejects.toThrow();
    const next = await connect(keys.destination.private);
    expect((await next.files.readdir('.')).length).toBeGreaterThan(0);
    next.client.end();
  });
});

mostlyOn('sqlite', describe)('links to archives', () => {
  it('of the former account end with the transfer, and do not return with the site', async () => {
    const now = await newSituation(homeport, true);
    const { origin, destination, siteId, install } = now;
    const agent = createAgent(homeport.ca);
    const path = `/installs/${install.id}`;
    const backup = { description: 'To keep', notification_emails: [] };
    const made = await origin.owner.client.post(`${path}/backups`, backup);
    await homeport.idle();
    const pack = async ({ client }: Person) => {
      await client.post(`${path}/archives`, { backup_id: text(made.body, 'id') });
      await homeport.idle();
      const { body } = await client.get(`${path}/archives`);
      return text(body, 'results', 0, 'download_uri');
    };
    const statusOf = async (uri: string) => {
      const { statusCode, body } = await request(uri, { dispatcher: agent });
      await body.dump();
      return statusCode;
    };
    const former = await pack(origin.owner);
    expect(await statusOf(former)).toBe(200);
    await transferred(homeport, now);
    expect(await statusOf(former)).toBe(403);
    expect((await destination.owner.client.get(`${path}/archives`)).body).toMatchObject({ count: 0 });
    const next = await pack(destination.owner);
    expect(await statusOf(next)).toBe(200);
    const back = await asked(destination.owner, siteId, origin.accountId);
    await accept(origin.owner, origin.accountId, back);
    await homeport.idle();
    for (const uri of [former, next]) expect(await statusOf(uri)).toBe(403);
    await agent.close();
  });
});

mostlyOn('sqlite', it)(
  'stops nothing of the website: every request during transfers to and fro succeeds',
  async () => {
    const now = await newSituation(homeport, true);
    const { origin, destination, siteId, install } = now;
    await join(homeport, origin.owner, destination.accountId);
    const address = `http://${install.name}.${homeport.config.siteDomain}/`;
    let stop = false;
    const seen = new Map<number, number>();
    const visiting = (async () => {
      while (!stop) {
        const { status } = await visit(homeport, address);
        seen.set(status, (seen.get(status) ?? 0) + 1);
      }
    })();
    for (const to of [destination, origin, destination]) {
      await asked(origin.owner, siteId, to.accountId);
      await homeport.idle();
    }
    const before = seen.get(200) ?? 0;
    while ((seen.get(200) ?? 0) < before + 20) await new Promise(setImmediate);
    stop = true;
    await visiting;
    expect([...seen.keys()]).toEqual([200]);
  },
);

mostlyOn('sqlite', describe)('jobs', () => {
  const jobsOf = (lane: string) =>
    homeport.platform.database.reader
      .selectFrom('jobs')
      .select(['kind', 'share', 'state'])
      .where('lane', '=', lane)
      .where('state', 'in', ['queued', 'running'])
      .execute();

  it('of the installs keep waiting, for the new account', async () => {
    const now = await newSituation(homeport);
    const { install } = now;
    await homeport.platform.database.write((transaction) =>
      homeport.platform.queue.enqueue(transaction, applyInstall, {
        payload: { id: install.id },
        lane: install.id,
        delayMs: 3_600_000,
      }),
    );
    expect(await jobsOf(install.id)).toMatchObject([{ share: now.origin.accountId }]);
    await transferred(homeport, now);
    expect(await jobsOf(install.id)).toEqual([
      { kind: applyInstall.name, share: now.destination.accountId, state: 'queued' },
    ]);
    const operations = await homeport.platform.database.reader
      .selectFrom('operations')
      .select(['kind', 'account_id'])
      .where('install_id', '=', install.id)
      .orderBy('seq')
      .execute();
    expect(operations).toEqual([
      { kind: 'install.create', account_id: now.origin.accountId },
      { kind: 'install.apply', account_id: now.destination.accountId },
    ]);
  });

  it('that copy between the site and other installs are finished first', async () => {
    const now = await newSituation(homeport);
    const { origin, destination, siteId, install } = now;
    const other = await homeport.install(origin.owner, origin.accountId);
    // The copy waits behind this job of its target.
    await homeport.platform.database.write((transaction) =>
      homeport.platform.queue.enqueue(transaction, applyInstall, {
        payload: { id: other.id },
        lane: other.id,
        delayMs: 3_600_000,
      }),
    );
    await homeport.services.backups.copy(operatorFor(origin.owner.userId), install.id, {
      into: other.id,
      keepBackup: false,
      checkpoint: false,
      parts: { files: true, database: true, tables: null },
      notification_emails: [],
    });
    await homeport.idle();
    await join(homeport, origin.owner, destination.accountId);
    const id = await asked(origin.owner, siteId, destination.accountId);
    await homeport.idle();
    const path = `/sites/${siteId}/site_transfers/${id}`;
    expect((await origin.owner.client.get(path)).body).toMatchObject({ status: 'pending' });
    // The copy, then the transfer, without the pauses between their attempts.
    for (const lane of [other.id, `copies:${other.id}`, other.id, `transfer:${id}`]) {
      await homeport.platform.database.write((transaction) =>
        homeport.platform.queue.reschedule(transaction, lane, 0),
      );
      await homeport.idle();
    }
    expect((await origin.owner.client.get(path)).body).toMatchObject({ status: 'completed' });
  });
});

mostlyOn('sqlite', it)(
  'usage of earlier days stays with the origin, and the install shows it to the destination',
  async () => {
    const now = await newSituation(homeport);
    const { origin, destination, install } = now;
    const day = new Date(Date.now() - 3 * 86_400_000).toISOString().slice(0, 10);
    await homeport.platform.database.write(async ({ queries }) => {
      const of = { install_id: install.id, account_id: origin.accountId };
      await queries
        .insertInto('usage_installs')
        .values({ ...of, host: 'embedded', name: install.name, environment: 'production' })
        .onConflict((conflict) => conflict.column('install_id').doNothing())
        .execute();
      await queries
        .insertInto('usage_traffic')
        .values({ ...of, day, source: 'test', requests: 7, bytes: 700, visits: 5 })
        .execute();
    });
    await transferred(homeport, now);
    const range = `first_date=${day}&last_date=${day}`;
    const visitsOf = async ({ owner, accountId }: Situation['origin']) => {
      const { body } = await owner.client.get(`/accounts/${accountId}/usage?${range}`);
      return JSON.stringify(body).includes('"visit_count":"5"');
    };
    expect([await visitsOf(origin), await visitsOf(destination)]).toEqual([true, false]);
    const own = await destination.owner.client.get(`/installs/${install.id}/usage?${range}`);
    expect(JSON.stringify(own.body)).toContain('"visit_count":"5"');
    expect((await origin.owner.client.get(`/installs/${install.id}/usage?${range}`)).status).toBe(404);
  },
);

mostlyOn('sqlite', it)(
  'a name that an install left behind also has is refused, and loses nothing',
  async () => {
    const { origin, destination, siteId, install } = await newSituation(homeport);
    const other = await homeport.install(origin.owner, origin.accountId);
    const name = `left${process.pid}.example`;
    for (const { id } of [install, other]) {
      expect((await origin.owner.client.post(`/installs/${id}/domains`, { name })).status).toBe(201);
    }
    const answer = await origin.owner.client.post(`/sites/${siteId}/site_transfers`, {
      destination_account_id: destination.accountId,
    });
    expect(answer).toMatchObject({
      status: 422,
      body: {
        message: `The domain ${name} is also on the install ${other.name}, which stays. Remove it there first.`,
      },
    });
  },
);

describe('at the same time as a transfer', () => {
  const settle = async (now: Situation, work: (id: string) => Promise<unknown>[]) => {
    const { origin, destination, siteId } = now;
    const id = await asked(origin.owner, siteId, destination.accountId);
    await Promise.all([accept(destination.owner, destination.accountId, id), ...work(id)]);
    await homeport.idle();
    const transfer = await origin.owner.client.get(`/sites/${siteId}/site_transfers/${id}`);
    return text(transfer.body, 'status');
  };

  /** Sites, installs and counts fit together. */
  async function expectWhole(): Promise<void> {
    const { reader } = homeport.platform.database;
    const accounts = await reader
      .selectFrom('accounts')
      .select(['id', 'site_count', 'install_count'])
      .execute();
    for (const { id, site_count, install_count } of accounts) {
      const sites = await reader.selectFrom('sites').select('id').where('account_id', '=', id).execute();
      const installs = await reader
        .selectFrom('installs')
        .select('id')
        .where('account_id', '=', id)
        .execute();
      expect([site_count, install_count]).toEqual([sites.length, installs.length]);
    }
  }

  for (const at of TRIES)
    mostlyOn('sqlite', it)(`the site can be deleted (${at})`, async () => {
      const now = await newSituation(homeport);
      const { origin, siteId } = now;
      const status = await settle(now, () => [origin.owner.client.delete(`/sites/${siteId}`)]);
      expect(['completed', 'cancelled']).toContain(status);
      await expectWhole();
    });

  it.each(TRIES)('an install can be moved, created and deleted (%i)', async () => {
    const now = await newSituation(homeport);
    const { origin, siteId, install } = now;
    const extra = await homeport.install(origin.owner, origin.accountId);
    const { client } = origin.owner;
    const status = await settle(now, () => [
      client.patch(`/installs/${install.id}`, { site_id: null }),
      client.patch(`/installs/${extra.id}`, { site_id: siteId, environment: 'staging' }),
      client.post('/installs', {
        name: `${install.name}b`,
        account_id: origin.accountId,
        site_id: siteId,
        environment: 'development',
      }),
      client.delete(`/installs/${extra.id}`),
    ]);
    expect(status).toBe('completed');
    await expectWhole();
  });

  for (const at of TRIES)
    mostlyOn('sqlite', it)(`it can be cancelled, declined and accepted again (${at})`, async () => {
      const now = await newSituation(homeport);
      const { origin, destination, siteId } = now;
      const status = await settle(now, (id) => [
        origin.owner.client.delete(`/sites/${siteId}/site_transfers/${id}`),
        destination.owner.client.delete(`/sites/${siteId}/site_transfers/${id}`),
        accept(destination.owner, destination.accountId, id),
      ]);
      expect(['completed', 'cancelled']).toContain(status);
      await expectWhole();
    });

  it('two sites can go in opposite directions', async () => {
    const one = await newSituation(homeport);
    const { origin, destination } = one;
    const theirs = await destination.owner.client.post('/sites', {
      name: 'Theirs',
      account_id: destination.accountId,
    });
    const siteId = text(theirs.body, 'id');
    await join(homeport, origin.owner, destination.accountId);
    await join(homeport, destination.owner, origin.accountId);
    await Promise.all([
      asked(origin.owner, one.siteId, destination.accountId),
      asked(destination.owner, siteId, origin.accountId),
    ]);
    await homeport.idle();
    const accountOf = async (id: string) => (await origin.owner.client.get(`/sites/${id}`)).body;
    expect(await accountOf(one.siteId)).toMatchObject({ account: { id: destination.accountId } });
    expect(await accountOf(siteId)).toMatchObject({ account: { id: origin.accountId } });
    await expectWhole();
  });
});
