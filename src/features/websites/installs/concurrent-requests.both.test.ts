import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field, text } from '../../../../test/client.ts';
import { overlapping } from '../../../../test/held-jobs.ts';
import { installName, type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { mostlyOn, onlyOn } from '../../../../test/only-on.ts';
import { rounds } from '../../../../test/rounds.ts';
import { installCalls } from './installs.fixture.ts';

// SQLite has one writer, so most transactions overlap on PostgreSQL alone.

let homeport: TestHomeport;
let accountId: string;
let owner: Person;

beforeAll(async () => {
  // Without backups of deleted installs: see provisioning/deleted-installs.
  homeport = await startTestHomeport({ environment: { HOMEPORT_DELETED_DAYS: '0' } });
  ({ accountId, owner } = await homeport.ownedAccount());
});
afterAll(() => homeport.remove());

const { create, newSite } = installCalls(() => ({ accountId, owner }));

describe('concurrent requests', () => {
  const statuses = (answers: { status: number }[]) => answers.map(({ status }) => status).sort();

  /** The stored counts of an account and the real ones. */
  async function expectCountsRight(account: string, person: Person): Promise<void> {
    const { reader } = homeport.platform.database;
    const kept = await reader
      .selectFrom('accounts')
      .select(['site_count', 'install_count'])
      .where('id', '=', account)
      .executeTakeFirstOrThrow();
    const sites = await reader.selectFrom('sites').select('id').where('account_id', '=', account).execute();
    const installs = await reader
      .selectFrom('installs')
      .select('id')
      .where('account_id', '=', account)
      .execute();
    expect(kept).toEqual({ site_count: sites.length, install_count: installs.length });
    expect((await person.client.get('/sites')).body).toMatchObject({ count: sites.length });
    expect((await person.client.get('/installs')).body).toMatchObject({ count: installs.length });
  }

  it('give a name to one of them', async () => {
    const name = installName();
    const other = await homeport.ownedAccount();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        index % 2 ? create({ name }) : create({ name, account_id: other.accountId }, other.owner.client),
      ),
    );
    expect(statuses(answers)).toEqual([201, ...Array(7).fill(400)]);
    for (const { status, body } of answers) {
      if (status === 400) expect(field(body, 'errors')).toMatchObject([{ field: 'name', code: 'taken' }]);
    }
    await expectCountsRight(other.accountId, other.owner);
  });

  it('give a slot to one of them', async () => {
    const site = await newSite();
    const waiting = await Promise.all([create(), create(), create()]);
    const answers = await Promise.all([
      ...waiting.map(({ body }) =>
        owner.client.patch(`/installs/${text(body, 'id')}`, { site_id: site, environment: 'production' }),
      ),
      ...Array.from({ length: 3 }, () => create({ site_id: site, environment: 'production' })),
    ]);
    expect(answers.filter(({ status }) => status < 300)).toHaveLength(1);
    for (const { status, body } of answers) {
      if (status === 400)
        expect(field(body, 'errors')).toMatchObject([{ field: 'environment', code: 'taken' }]);
    }
    expect(field((await owner.client.get(`/sites/${site}`)).body, 'installs')).toHaveLength(1);
  });

  it('delete an install once', async () => {
    const { accountId: account, owner: person } = await homeport.ownedAccount();
    const site = await newSite(account, person);
    const install = await homeport.install(person, account, { site_id: site });
    const path = `/installs/${install.id}`;
    const answers = await Promise.all(Array.from({ length: 5 }, () => person.client.delete(path)));
    expect(statuses(answers)).toEqual([204, 404, 404, 404, 404]);
    const sites = await Promise.all(Array.from({ length: 5 }, () => person.client.delete(`/sites/${site}`)));
    expect(statuses(sites)).toEqual([204, 404, 404, 404, 404]);
    await expectCountsRight(account, person);
  });

  mostlyOn('sqlite', it)('keep the counts right through many creations, moves and deletions', async () => {
    const { accountId: account, owner: person } = await homeport.ownedAccount();
    const made = async (site_id?: string) =>
      text((await create({ account_id: account, site_id }, person.client)).body, 'id');
    for (let round = 0; round < rounds(1, 3); round++) {
      const sites = await Promise.all(Array.from({ length: 4 }, () => newSite(account, person)));
      const installs = await Promise.all(sites.flatMap((site) => [made(site), made(site)]));
      const answers = await Promise.all([
        ...installs.flatMap((id, index) => [
          person.client.patch(`/installs/${id}`, { site_id: sites[(index + 3) % 4] }),
          ...(index % 2 ? [person.client.delete(`/installs/${id}`)] : []),
        ]),
        ...sites.slice(0, 3).map((site) => person.client.delete(`/sites/${site}`)),
        ...sites.map((site_id) => create({ account_id: account, site_id }, person.client)),
        newSite(account, person).then(() => ({ status: 201 })),
      ]);
      for (const { status } of answers) expect([200, 201, 204, 400, 403, 404]).toContain(status);
      await expectCountsRight(account, person);
    }
  });

  onlyOn('postgres', describe)('overlapping transactions', () => {
    it.each([
      ['first', true],
      ['last', false],
    ])('count an install deleted with its site once (itself %s)', async (_, itselfFirst) => {
      const { accountId: account, owner: person } = await homeport.ownedAccount();
      const site = await newSite(account, person);
      const install = await homeport.install(person, account, { site_id: site });
      await homeport.install(person, account, { site_id: site });
      const requests = [`/installs/${install.id}`, `/sites/${site}`].map(
        (path) => () => person.client.delete(path),
      );
      const answers = await overlapping(homeport, itselfFirst ? requests : requests.reverse());
      expect(answers[0]?.status).toBe(204);
      expect([204, 404]).toContain(answers[1]?.status);
      await expectCountsRight(account, person);
      expect((await person.client.get('/installs')).body).toMatchObject({ count: 0 });
    });
  });
});
