import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { overlapping } from '../../../../test/held-jobs.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { rounds } from '../../../../test/rounds.ts';
import { domainCalls, domainName } from './domains.fixture.ts';

// SQLite has one writer, so transactions overlap on PostgreSQL alone.

let homeport: TestHomeport;
let accountId: string;
let owner: Person;

beforeAll(async () => {
  homeport = await startTestHomeport();
  ({ accountId, owner } = await homeport.ownedAccount());
});
afterAll(() => homeport.remove());

const newInstall = () => homeport.install(owner, accountId);
const { add, added, remove } = domainCalls(() => owner.client);
/** The domains of a name in the database, oldest first. */
const rowsOf = (name: string) =>
  homeport.platform.database.reader
    .selectFrom('domains')
    .select(['install_id', 'is_duplicate'])
    .where('name', '=', name)
    .execute();

/** Overlapping transactions once left a name without an install that serves it. */
describe('a name that several installs have', () => {
  it.each(['the domain', 'its install'])(
    'a name that is added while %s is deleted is served',
    async (what) => {
      const [first, second] = [await newInstall(), await newInstall()];
      const name = domainName();
      const at = await added(first, name);
      await homeport.idle();
      const answers = await overlapping(homeport, [
        () => (what === 'the domain' ? remove(first, at) : owner.client.delete(`/installs/${first.id}`)),
        () => add(second, name),
      ]);
      expect(answers).toMatchObject([{ status: 204 }, { status: 201, body: { duplicate: false } }]);
      expect(await rowsOf(name)).toEqual([{ install_id: second.id, is_duplicate: false }]);
    },
  );

  it('a name that is added before the domain is deleted is served', async () => {
    const [first, second] = [await newInstall(), await newInstall()];
    const name = domainName();
    const at = await added(first, name);
    await homeport.idle();
    const answers = await overlapping(homeport, [() => add(second, name), () => remove(first, at)]);
    expect(answers.map(({ status }) => status)).toEqual([201, 204]);
    expect(await rowsOf(name)).toEqual([{ install_id: second.id, is_duplicate: false }]);
  });

  it.each([
    ['first', 'the domain'],
    ...rounds(
      [],
      [
        ['first', 'its install'],
        ['last', 'the domain'],
        ['last', 'its install'],
      ],
    ),
  ])('the second next is served if the next is deleted, too (%s, %s)', async (order, what) => {
    const [first, next, last] = [await newInstall(), await newInstall(), await newInstall()];
    const name = domainName();
    const at = await added(first, name);
    const duplicate = await added(next, name);
    await added(last, name);
    await homeport.idle();
    const requests = [
      () => remove(first, at),
      () => (what === 'the domain' ? remove(next, duplicate) : owner.client.delete(`/installs/${next.id}`)),
    ];
    const answers = await overlapping(homeport, order === 'first' ? requests : requests.reverse());
    expect(answers.map(({ status }) => status)).toEqual([204, 204]);
    expect(await rowsOf(name)).toEqual([{ install_id: last.id, is_duplicate: false }]);
  });
});
