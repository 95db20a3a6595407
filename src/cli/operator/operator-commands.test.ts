import { afterAll, beforeAll, expect, test } from 'vitest';
import { field, text } from '../../../test/client.ts';
import { installName, type Person, startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { OPERATOR_COMMANDS, type SubjectKind } from './commands.ts';
import { perform } from './perform.ts';
import { findSubject, siblingDomain, type Within } from './references.ts';

interface Customer {
  accountId: string;
  owner: Person;
  site: string;
  install: { id: string; name: string };
  /** Id of the domain that both customers have. */
  domain: string;
}

let homeport: TestHomeport;
let one: Customer;
let other: Customer;

beforeAll(async () => {
  homeport = await startTestHomeport({ roles: { api: true, hosting: false } });
  one = await customer();
  other = await customer();
});
afterAll(() => homeport.remove());

/** Two customers choose the same names. */
async function customer(): Promise<Customer> {
  const { accountId, owner } = await homeport.ownedAccount();
  const made = async (path: string, body: object) => (await owner.client.post(path, body)).body;
  const site = text(await made('/sites', { name: 'Pier', account_id: accountId }), 'id');
  const name = installName();
  const id = text(await made('/installs', { name, account_id: accountId }), 'id');
  const domain = text(await made(`/installs/${id}/domains`, { name: 'pier.example' }), 'id');
  return { accountId, owner, site, install: { id, name }, domain };
}

const find = (kind: SubjectKind, words: string, within: Within = {}) =>
  findSubject(kind, words, within, homeport);

test('a name that several customers use belongs to none of them, unless the command says whose', async () => {
  await expect(find('site', 'Pier')).rejects.toThrow('There are 2 sites named "Pier". Use the id of one');
  await expect(find('domain', 'pier.example')).rejects.toThrow(
    /Several installs have the domain "pier\.example": .+, .+\. Name one with --install\./,
  );
  for (const { accountId, site, install, domain } of [one, other]) {
    expect((await find('site', 'Pier', { account: accountId })).ids).toEqual({ site_id: site });
    expect((await find('domain', 'pier.example', { install: install.name })).ids).toEqual({
      install_id: install.id,
      domain_id: domain,
    });
    expect(await siblingDomain('pier.example', install.id, homeport)).toBe(domain);
  }
});

test('a user of several accounts is a member of the one that the command names', async () => {
  const { userId, client } = one.owner;
  const email = text((await client.get('/user')).body, 'email');
  expect((await find('user', email)).ids).toEqual({ account_id: one.accountId, user_id: userId });
  await expect(find('user', email, { account: other.accountId })).rejects.toThrow('is in no account');
  await homeport.platform.database.write(({ queries }) =>
    queries
      .insertInto('memberships')
      .values({
        ...{ account_id: other.accountId, user_id: userId, role: 'owner', billing: false },
        ...{ invite_accepted: true, created_at: new Date().toISOString() },
      })
      .execute(),
  );
  await expect(find('user', email)).rejects.toThrow('is in 2 accounts. Name one with --account.');
  expect((await find('user', email, { account: other.accountId })).ids).toMatchObject({
    account_id: other.accountId,
  });
});

test('a redirect stays within its install', async () => {
  const { body } = await one.owner.client.post(`/installs/${one.install.id}/domains`, {
    name: 'only.example',
  });
  expect(await siblingDomain('only.example', one.install.id, homeport)).toBe(field(body, 'id'));
  await expect(siblingDomain('only.example', other.install.id, homeport)).rejects.toThrow(
    'The install has no domain "only.example"',
  );
});

test('without a terminal, nothing is deleted or removed before the operator has agreed', async () => {
  // Of a terminal, if the tests run in one.
  Object.defineProperty(process.stdin, 'isTTY', { value: false, configurable: true });
  const deleting = OPERATOR_COMMANDS.filter(({ name }) => /^(delete|remove)$/.test(name));
  expect(deleting.map(({ operation }) => operation)).toEqual(
    expect.arrayContaining(['deleteSite', 'deleteInstall', 'deleteDomain', 'deleteBackup']),
  );
  expect(deleting.filter(({ consent }) => consent === undefined)).toEqual([]);
  const { accountId, install, owner, site } = one;
  const words: Partial<Record<SubjectKind, string>> = {
    site,
    install: install.name,
    domain: 'pier.example',
  };
  for (const spec of deleting) {
    const word = spec.subject === null ? undefined : words[spec.subject];
    if (word === undefined) continue;
    const given = { words: [word], values: { account: accountId, install: install.name } };
    await expect(perform({ spec, endpoint: undefined, named: undefined }, given, homeport)).rejects.toThrow(
      'Without a terminal, add --yes.',
    );
  }
  for (const path of [
    `/sites/${site}`,
    `/installs/${install.id}`,
    `/installs/${install.id}/domains/${one.domain}`,
  ]) {
    expect((await owner.client.get(path)).status).toBe(200);
  }
});
