import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { activityOf } from '../../../../test/activity.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { manualClock } from '../../../../test/manual-clock.ts';
import { onlyOn } from '../../../../test/only-on.ts';
import { signedIn } from '../../../../test/portal-client.ts';
import { operatorFor } from '../../../access/caller.ts';
import { createBulkService } from './service.ts';

/** A test of a rule, which runs once: other tests reach its queries. */
const rule = onlyOn('sqlite', it);

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

it('backs up many installs in one request, each once', async () => {
  const install_ids = [one.id, two.id, one.id.toUpperCase()];
  const answer = await ask(owner, { operation: 'backup', description: 'before the update', install_ids });
  expect(answer).toMatchObject({
    status: 202,
    body: {
      results: [
        { install_id: one.id, operation_id: expect.any(String), refusal: null },
        { install_id: two.id, operation_id: expect.any(String), refusal: null },
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

rule('reports why an install is refused, and continues with the others', async () => {
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

rule('purges all caches, which uses the turn of the object cache', async () => {
  const fresh = await homeport.install(owner, accountId);
  const purge = { operation: 'purge_all_caches', install_ids: [fresh.id] };
  expect(await ask(owner, purge)).toMatchObject({ status: 202, body: { results: [{ refusal: null }] } });
  expect(await ask(owner, purge)).toMatchObject({
    body: { results: [{ refusal: { message: expect.stringContaining('rate-limited') } }] },
  });
  expect(await activityOf(homeport, accountId)).toContainEqual(
    expect.objectContaining({ action: 'cache.purge', install_id: fresh.id, details: { type: 'all' } }),
  );
});

rule('changes nothing for installs of others', async () => {
  const { owner: stranger } = await homeport.ownedAccount();
  const before = (await activityOf(homeport, accountId)).length;
  expect(await ask(stranger, { operation: 'purge_page_cache', install_ids: [one.id] })).toMatchObject({
    body: { results: [{ refusal: { message: 'Resource not found' } }] },
  });
  expect(await activityOf(homeport, accountId)).toHaveLength(before);
});

rule('requires a description of backups and a list of installs', async () => {
  for (const body of [
    { operation: 'backup', install_ids: [one.id] },
    { operation: 'backup', description: ' ', install_ids: [one.id] },
    { operation: 'backup', description: 'x', install_ids: [] },
    { operation: 'delete', install_ids: [one.id] },
  ])
    expect((await ask(owner, body)).status).toBe(400);
});

rule('accepts 500 installs in one request, and no more', async () => {
  const installs = (count: number) => Array.from({ length: count }, () => crypto.randomUUID());
  const ofMany = (count: number) => ({ operation: 'purge_page_cache', install_ids: installs(count) });
  expect((await ask(owner, ofMany(500))).status).toBe(202);
  expect((await ask(owner, ofMany(501))).status).toBe(400);
});

rule('turns an unexpected error into the refusal of one install, and logs its cause', async () => {
  const lines: string[] = [];
  const log = pino({ base: null }, { write: (line: string) => lines.push(line) });
  const { backups, caches } = homeport.services;
  const asked: string[] = [];
  const purge: typeof caches.purge = async (_, installId) => {
    asked.push(installId);
    if (installId === one.id) throw new Error('the connection was lost');
    return 'operation-2';
  };
  const several = createBulkService({
    backups,
    caches: { ...caches, purge },
    spend: () => ({ allowed: true, resetSeconds: 60 }),
    log,
  });
  const caller = operatorFor(owner.userId);
  const origin = { ...caller.origin, requestId: 'request-17' };
  expect(
    await several.ask({ ...caller, origin }, [one.id, two.id], {
      operation: 'purge_page_cache',
      description: null,
    }),
  ).toEqual([
    {
      install_id: one.id,
      operation_id: null,
      refusal: {
        message:
          'Unexpected error. Check whether the operation has started before you try again; ' +
          'your provider finds the cause in the log under the number request-17.',
        retry_after_seconds: null,
      },
    },
    { install_id: two.id, operation_id: 'operation-2', refusal: null },
  ]);
  expect(asked).toEqual([one.id, two.id]);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { request_id: 'request-17', install: one.id, err: { message: 'the connection was lost' } },
  ]);
});

it('counts a request for each install, and refuses the rest above the limit', async () => {
  // Twenty seconds into a minute, within the validity of the server's certificate.
  const clock = manualClock(new Date(Math.floor(Date.now() / 60_000 - 1) * 60_000 + 20_000));
  const limited = await startTestHomeport({ clock, environment: { HOMEPORT_RATE_LIMIT: '4' } });
  try {
    const account = await limited.ownedAccount();
    const client = await signedIn(limited, account.owner);
    const install_ids = Array.from({ length: 6 }, () => crypto.randomUUID());
    const answer = await client.post('/installs/operations', { operation: 'purge_page_cache', install_ids });
    const unknown = { message: 'Resource not found', retry_after_seconds: null };
    const tooMany = { message: 'Rate limit exceeded - too many requests', retry_after_seconds: 40 };
    expect(answer).toMatchObject({
      status: 202,
      body: {
        results: [unknown, unknown, unknown, unknown, tooMany, tooMany].map((refusal) => ({ refusal })),
      },
    });
    expect((await client.post('/installs/operations', {})).status).toBe(429);
  } finally {
    await limited.remove();
  }
});
