import { afterAll, beforeAll, expect, it } from 'vitest';
import { activityOf } from '../../../test/activity.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { signedIn } from '../../../test/portal-client.ts';

let homeport: TestHomeport;
let accountId: string;
let owner: Person;
let one: { id: string; name: string };
let two: { id: string; name: string };
beforeAll(async () => {
  homeport = await startTestHomeport();
  ({ accountId, owner } = await homeport.ownedAccount());
  one = await homeport.install(owner, accountId);
  two = await homeport.install(owner, accountId);
});
afterAll(() => homeport.remove());

const ask = async (person: Person, body: object) =>
  (await signedIn(homeport, person)).post('/installs/operations', body);
const backupsOf = async ({ name }: { name: string }) =>
  (await homeport.services.backups.listAll(name)).map(({ description, status }) => [description, status]);

it('backs several installs up by one request, each once', async () => {
  const install_ids = [one.id, two.id, one.id.toUpperCase()];
  const answer = await ask(owner, { operation: 'backup', description: 'before the update', install_ids });
  expect(answer).toMatchObject({
    status: 202,
    body: {
      results: [
        { install_id: one.id, refusal: null },
        { install_id: two.id, refusal: null },
      ],
    },
  });
  await homeport.idle();
  for (const install of [one, two])
    expect(await backupsOf(install)).toEqual([['before the update', 'completed']]);
  expect((await activityOf(homeport, accountId)).slice(-2)).toMatchObject([
    { action: 'backup.create', install_id: one.id, user_id: owner.userId, means: 'portal' },
    { action: 'backup.create', install_id: two.id },
  ]);
});

it('says of each that is refused why, and asks the others', async () => {
  const purge = { operation: 'purge_object_cache', install_ids: [one.id] };
  expect(await ask(owner, purge)).toMatchObject({ status: 202, body: { results: [{ refusal: null }] } });
  const given = await homeport.person(accountId, 'partial', [one.id, two.id]);
  const nobodys = crypto.randomUUID();
  expect(await ask(given, { ...purge, install_ids: [one.id, nobodys, two.id] })).toMatchObject({
    status: 202,
    body: {
      results: [
        {
          install_id: one.id,
          refusal: {
            message: expect.stringContaining('rate-limited'),
            retry_after_seconds: expect.any(Number),
          },
        },
        { install_id: nobodys, refusal: { message: 'Resource not found', retry_after_seconds: null } },
        { install_id: two.id, refusal: null },
      ],
    },
  });
});

it('touches nothing of strangers', async () => {
  const { owner: stranger } = await homeport.ownedAccount();
  const before = (await activityOf(homeport, accountId)).length;
  expect(await ask(stranger, { operation: 'purge_page_cache', install_ids: [one.id] })).toMatchObject({
    body: { results: [{ refusal: { message: 'Resource not found' } }] },
  });
  expect(await activityOf(homeport, accountId)).toHaveLength(before);
});

it('wants to know what backups are for, and of which installs', async () => {
  for (const body of [
    { operation: 'backup', install_ids: [one.id] },
    { operation: 'backup', description: ' ', install_ids: [one.id] },
    { operation: 'backup', description: 'x', install_ids: [] },
    { operation: 'delete', install_ids: [one.id] },
  ])
    expect((await ask(owner, body)).status).toBe(400);
});
