import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field, text } from '../../../../test/client.ts';
import { visit } from '../../../../test/edge.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { NOT_FOUND } from '../../../../test/refusal.ts';
import { onlyInLong } from '../../../../test/rounds.ts';
import { domainCalls, domainName, domainsOf, fault, type Install } from './domains.fixture.ts';

let homeport: TestHomeport;
let accountId: string;
let owner: Person;

beforeAll(async () => {
  homeport = await startTestHomeport();
  ({ accountId, owner } = await homeport.ownedAccount());
});
afterAll(() => homeport.remove());

const newInstall = () => homeport.install(owner, accountId);
const { add, addBulk, added, change, defaultDomain, list, read, remove } = domainCalls(() => owner.client);

describe('a name that another install has', () => {
  const servedBy = async (name: string, install: Install) =>
    expect((await visit(homeport, `http://${name}/`)).body).toContain(install.name);
  const PENDING = {
    duplicate: true,
    primary: false,
    network_details: { network_info: { status: 'PENDING', ssl: { status: 'pending' } } },
  };

  it('is a duplicate that serves nothing until the name is released; the oldest is next', async () => {
    const [first, second, third] = [await newInstall(), await newInstall(), await newInstall()];
    const name = domainName();
    const at = await added(first, name);
    const answer = await add(second, name.toUpperCase());
    expect(answer).toMatchObject({ status: 201, body: { name, ...PENDING } });
    const next = text(answer.body, 'id');
    const last = await added(third, name);
    await homeport.idle();
    await servedBy(name, first);
    expect(await read(second, next)).toMatchObject(PENDING);
    expect(await read(first, at)).toMatchObject({ duplicate: false });
    const noCertificate = await owner.client.get(`${domainsOf(second)}/${next}/ssl_certificate`);
    expect(noCertificate).toMatchObject(NOT_FOUND);

    expect((await remove(first, at)).status).toBe(204);
    await homeport.idle();
    expect(await read(second, next)).toMatchObject({
      duplicate: false,
      network_details: { network_info: { status: 'ACTIVE', ssl: { status: 'active' } } },
    });
    expect(await read(third, last)).toMatchObject(PENDING);
    await servedBy(name, second);

    // Deleted with its install, then with its site.
    expect((await owner.client.delete(`/installs/${second.id}`)).status).toBe(204);
    await homeport.idle();
    expect(await read(third, last)).toMatchObject({ duplicate: false });
    await servedBy(name, third);
  });

  it('passes on when the site with its install is deleted', async () => {
    const site = text((await owner.client.post('/sites', { name: 'S', account_id: accountId })).body, 'id');
    const first = await homeport.install(owner, accountId, { site_id: site });
    const second = await newInstall();
    const name = domainName();
    await added(first, name);
    const next = await added(second, name);
    await owner.client.delete(`/sites/${site}`);
    await homeport.idle();
    expect(await read(second, next)).toMatchObject({ duplicate: false });
    await servedBy(name, second);
  });

  it('cannot be primary while it is a duplicate', async () => {
    const [first, second] = [await newInstall(), await newInstall()];
    const name = domainName();
    const at = await added(first, name, { primary: true });
    const refused = fault(
      'primary',
      'duplicate',
      `${name} is served by another install and cannot be the primary domain`,
    );
    expect(await add(second, name, { primary: true })).toMatchObject(refused);
    expect(await list(second)).toHaveLength(1);
    const duplicate = await added(second, name);
    expect(await change(second, duplicate, { primary: true })).toMatchObject(refused);
    await change(first, await defaultDomain(first), { primary: true });
    await remove(first, at);
    expect(await change(second, duplicate, { primary: true })).toMatchObject({
      status: 200,
      body: { primary: true, duplicate: false },
    });
  });

  onlyInLong(it)('is not affected when the duplicate is removed', async () => {
    const [first, second] = [await newInstall(), await newInstall()];
    const name = domainName();
    const at = await added(first, name);
    await remove(second, await added(second, name));
    await homeport.idle();
    await servedBy(name, first);
    expect(await read(first, at)).toMatchObject({ duplicate: false });
  });
});

describe('at the same time', () => {
  /** The domains of a name in the database, oldest first. */
  const rowsOf = (name: string) =>
    homeport.platform.database.reader
      .selectFrom('domains')
      .select(['install_id', 'is_duplicate'])
      .where('name', '=', name)
      .execute();

  it('gives a name to one of several installs, and to the others as a duplicate', async () => {
    const installs = await Promise.all(Array.from({ length: 6 }, newInstall));
    const name = domainName();
    const answers = await Promise.all(installs.map((install) => add(install, name)));
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(201));
    expect(answers.filter(({ body }) => field(body, 'duplicate') === false)).toHaveLength(1);
  });

  it('gives a name to an install once', async () => {
    const install = await newInstall();
    const name = domainName();
    const answers = await Promise.all(Array.from({ length: 6 }, () => add(install, name)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400, 400, 400]);
  });

  onlyInLong(it)('adds the same names in any order from many requests, and removes them all', async () => {
    const installs = await Promise.all(Array.from({ length: 6 }, newInstall));
    const names = Array.from({ length: 20 }, domainName);
    const answers = await Promise.all(
      installs.map((install, index) => {
        const order = index % 2 === 0 ? names : names.toReversed();
        return addBulk(
          install,
          order.map((name) => ({ name })),
        );
      }),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(201));
    const deleted = await Promise.all(installs.map(({ id }) => owner.client.delete(`/installs/${id}`)));
    expect(deleted.map(({ status }) => status)).toEqual(Array(6).fill(204));
    expect(await rowsOf(names[0] ?? '')).toEqual([]);
  });

  onlyInLong(it)('answers purges and checks during a deletion as if before or after it', async () => {
    for (let round = 0; round < 8; round++) {
      const install = await newInstall();
      const cname = await defaultDomain(install);
      const [purged, checked, deleted] = await Promise.all([
        owner.client.post(`/installs/${install.id}/purge_cache`, { type: 'object' }),
        owner.client.post(`${domainsOf(install)}/${cname}/check_status`),
        owner.client.delete(`/installs/${install.id}`),
      ]);
      expect([202, 404]).toContain(purged.status);
      expect([202, 404]).toContain(checked.status);
      expect(deleted.status).toBe(204);
    }
  });

  it('leaves one primary domain', async () => {
    const install = await newInstall();
    const ids: string[] = [];
    for (let index = 0; index < 5; index++) ids.push(await added(install, domainName()));
    const answers = await Promise.all(ids.map((id) => change(install, id, { primary: true })));
    expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(200));
    const primary = (await list(install)).filter(({ body }) => field(body, 'primary') === true);
    expect(primary).toHaveLength(1);
    expect((await owner.client.get(`/installs/${install.id}`)).body).toMatchObject({
      primary_domain: primary[0]?.name,
    });
  });

  onlyInLong(it)(
    'leaves exactly one install that serves a name that is added and removed often',
    async () => {
      const installs = await Promise.all(Array.from({ length: 5 }, newInstall));
      const names = [domainName(), domainName()];
      for (let round = 0; round < 4; round++) {
        const present = (await Promise.all(installs.map((install) => list(install)))).flatMap(
          (domains, index) => domains.slice(1).map(({ id }) => ({ install: installs[index], id })),
        );
        const answers = await Promise.all([
          ...installs.flatMap((install) =>
            round % 2 === 0
              ? names.map((name) => add(install, name))
              : [
                  addBulk(
                    install,
                    names.map((name) => ({ name })),
                  ),
                ],
          ),
          ...present.map(({ install, id }) =>
            install ? remove(install, id) : Promise.reject(new Error('none')),
          ),
        ]);
        for (const { status, body } of answers)
          expect([201, 204, 400], JSON.stringify(body)).toContain(status);
        for (const name of names) {
          const rows = await rowsOf(name);
          const serving = rows.filter((row) => !row.is_duplicate);
          expect(serving, `round ${round}: ${rows.length} rows`).toHaveLength(rows.length === 0 ? 0 : 1);
        }
      }
      // The same with installs that are deleted.
      await Promise.all(installs.flatMap((install) => names.map((name) => add(install, name))));
      const gone = installs.slice(0, 4);
      const late = await newInstall();
      await Promise.all([
        ...gone.map((install) => owner.client.delete(`/installs/${install.id}`)),
        ...names.map((name) => add(late, name)),
      ]);
      for (const name of names) {
        const rows = await rowsOf(name);
        expect(rows).toHaveLength(2);
        expect(rows.filter((row) => !row.is_duplicate)).toHaveLength(1);
      }
    },
  );
});
