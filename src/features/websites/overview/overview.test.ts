import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { field } from '../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { signedIn } from '../../../../test/portal-client.ts';
import { onlyInLong } from '../../../../test/rounds.ts';
import { operatorFor } from '../../../access/caller.ts';
import { loadScope } from '../../../access/memberships.ts';
import type { BackupStatus } from '../../../database/tables/backups.ts';
import { timestamp } from '../../../lib/clock.ts';
import { DAY_MS } from '../../../lib/durations.ts';
import { ClientLeft } from '../../../lib/failures.ts';
import { pageOfListed } from './listed-installs.ts';
import { listSites } from './listed-sites.ts';
import { searchSites } from './search-parts-store.ts';

let homeport: TestHomeport;
let accountId: string;
let owner: Person;
beforeAll(async () => {
  homeport = await startTestHomeport({ roles: { api: true, hosting: false } });
  ({ accountId, owner } = await homeport.ownedAccount());
});
afterAll(() => homeport?.remove());

/** Names of three digits have the order of their numbers. */
let counter = 100;

/** An active install with these domains besides its default domain. */
async function install(account: string, person: Person, names: string[] = []): Promise<string> {
  counter += 1;
  const caller = operatorFor(person.userId);
  const name = `seen${process.pid}x${counter}`;
  const { id } = await homeport.services.installs.create(caller, { name, account_id: account });
  for (const domain of names) await homeport.services.domains.create(caller, id, { name: domain });
  await homeport.platform.database.write(({ queries }) =>
    queries.updateTable('installs').set({ status: 'active' }).where('id', '=', id).execute(),
  );
  return id;
}

async function results(person: Person, path: string): Promise<unknown[]> {
  const { status, body } = await (await signedIn(homeport, person)).get(path);
  expect(status).toBe(200);
  const found = field(body, 'results');
  return Array.isArray(found) ? found : [];
}

describe('the search over all accounts', () => {
  async function find(person: Person, text: string) {
    const client = await signedIn(homeport, person);
    const { status, body } = await client.get(`/search?search=${encodeURIComponent(text)}`);
    expect(status).toBe(200);
    return body;
  }
  const found = (person: Person, text: string) =>
    results(person, `/search?search=${encodeURIComponent(text)}`);

  it('finds sites, installs and domains by part of their names, with their places', async () => {
    const caller = operatorFor(owner.userId);
    const site = await homeport.services.sites.create(caller, {
      name: 'Über den Wolken',
      account_id: accountId,
    });
    const id = await install(accountId, owner, ['wolken.example', 'www.wolken.example', 'wölk.example']);
    await homeport.services.installs.update(caller, id, { site_id: site.id, environment: 'staging' });
    const other = await homeport.ownedAccount();
    const elsewhere = await install(other.accountId, other.owner, ['wolkenlos.example']);

    const account = { id: accountId, name: expect.any(String) };
    const place = {
      install: expect.stringMatching(/^seen/),
      site: 'Über den Wolken',
      environment: 'staging',
    };
    expect(await found(owner, ' ÜBER ')).toEqual([
      { kind: 'site', id: site.id, name: site.name, install: null, site: null, environment: null, account },
    ]);
    expect(await found(owner, 'wolken.example')).toEqual([
      { kind: 'domain', id, name: 'wolken.example', ...place, account },
      { kind: 'domain', id, name: 'www.wolken.example', ...place, account },
    ]);
    expect(await found(owner, 'WÖLK')).toMatchObject([{ kind: 'domain', id }]);
    expect(await found(other.owner, 'wolken')).toMatchObject([{ name: 'wolkenlos.example', id: elsewhere }]);
    // The install is found by its name, without its default domain; that domain is found by its own name.
    const { name } = await homeport.services.installs.get(caller, id);
    expect(await found(owner, name)).toMatchObject([{ kind: 'install', id, name, site: 'Über den Wolken' }]);
    expect(await found(owner, `${name}.`)).toMatchObject([{ kind: 'domain', id }]);
    for (const text of ['', ' ', 'w_lken', '%', '\\', "'"]) expect(await found(owner, text)).toEqual([]);
  });

  it('shows partial users the installs granted to them, and strangers nothing', async () => {
    const theirs = await install(accountId, owner, ['given.secret.example']);
    await install(accountId, owner, ['kept.secret.example']);
    await homeport.services.sites.create(operatorFor(owner.userId), {
      name: 'Secret site',
      account_id: accountId,
    });
    const partial = await homeport.person(accountId, 'partial', [theirs]);
    expect(await found(owner, 'secret')).toHaveLength(3);
    expect(await found(partial, 'secret')).toMatchObject([{ name: 'given.secret.example' }]);
    expect(await found(await homeport.person(), 'secret')).toEqual([]);
  });

  it('shows the first few matches, exact ones before others', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `a${index}.many.example`);
    await install(accountId, owner, [...names, 'many.example', 'many.example.org']);
    const body = await find(owner, 'many.example');
    expect(field(body, 'more')).toBe(true);
    expect(await found(owner, 'many.example')).toMatchObject([
      { name: 'many.example' },
      { name: 'many.example.org' },
      ...Array.from({ length: 6 }, () => ({ name: expect.stringMatching(/^a\d+/) })),
    ]);
    expect(field(await find(owner, 'a11.many'), 'more')).toBe(false);
  });
});

/** Lets the stored counts of an account say that it is very large. */
async function enlarge(account: string): Promise<void> {
  await homeport.platform.database.write(({ queries }) =>
    queries
      .updateTable('accounts')
      .set({ install_count: 20_000, site_count: 20_000 })
      .where('id', '=', account)
      .execute(),
  );
}

describe('a very large account', () => {
  it('is searched among its newest installs and by the beginnings of names', async () => {
    const account = await homeport.ownedAccount();
    const id = await install(account.accountId, account.owner, ['huge.example', 'www.huge.example']);
    const other = await homeport.ownedAccount();
    await install(other.accountId, other.owner, ['huge-elsewhere.example']);
    await enlarge(account.accountId);
    const find = (text: string) => results(account.owner, `/search?search=${encodeURIComponent(text)}`);
    expect(await find('huge')).toMatchObject([
      { kind: 'domain', name: 'huge.example', id },
      { kind: 'domain', name: 'www.huge.example', id },
    ]);
    const { name } = await homeport.services.installs.get(operatorFor(account.owner.userId), id);
    expect(await find(name)).toMatchObject([{ kind: 'install', name, id }]);
    expect(await find('elsewhere')).toEqual([]);
  });

  it('lists installs and sites in the order of their indexes', async () => {
    const account = await homeport.ownedAccount();
    const caller = operatorFor(account.owner.userId);
    const create = (name: string) =>
      homeport.services.installs.create(caller, { name, account_id: account.accountId });
    const prefix = `order${process.pid}x`;
    for (const number of [2, 10, 1]) await create(`${prefix}${number}`);
    for (const name of ['Site 2', 'Site 10'])
      await homeport.services.sites.create(caller, { name, account_id: account.accountId });
    const names = async (list: string) =>
      (await results(account.owner, `/accounts/${account.accountId}/${list}`)).map((row) =>
        field(row, 'name'),
      );
    const named = (...numbers: number[]) => numbers.map((number) => `${prefix}${number}`);
    expect(await names('installs')).toEqual(named(1, 2, 10));
    expect(await names('sites')).toEqual(['Site 2', 'Site 10']);
    await enlarge(account.accountId);
    expect(await names('installs')).toEqual(named(1, 10, 2));
    expect(await names('installs?sort=-name&limit=2')).toEqual(named(2, 10));
    expect(await names('installs?offset=2&limit=1')).toEqual(named(2));
    expect(await names('sites')).toEqual(['Site 10', 'Site 2']);
    expect(await names('sites?sort=-created&limit=1')).toEqual(['Site 10']);
    expect(await names('sites?sort=-installs')).toHaveLength(2);
    const client = await signedIn(homeport, account.owner);
    expect((await client.get(`/accounts/${account.accountId}/sites`)).body).toMatchObject({
      total: 20_000,
      count: 20_000,
      unassigned: 3,
    });
  });
});

describe('the search in the lists of a very large account', () => {
  onlyInLong(it)('finds the same as in a small one', async () => {
    const account = await homeport.ownedAccount();
    const caller = operatorFor(account.owner.userId);
    const created = await Promise.all(
      ['Zoo 10', 'Zoo 2', 'Änder', 'Park'].map((name) =>
        homeport.services.sites.create(caller, { name, account_id: account.accountId, tags: ['One'] }),
      ),
    );
    const inPark = await install(account.accountId, account.owner, ['inside-zoo.example']);
    const other = await install(account.accountId, account.owner, ['outside-of-it.example']);
    await homeport.services.installs.update(caller, inPark, {
      site_id: created[3]?.id ?? null,
      environment: 'staging',
    });
    const lists = async () => {
      const found: unknown[] = [];
      for (const list of [
        ...[
          '',
          '&sort=-name',
          '&sort=installs',
          '&sort=created',
          '&tags=one',
          '&tags=two',
          '&limit=1&offset=1',
        ].map((rest) => `sites?search=zoo${rest}`),
        ...['sites?search=%C3%A4nder', 'sites?search=nowhere'],
        ...['installs?search=zoo', 'installs?search=example', 'installs?search=nowhere'],
        ...['installs?search=example&environment=staging', 'installs?search=example&sort=-site'],
        ...['matching_installs?search=example', `matching_installs?search=example&ids=${other}`],
      ]) {
        const rows = await results(account.owner, `/accounts/${account.accountId}/${list}`);
        found.push([list, rows.map((row) => field(row, 'name'))]);
      }
      return found;
    };
    const small = await lists();
    expect(small.slice(0, 2)).toEqual([
      ['sites?search=zoo', ['Park', 'Zoo 2', 'Zoo 10']],
      ['sites?search=zoo&sort=-name', ['Zoo 10', 'Zoo 2', 'Park']],
    ]);
    await enlarge(account.accountId);
    expect(await lists()).toEqual(small);
  });

  it('looks for sites among those with the tags, and shows none that left the account meanwhile', async () => {
    const { reader } = homeport.platform.database;
    const [account, former] = [await homeport.ownedAccount(), await homeport.ownedAccount()];
    const add = async ({ accountId, owner }: typeof account, tags: string[]) => {
      const site = { name: 'Zoo', account_id: accountId, tags };
      return (await homeport.services.sites.create(operatorFor(owner.userId), site)).id;
    };
    const [tagged, later] = [await add(account, ['One', 'Two']), await add(account, ['One'])];
    await add(account, []);
    const left = await add(former, ['One']);
    const scope = await loadScope(reader, operatorFor(account.owner.userId), account.accountId);
    const atOnce = (part: () => Promise<void>) => part();
    expect(await searchSites(reader, scope, 'zoo', 'one', atOnce)).toEqual([tagged, later]);
    expect(await searchSites(reader, scope, 'zoo', 'two,one', atOnce)).toEqual([tagged]);
    const soon = timestamp(homeport.platform.clock);
    const { count, results: sites } = await listSites(
      reader,
      scope,
      { text: 'zoo', tags: 'one', conditions: { texts: ['zoo'], soon }, found: [later, left, tagged] },
      { sort: 'created', isDescending: false, limit: 9, offset: 0 },
    );
    expect([count, sites.map(({ id }) => id)]).toEqual([2, [tagged, later]]);
  });

  it('ends if the client has left, and does not in a small account', async () => {
    const account = await homeport.ownedAccount();
    const caller = operatorFor(account.owner.userId);
    const gone = AbortSignal.abort();
    const { overview } = homeport.services;
    const page = { sort: 'name', limit: 9, offset: 0 };
    const search = 'zoo';
    const lists = [
      () => overview.listInstalls(caller, account.accountId, { search }, page, gone),
      () => overview.listSites(caller, account.accountId, { search }, page, gone),
      () => overview.selectInstalls(caller, account.accountId, { search }, undefined, gone),
    ];
    for (const list of lists) await list();
    await enlarge(account.accountId);
    for (const list of lists) await expect(list()).rejects.toThrow(ClientLeft);
  });

  it('has few statements, whatever number of installs and sites it finds', async () => {
    const { reader } = homeport.platform.database;
    const scope = await loadScope(reader, operatorFor(owner.userId), accountId);
    const conditions = { texts: ['zoo'], soon: timestamp(homeport.platform.clock) };
    const part = { isDescending: false, limit: 9, offset: 0 };
    const find = async (length: number) => {
      const found = Array.from({ length }, () => crypto.randomUUID());
      await pageOfListed(reader, scope, { ...conditions, found }, { ...part, sort: 'php' });
      const asked = { text: 'zoo', tags: undefined, conditions, found };
      await listSites(reader, scope, asked, { ...part, sort: 'installs' });
    };
    const prepared = vi.spyOn(Sqlite.prototype, 'prepare');
    for (const length of [8, 4_100, 20_000]) await find(length);
    prepared.mockClear();
    for (const length of [5, 6, 7, 8_192, 16_500]) await find(length);
    expect(prepared).not.toHaveBeenCalled();
    prepared.mockRestore();
  });
});

describe('the list of installs', () => {
  it('has names with the same number in the same order, whatever order they are read in', async () => {
    const { reader } = homeport.platform.database;
    const { owner, accountId: account_id } = await homeport.ownedAccount();
    const caller = operatorFor(owner.userId);
    counter += 1;
    const names = ['1', '01', '001'].map((number) => `same${process.pid}x${counter}x${number}`);
    const ids: string[] = [];
    for (const name of names) {
      ids.push((await homeport.services.installs.create(caller, { name, account_id })).id);
    }
    const scope = await loadScope(reader, caller, account_id);
    const asked = { texts: [], soon: timestamp(homeport.platform.clock) };
    const part = { sort: 'name', isDescending: false, limit: 9, offset: 0 } as const;
    const { rows } = await pageOfListed(reader, scope, { ...asked, found: ids }, part);
    expect(rows.map(({ name }) => name)).toEqual(names.toReversed());
  });

  it('filters, sorts and pages, with what each row shows', async () => {
    const account = await homeport.ownedAccount();
    const caller = operatorFor(account.owner.userId);
    const site = await homeport.services.sites.create(caller, {
      name: 'Zoo',
      account_id: account.accountId,
    });
    const first = await install(account.accountId, account.owner, ['other.listed.example']);
    const second = await install(account.accountId, account.owner, ['ünder.listed.example']);
    const third = await install(account.accountId, account.owner);
    await homeport.services.installs.update(caller, second, { site_id: site.id, environment: 'staging' });
    await homeport.platform.database.write(async ({ queries }) => {
      await queries.updateTable('installs').set({ status: 'failed' }).where('id', '=', third).execute();
      const due_at = '2030-01-01T00:00:00.000Z';
      await queries
        .insertInto('wordpress_readings')
        .values({ install_id: second, core_update: '6.9.1', plugin_updates: 2, theme_updates: 0, due_at })
        .execute();
    });
    const client = await signedIn(homeport, account.owner);
    const page = async (query: string) => {
      const { status, body } = await client.get(`/accounts/${account.accountId}/installs?${query}`);
      expect(status, query).toBe(200);
      return body;
    };
    const ids = async (query: string) => {
      const found = field(await page(query), 'results');
      return Array.isArray(found) ? found.map((row) => field(row, 'id')) : [];
    };
    expect(await page('sort=-created&limit=2&offset=1')).toMatchObject({
      total: 3,
      count: 3,
      results: [
        {
          id: second,
          site_id: site.id,
          site_name: 'Zoo',
          environment: 'staging',
          core_update: '6.9.1',
          plugin_updates: 2,
          matched_domain: null,
          reasons: [],
        },
        { id: first, site_id: null, core_update: null, plugin_updates: 0 },
      ],
    });
    expect(await page('search=OTHER.listed')).toMatchObject({
      total: 3,
      count: 1,
      results: [{ id: first, matched_domain: 'other.listed.example' }],
    });
    expect(await ids(`search=${encodeURIComponent('Ünder')}`)).toEqual([second]);
    // Wildcard characters in the text match themselves only.
    for (const text of ['%25', 'other_listed', '%5C', "'"]) expect(await ids(`search=${text}`)).toEqual([]);
    expect(await ids('status=attention')).toEqual([third]);
    expect(await ids('status=active&sort=-name')).toEqual([second, first]);
    expect(await ids('environment=staging')).toEqual([second]);
    expect(await ids('environment=none')).toEqual([first, third]);
    expect(await ids(`site=${site.id}`)).toEqual([second]);
    expect(await ids('site=none&sort=-domain')).toEqual([third, first]);
    for (const [sort, order] of [
      ['status', [third, first, second]],
      ['environment', [second, first, third]],
      ['site', [first, third, second]],
      ['updates', [second, first, third]],
      ['php', [first, second, third]],
    ] as const) {
      expect(await ids(`sort=${sort}`), sort).toEqual(order);
      // One that is sorted by several queries has each install once, on pages in both directions.
      for (const [key, wanted] of [
        [sort, order],
        [`-${sort}`, order.toReversed()],
      ] as const) {
        const pages = [0, 1, 2, 3].map((offset) => ids(`sort=${key}&limit=1&offset=${offset}`));
        expect((await Promise.all(pages)).flat(), key).toEqual(wanted);
      }
    }
    for (const wrong of ['sort=size', 'status=old', 'site=Zoo', 'limit=-1', 'search=%00'])
      expect((await client.get(`/accounts/${account.accountId}/installs?${wrong}`)).status).toBe(400);

    // What a selection needs, and which installs of some exist.
    const matching = `/accounts/${account.accountId}/matching_installs`;
    expect(await results(account.owner, `${matching}?status=active`)).toMatchObject([
      { id: first },
      { id: second },
    ]);
    const gone = crypto.randomUUID();
    expect(await results(account.owner, `${matching}?ids=${gone},${third}`)).toMatchObject([{ id: third }]);
    expect((await client.get(`${matching}?ids=none`)).status).toBe(400);

    const partial = await homeport.person(account.accountId, 'partial', [first]);
    expect(await results(partial, `/accounts/${account.accountId}/installs`)).toMatchObject([{ id: first }]);
    expect(await results(partial, `${matching}?ids=${first},${second}`)).toMatchObject([{ id: first }]);
    const stranger = await signedIn(homeport, await homeport.person());
    expect((await stranger.get(`/accounts/${account.accountId}/installs`)).status).toBe(404);
    expect((await stranger.get(`/accounts/${account.accountId}/attention`)).status).toBe(404);
    expect((await stranger.get(matching)).status).toBe(404);
    expect((await stranger.get(`/accounts/${account.accountId}/sites`)).status).toBe(404);
  });

  it('has sites by their names and by those of their installs, in the order of numbers', async () => {
    const account = await homeport.ownedAccount();
    const caller = operatorFor(account.owner.userId);
    const [ten, two, over] = await Promise.all(
      ['Site 10', 'Site 2', 'Über'].map((name) =>
        homeport.services.sites.create(caller, { name, account_id: account.accountId }),
      ),
    );
    const found = await install(account.accountId, account.owner, ['given.sought.example']);
    const unassigned = await install(account.accountId, account.owner);
    await homeport.services.installs.update(caller, found, { site_id: two?.id, environment: 'production' });
    const client = await signedIn(homeport, account.owner);
    const page = async (query: string) =>
      (await client.get(`/accounts/${account.accountId}/sites?${query}`)).body;
    const siteIds = async (query: string) => {
      const list = field(await page(query), 'results');
      return Array.isArray(list) ? list.map((site) => field(site, 'id')) : [];
    };
    expect(await siteIds('')).toEqual([two?.id, ten?.id, over?.id]);
    expect(await siteIds('sort=-installs&limit=1')).toEqual([two?.id]);
    expect(await siteIds(`search=${encodeURIComponent('ÜBER')}`)).toEqual([over?.id]);
    expect(await page('search=given.sought')).toMatchObject({
      total: 3,
      count: 1,
      unassigned: 1,
      results: [
        {
          id: two?.id,
          installs: [
            {
              id: found,
              environment: 'production',
              needs_attention: false,
              matched_domain: 'given.sought.example',
            },
          ],
        },
      ],
    });
    const partial = await homeport.person(account.accountId, 'partial', [unassigned]);
    expect(await results(partial, `/accounts/${account.accountId}/sites`)).toEqual([]);
  });
});

describe('attention list', () => {
  const at = (days: number) => timestamp(homeport.platform.clock, days * DAY_MS);

  async function backups(installId: string, ...statuses: BackupStatus[]): Promise<void> {
    await homeport.platform.database.write(async ({ queries }) => {
      for (const status of statuses) {
        await queries
          .insertInto('backups')
          .values({
            id: crypto.randomUUID(),
            install_id: installId,
            description: 'Daily',
            notification_emails: '[]',
            status,
            reason: status === 'aborted' ? 'No room is left.' : null,
            created_at: at(0),
            finished_at: status === 'aborted' ? at(0) : null,
          })
          .execute();
      }
    });
  }

  async function domain(name: string, seen: object, certificateDays?: number): Promise<void> {
    await homeport.platform.database.write(async ({ queries }) => {
      const { id } = await queries
        .updateTable('domains')
        .set(seen)
        .where('name', '=', name)
        .returning('id')
        .executeTakeFirstOrThrow();
      if (certificateDays === undefined) return;
      await queries
        .insertInto('certificates')
        .values({
          domain_id: id,
          source: 'LETS_ENCRYPT',
          chain: '',
          sealed_key: '',
          not_before: at(-80),
          not_after: at(certificateDays),
          created_at: at(-80),
        })
        .execute();
    });
  }

  it('has each install with a fault, its reasons in order, and no healthy one', async () => {
    const account = await homeport.ownedAccount();
    const make = (names: string[] = []) => install(account.accountId, account.owner, names);
    const failed = await make();
    const well = await make(['well.example']);
    const backedUp = await make();
    const badly = await make();
    const doubtful = await make(['elsewhere.example', 'refused.example', 'ending.example', 'new.example']);
    await homeport.platform.database.write(({ queries }) =>
      queries.updateTable('installs').set({ status: 'failed' }).where('id', '=', failed).execute(),
    );
    await domain('well.example', { reached: true, ssl_status: 'active' }, 15);
    await backups(well, 'completed');
    await backups(backedUp, 'aborted', 'completed');
    await backups(badly, 'completed', 'aborted', 'requested');
    await backups(doubtful, 'aborted');
    const refusal = 'The authority said no.';
    const seen = at(-3);
    await domain('elsewhere.example', { reached: false, checked_at: seen, ssl_status: 'failed' });
    await domain('refused.example', { reached: true, ssl_status: 'failed', ssl_reason: refusal });
    await domain('ending.example', { reached: true, ssl_status: 'active' }, 13);

    const nothing = { domain: null, at: null, reason: null, retry_operation_id: null };
    const backup = {
      ...nothing,
      kind: 'backup_failed',
      at: expect.any(String),
      reason: 'No room is left.',
    };
    const install_name = expect.stringMatching(/^seen/);
    const path = `/accounts/${account.accountId}/attention`;
    const found = await results(account.owner, path);
    expect(found).toHaveLength(3);
    expect(found[0]).toMatchObject({ install_id: failed });
    const client = await signedIn(homeport, account.owner);
    expect((await client.get(`${path}?limit=0`)).body).toEqual({ count: 3, results: [] });
    expect((await client.get(`${path}?limit=1&offset=1`)).body).toEqual({ count: 3, results: [found[1]] });
    expect(await results(account.owner, `${path}?install_id=${well}`)).toEqual([]);
    expect(await results(account.owner, `${path}?install_id=${badly}`)).toMatchObject([
      { install_id: badly },
    ]);
    expect(found).toEqual(
      expect.arrayContaining([
        { install_id: failed, install_name, reasons: [{ ...nothing, kind: 'install_failed' }] },
        { install_id: badly, install_name, reasons: [backup] },
        {
          install_id: doubtful,
          install_name,
          reasons: [
            backup,
            { ...nothing, kind: 'domain_not_reached', domain: 'elsewhere.example', at: seen },
            { ...nothing, kind: 'certificate_missing', domain: 'refused.example', reason: refusal },
            { ...nothing, kind: 'certificate_ends', domain: 'ending.example', at: expect.any(String) },
          ],
        },
      ]),
    );

    const partial = await homeport.person(account.accountId, 'partial', [badly, well]);
    expect(await results(partial, path)).toEqual([{ install_id: badly, install_name, reasons: [backup] }]);
  });

  it('leaves out names served by another install and websites not served yet', async () => {
    const account = await homeport.ownedAccount();
    const first = await install(account.accountId, account.owner, ['twice.example']);
    await install(account.accountId, account.owner, ['twice.example']);
    await homeport.platform.database.write(async ({ queries }) => {
      await queries.updateTable('installs').set({ status: 'pending' }).where('id', '=', first).execute();
      await queries
        .updateTable('domains')
        .set({ reached: false })
        .where('name', '=', 'twice.example')
        .execute();
    });
    expect(await results(account.owner, `/accounts/${account.accountId}/attention`)).toEqual([]);
  });
});

describe('the onboarding of an account', () => {
  it('says which first steps were taken, to users who can take them', async () => {
    const account = await homeport.ownedAccount();
    const path = `/accounts/${account.accountId}/onboarding`;
    const client = await signedIn(homeport, account.owner);
    const steps = async () => (await client.get(path)).body;
    const none = { site: false, install: false, domain: false, backup: false, person: false };
    expect(await steps()).toEqual({ ...none, daily_backups: false });

    const caller = operatorFor(account.owner.userId);
    await homeport.services.sites.create(caller, { name: 'Shop', account_id: account.accountId });
    const id = await install(account.accountId, account.owner);
    expect(await steps()).toMatchObject({ ...none, site: true, install: true });
    await homeport.services.domains.create(caller, id, { name: 'onboarding.example' });
    const partial = await homeport.person(account.accountId, 'partial', [id]);
    expect(await steps()).toMatchObject({ domain: true, backup: false, person: true });

    expect((await (await signedIn(homeport, partial)).get(path)).status).toBe(403);
    expect((await (await signedIn(homeport, await homeport.person())).get(path)).status).toBe(404);
  });
});
