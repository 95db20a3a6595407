import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { openDatabase } from '../../src/database/open.ts';
import { systemClock, timestamp } from '../../src/lib/clock.ts';
import { type Answer, field } from '../client.ts';
import { silent } from '../database.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../homeport.ts';
import { manualClock } from '../manual-clock.ts';
import { onlyOn } from '../only-on.ts';
import { ENDPOINTS, type EndpointRow, nameOf, statusesOfHeaders } from './endpoint-table.ts';
import { keptReadsOf } from './kept-reads.ts';
import { WITH_WORDPRESS } from './logins.ts';
import { bodyFor, createResources, pathTo, type ResourceSet } from './resource-set.ts';

/** The activity entries of each changing endpoint, one per subject. Status reports change nothing, nor do verifications without the
 * record, measurements of storage and readings of WordPress. */
const WRITTEN: Record<number, readonly string[]> = {
  6: ['account_user.invite'],
  8: [],
  9: ['account_user.remove'],
  190: ['site.update'],
  191: [],
  192: ['tag.remove'],
  11: ['site.create'],
  13: ['site.update'],
  14: ['install.delete', 'site.delete'],
  16: ['install.create'],
  18: ['install.update'],
  19: ['install.delete'],
  22: ['offload.update'],
  23: ['offload.update'],
  25: ['domain.create'],
  26: ['domain.create', 'domain.create'],
  28: ['domain.update'],
  29: ['domain.delete'],
  30: [],
  33: ['backup.create'],
  35: ['cache.purge'],
  38: ['ssh_key.create'],
  39: ['ssh_key.delete'],
  40: [],
  52: ['operation.cancel'],
  53: ['cache.purge'],
  72: ['certificate.order'],
  73: ['certificate.upload'],
  42: ['backup.delete'],
  43: ['backup.create', 'backup.restore'],
  45: ['backup.pack'],
  202: ['backup.download_file'],
  206: ['install.move'],
  207: ['install.move'],
  46: ['backup.create', 'backup.create', 'install.copy'],
  47: ['offload.remove'],
  91: ['site_transfer.accept'],
  93: ['site_transfer.request'],
  95: ['site_transfer.cancel'],
  66: [],
  67: [],
  97: ['credential.create'],
  98: ['credential.revoke'],
  102: ['webhook.create'],
  104: ['webhook.update'],
  105: ['webhook.delete'],
  108: ['webhook.redeliver'],
  109: ['webhook.test'],
  110: ['install.login_link'],
  175: ['install.database_link'],
  141: ['install.update_mail'],
  143: ['install.restore'],
  128: [],
  151: ['protection.update'],
  153: ['redirect.create'],
  154: ['redirect.import'],
  156: ['redirect.update'],
  157: ['redirect.delete'],
  159: ['cache.rules'],
  121: ['install.update_wordpress'],
  122: ['install.update_wordpress', 'install.update_wordpress'],
  124: ['install.update_policy'],
  170: ['backup.create', 'install.change_wordpress'],
  171: ['backup.create', 'install.change_wordpress'],
  160: ['backup.create', 'install.import'],
  // The install has a key already.
  163: [],
  176: ['install.delete_import_key'],
  177: ['install.renew_import_key'],
  161: ['install.create', 'backup.create', 'install.copy'],
  162: ['backup.create', 'backup.create', 'install.copy'],
  111: ['install.wp_cli'],
  115: ['install.restart_php'],
  // It changes something only on a host with PHP.
  113: [],
  // A user's own inbox and emails.
  184: [],
  185: [],
  187: [],
};

/** Every user may add SSH keys, read their notifications and choose their emails. */
const OPEN_TO_ALL = [38, 185, 187];

/** A body that no endpoint takes. */
const NONSENSE = {
  name: 7,
  type: 'x',
  roles: 'x',
  redirect_to: 7,
  environment: 'x',
  filestore_settings: 7,
  url: 7,
  xmlrpc: 7,
  to: 7,
  max_age: 'x',
  core: 7,
  memory_limit: 7,
  read: 7,
  backups: 7,
};

const CHANGES = ENDPOINTS.filter((row) => row.method !== 'GET');

let homeport: TestHomeport;
let owner: Person;
let accountId: string;
let resources: ResourceSet;
/** As another process opens it. */
let other: Database;

beforeAll(async () => {
  homeport = await startTestHomeport({
    ...WITH_WORDPRESS,
    roles: { api: true, hosting: false },
    clock: manualClock(new Date()),
  });
  other = openDatabase(homeport.place.settings, silent);
  ({ owner, accountId } = await homeport.ownedAccount());
});
afterAll(async () => {
  await other?.close();
  await homeport?.remove();
});

const rowsOf = (account: string) =>
  homeport.platform.database.reader
    .selectFrom('activity')
    .selectAll()
    .where('account_id', '=', account)
    .orderBy('seq')
    .execute();

/** The activity entries of an account during `work`. */
async function writtenBy(account: string, work: () => Promise<unknown>) {
  const before = (await rowsOf(account)).length;
  await work();
  return (await rowsOf(account)).slice(before);
}

const ask = (person: Person, row: EndpointRow, body = bodyFor(row, resources), headers = {}) =>
  person.client.call(row.method, pathTo(row, resources), {
    headers,
    ...(body === undefined ? {} : { json: body }),
  });

/** Whether the transactions of `work` included one that claimed an Idempotency-Key before its answer was stored. */
async function claims(key: string, work: () => Promise<unknown>): Promise<boolean> {
  const { database } = homeport.platform;
  const { write } = database;
  let isClaimed = false;
  database.write = async (change) => {
    const result = await write(change);
    const row = database.reader.selectFrom('idempotency_keys').select('status').where('key', '=', key);
    isClaimed ||= (await row.executeTakeFirst())?.status === null;
    return result;
  };
  try {
    await work();
  } finally {
    database.write = write;
  }
  return isClaimed;
}

it('knows every endpoint that changes something', () => {
  expect(CHANGES.map((row) => row.number).sort((a, b) => a - b)).toEqual(Object.keys(WRITTEN).map(Number));
});

const CHANGE_ROWS = CHANGES.map((row) => [nameOf(row), row] as const);

// The entries are written by the same statement whatever the database, which the tests of single entries run on both.
onlyOn('sqlite', describe)('each endpoint that changes something', () => {
  /** Whether an account with resources is there from an earlier request. */
  let wasAsked = false;
  const actionsOf = ({ written }: { written: { action: string }[] }) => written.map(({ action }) => action);

  /** Asks for a change of the present resources, with what came of it. */
  async function change(row: EndpointRow) {
    const reads = await keptReadsOf(homeport.platform.database, accountId, timestamp(systemClock));
    const [read, readElsewhere] = [reads(homeport.platform.database), reads(other)];
    await read();
    const key = crypto.randomUUID();
    const asked: Answer[] = [];
    let isClaimed = false;
    const written = await writtenBy(accountId, async () => {
      isClaimed = await claims(key, async () => {
        asked.push(await ask(owner, row, bodyFor(row, resources), { 'idempotency-key': key }));
      });
    });
    const [answer] = asked;
    if (answer === undefined) throw new Error('no answer');
    return { answer, isClaimed, written, read, readElsewhere };
  }

  it.each(CHANGE_ROWS)(
    '%s: is recorded once, with the user and the source, claims the key of the request, and leaves no kept answer stale',
    async (_, row) => {
      // An earlier request may have left the resources in a state that refuses this one, or that it does not change.
      const first = wasAsked ? await change(row) : null;
      wasAsked = true;
      const isDone =
        first?.answer.status === row.success && isDeepStrictEqual(actionsOf(first), WRITTEN[row.number]);
      if (first === null || !isDone) {
        ({ owner, accountId } = await homeport.ownedAccount());
        resources = await createResources(homeport, owner, accountId);
      }
      const last = first !== null && isDone ? first : await change(row);
      const { answer, isClaimed, written, read, readElsewhere } = last;
      expect(answer.status).toBe(row.success);
      // Without this, a kill before the answer is stored would let a repetition make the change again.
      expect(isClaimed).toBe(statusesOfHeaders(row).includes(422));
      const requestId = answer.headers['x-request-id'];
      expect(await read()).toEqual(await readElsewhere());
      expect(actionsOf(last)).toEqual(WRITTEN[row.number]);
      for (const entry of written) {
        expect(entry).toMatchObject({
          user_id: owner.userId,
          user_name: `Test Person (${owner.email})`,
          means: 'api',
          credential_id: owner.credential.username,
          credential_name: 'test',
          address: '127.0.0.1',
          request_id: requestId,
        });
        expect(entry.subject_name).not.toBe('');
      }
    },
  );

  describe('is not recorded if it is refused', () => {
    let outsider: Person;
    let reading: Person;
    // Refused requests change nothing, so one set of resources is enough.
    beforeAll(async () => {
      ({ owner, accountId } = await homeport.ownedAccount());
      resources = await createResources(homeport, owner, accountId);
      outsider = await homeport.person();
      const limits = { readOnly: true, accountId: null, installs: null };
      const credential = await homeport.services.credentials.issue(owner.userId, { name: 'reading', limits });
      reading = { ...owner, credential, client: homeport.clientOf(credential) };
    });

    it.each(CHANGE_ROWS)('%s', async (_, row) => {
      const written = await writtenBy(accountId, async () => {
        expect((await ask(reading, row)).status).toBeGreaterThanOrEqual(400);
        if (!OPEN_TO_ALL.includes(row.number))
          expect((await ask(outsider, row)).status).toBeGreaterThanOrEqual(400);
        if (bodyFor(row, resources) !== undefined) {
          expect((await ask(owner, row, NONSENSE)).status).toBe(400);
        }
      });
      expect(written).toEqual([]);
    });
  });
});

describe('what is written', () => {
  const last = async (account = accountId) => (await rowsOf(account)).at(-1);

  beforeAll(async () => {
    ({ owner, accountId } = await homeport.ownedAccount());
    resources = await createResources(homeport, owner, accountId);
  });

  it('of a domain: its name and what became of it', async () => {
    const domains = `/installs/${resources.install_id}/domains`;
    const [made] = await writtenBy(accountId, () =>
      owner.client.post(domains, { name: 'Shop.Example', redirect_to: resources.domain_id }),
    );
    const target = await owner.client.get(`${domains}/${resources.domain_id}`);
    expect(made).toMatchObject({
      subject_name: 'shop.example',
      install_id: resources.install_id,
      details: { redirect_to: field(target.body, 'name') },
    });
    const id = made?.subject_id ?? '';
    await owner.client.patch(`${domains}/${id}`, { redirect_to: '', secure_all_urls: true });
    expect(await last()).toMatchObject({
      subject_id: id,
      details: { redirect_to: null, secure_all_urls: true },
    });
    await owner.client.patch(`${domains}/${id}`, { primary: true });
    expect(await last()).toMatchObject({ action: 'domain.update', details: { primary: true } });
    expect(
      await writtenBy(accountId, () =>
        owner.client.patch(`${domains}/${id}`, { primary: true, secure_all_urls: true }),
      ),
    ).toEqual([]);
  });

  it('of several names: each, and none when one is refused', async () => {
    const bulk = `/installs/${resources.install_id}/domains/bulk`;
    const names = [{ name: 'one.example' }, { name: 'two.example', redirect_to: 'one.example' }];
    const written = await writtenBy(accountId, () => owner.client.post(bulk, { domains: names }));
    expect(written).toMatchObject([
      { subject_name: 'one.example', details: {} },
      { subject_name: 'two.example', details: { redirect_to: 'one.example' } },
    ]);
    const again = { domains: [{ name: 'three.example' }, { name: 'one.example' }] };
    expect(await writtenBy(accountId, () => owner.client.post(bulk, again))).toEqual([]);
  });

  it('of sites and installs: names, and from what to what', async () => {
    const site = await owner.client.get(`/sites/${resources.site_id}`);
    const install = await owner.client.get(`/installs/${resources.install_id}`);
    const name = field(install.body, 'name');
    await owner.client.patch(`/sites/${resources.site_id}`, { name: ' Renamed ' });
    expect(await last()).toMatchObject({
      subject_name: 'Renamed',
      details: { from: field(site.body, 'name'), to: 'Renamed' },
    });
    expect(
      await writtenBy(accountId, () =>
        owner.client.patch(`/sites/${resources.site_id}`, { name: 'Renamed' }),
      ),
    ).toEqual([]);
    await owner.client.patch(`/installs/${resources.install_id}`, { site_id: null, environment: 'staging' });
    expect(await last()).toMatchObject({
      subject_name: name,
      install_id: resources.install_id,
      details: { site: null, environment: 'staging' },
    });
    await owner.client.patch(`/installs/${resources.install_id}`, { site_id: resources.site_id });
    expect(await last()).toMatchObject({ details: { site: 'Renamed' } });
    await owner.client.delete(`/sites/${resources.site_id}`);
    expect((await rowsOf(accountId)).slice(-2)).toMatchObject([
      { action: 'install.delete', subject_id: resources.install_id, subject_name: name },
      { action: 'site.delete', subject_id: resources.site_id, subject_name: 'Renamed' },
    ]);
  });

  it('of account users: their address, role and how many installs', async () => {
    resources = await createResources(homeport, owner, accountId);
    const person = await homeport.person(accountId, 'full');
    const path = `/accounts/${accountId}/account_users/${person.userId}`;
    await owner.client.patch(path, { roles: 'partial', install_ids: [resources.install_id] });
    expect(await last()).toMatchObject({
      action: 'account_user.update',
      subject_id: person.userId,
      subject_name: person.email,
      details: { roles: 'partial', installs: 1 },
    });
    expect(await writtenBy(accountId, () => owner.client.patch(path, { roles: 'partial' }))).toEqual([]);
    await owner.client.delete(path);
    expect(await last()).toMatchObject({ action: 'account_user.remove', subject_name: person.email });
  });

  it('of a key of a person: in each account that they are in', async () => {
    const { accountId: second } = await homeport.ownedAccount();
    const user = { first_name: 'T', last_name: 'P', email: owner.email, roles: 'full' } as const;
    await homeport.services.accountUsers.addByOperator(
      { ...user, account_id: second },
      { installNames: [], invite: false },
    );
    expect(await last(second)).toMatchObject({
      action: 'account_user.add',
      subject_name: owner.email,
      user_id: null,
      user_name: 'the operator',
      means: 'command_line',
      details: { roles: 'full' },
    });
    await owner.client.delete(`/ssh_keys/${resources.ssh_key_id}`);
    for (const account of [accountId, second]) {
      expect(await last(account)).toMatchObject({
        action: 'ssh_key.delete',
        subject_id: resources.ssh_key_id,
        subject_name: 'somebody@example.com',
      });
    }
  });
});
