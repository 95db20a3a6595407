import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { activityOf } from '../../../../test/activity.ts';
import { field, text } from '../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { mostlyOn } from '../../../../test/only-on.ts';
import { FORBIDDEN, NOT_FOUND } from '../../../../test/refusal.ts';
import { OPERATOR_CALLER } from '../../../access/caller.ts';
import { PermanentHostError } from '../../../hosting/contract/errors.ts';
import { type ServedMachine, serveMachine } from '../../../hosting/remote/embedded-machine.fixture.ts';
import { RETRYABLE_KINDS } from '../../../lib/operation.ts';
import { environment } from '../../hosts/fleet.fixture.ts';

const startedBy = (answer: { headers: Record<string, unknown> }) =>
  String(answer.headers.location).replace('/v1/operations/', '');

let machine: ServedMachine;
let homeport: TestHomeport;
let accountId: string;
let owner: Person;
let install: { id: string; name: string };
/** Whether the host fails. */
let fails: boolean;

beforeAll(async () => {
  machine = await serveMachine();
  const { snapshot, apply } = machine.machine;
  machine.machine.snapshot = async (...given) => {
    if (fails) throw new PermanentHostError('the disk is full');
    return snapshot(...given);
  };
  machine.machine.apply = async (...given) => {
    if (fails) throw new PermanentHostError('the disk is full');
    return apply(...given);
  };
  homeport = await startTestHomeport({ environment: environment(machine.runFolder) });
  fails = false;
  ({ accountId, owner } = await homeport.ownedAccount());
});
beforeEach(async () => {
  fails = false;
  install = await homeport.install(owner, accountId);
});
afterAll(async () => {
  await homeport?.remove();
  await machine?.close();
});

const at = (path: string) => `/installs/${install.id}${path}`;
const read = async (id: string) => (await owner.client.get(`/operations/${id}`)).body;
const retry = (id: string, person = owner) => person.client.post(`/operations/${id}/retry`);
const listed = async () => {
  const { results } = await homeport.services.installOperations.list(caller(), install.id);
  return results.map(({ id, kind, retryable }) => ({ id, kind, retryable }));
};
const caller = () => ({
  userId: owner.userId,
  limits: null,
  origin: { means: 'portal' as const, credentialId: null, address: '203.0.113.7', requestId: 'test' },
});

async function failedBackup(): Promise<string> {
  fails = true;
  const input = { description: 'Before the sale', notification_emails: [owner.email] };
  const id = startedBy(await owner.client.post(at('/backups'), input));
  await homeport.idle();
  fails = false;
  expect(await read(id)).toMatchObject({
    status: 'failed',
    error: { message: expect.stringContaining('disk') },
  });
  return id;
}

mostlyOn('sqlite', it)('covers the kinds that the description and notifications name', () => {
  const { retries } = homeport.services;
  expect([...retries.kinds].sort()).toEqual([...RETRYABLE_KINDS].sort());
});

describe('POST /operations/{operation_id}/retry', () => {
  mostlyOn('sqlite', it)('makes a failed backup again, with its description and addresses', async () => {
    const failed = await failedBackup();
    expect(await listed()).toContainEqual({ id: failed, kind: 'backup.create', retryable: true });
    const answer = await retry(failed);
    expect(answer).toMatchObject({ status: 202, body: undefined });
    const again = startedBy(answer);
    expect(again).not.toBe(failed);
    await homeport.idle();
    expect(await read(again)).toMatchObject({ kind: 'backup.create', status: 'succeeded' });
    const backups = field((await owner.client.get(at('/backups'))).body, 'results');
    expect(backups).toMatchObject([
      { status: 'aborted', description: 'Before the sale' },
      { status: 'completed', description: 'Before the sale' },
    ]);
    const { database } = homeport.platform;
    const stored = await database.reader.selectFrom('backups').select('notification_emails').execute();
    expect(stored.at(-1)?.notification_emails).toEqual([owner.email]);
    // The later one shows what became of the work.
    expect(await listed()).toContainEqual({ id: failed, kind: 'backup.create', retryable: false });
    expect((await activityOf(homeport, accountId)).at(-1)).toMatchObject({ action: 'backup.create' });
  });

  it('keeps a daily backup a daily one', async () => {
    const failed = await failedBackup();
    const { database } = homeport.platform;
    await database.write(({ queries }) =>
      queries.updateTable('backups').set({ scheduled: true }).where('install_id', '=', install.id).execute(),
    );
    expect((await retry(failed)).status).toBe(202);
    await homeport.idle();
    const rows = await database.reader
      .selectFrom('backups')
      .select(['status', 'scheduled'])
      .where('install_id', '=', install.id)
      .orderBy('seq')
      .execute();
    expect(rows.at(-1)).toMatchObject({ status: 'completed' });
    expect(Boolean(rows.at(-1)?.scheduled)).toBe(true);
  });

  mostlyOn('sqlite', it)('creates a failed install again, under its name', async () => {
    fails = true;
    const name = `${install.name}b`;
    const answer = await owner.client.post('/installs', { name, account_id: accountId });
    await homeport.idle();
    const id = text(answer.body, 'id');
    const created = startedBy(answer);
    expect((await owner.client.get(`/installs/${id}`)).body).toMatchObject({ status: 'failed' });
    fails = false;
    const again = startedBy(await retry(created));
    await homeport.idle();
    expect(await read(again)).toMatchObject({ kind: 'install.create', status: 'succeeded' });
    expect((await owner.client.get(`/installs/${id}`)).body).toMatchObject({ status: 'active', name });
    const domains = field((await owner.client.get(`/installs/${id}/domains`)).body, 'results');
    expect(domains).toMatchObject([{ network_details: { network_info: { status: 'ACTIVE' } } }]);
    expect(await retry(created)).toMatchObject({
      status: 409,
      body: { message: 'The install is active by now.' },
    });
  });

  mostlyOn('sqlite', it)('is refused with a reason if the work cannot be repeated', async () => {
    const purge = startedBy(await owner.client.post(at('/purge_cache'), { type: 'page' }));
    await homeport.idle();
    expect(await retry(purge)).toMatchObject({
      status: 409,
      body: { message: 'Only an operation that has failed can be repeated' },
    });
    const { database } = homeport.platform;
    await database.write(({ queries }) =>
      queries
        .updateTable('jobs')
        .set({ state: 'failed', kind: 'check_domain' })
        .where('id', '=', purge)
        .execute(),
    );
    expect(await retry(purge)).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('cannot be repeated') },
    });

    const backup = await failedBackup();
    const running = await owner.client.post(at('/backups'), { description: 'x', notification_emails: [] });
    await database.write(({ queries }) =>
      queries
        .updateTable('jobs')
        .set({ state: 'queued', run_at: '2999-01-01T00:00:00.000Z' })
        .where('id', '=', startedBy(running))
        .execute(),
    );
    expect(await retry(backup)).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('is in progress') },
    });
    await owner.client.delete(`/operations/${startedBy(running)}`);

    await database.write(({ queries }) =>
      queries.updateTable('backups').set({ deleting: true }).where('install_id', '=', install.id).execute(),
    );
    expect(await retry(backup)).toMatchObject({
      status: 409,
      body: { message: 'The backup was deleted. Request a new one.' },
    });
    await owner.client.delete(`/installs/${install.id}`);
    expect(await retry(backup)).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('was deleted') },
    });
  });

  mostlyOn('sqlite', it)('packs a backup again for the operator, who is no user', async () => {
    const made = await owner.client.post(at('/backups'), { description: 'Whole', notification_emails: [] });
    await homeport.idle();
    const packing = await owner.client.post(at('/archives'), { backup_id: text(made.body, 'id') });
    await homeport.idle();
    const { database } = homeport.platform;
    const failed = startedBy(packing);
    await database.write(({ queries }) =>
      queries.updateTable('jobs').set({ state: 'failed' }).where('id', '=', failed).execute(),
    );
    const again = await homeport.services.operations.retry(OPERATOR_CALLER, failed);
    await homeport.idle();
    expect(await read(again)).toMatchObject({ kind: 'archive.create', status: 'succeeded' });
  });

  it('starts the work once if it is requested twice at the same time', async () => {
    const failed = await failedBackup();
    const answers = await Promise.all([retry(failed), retry(failed), retry(failed)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409]);
  });

  mostlyOn('sqlite', it)('is for users who may do the work', async () => {
    const failed = await failedBackup();
    const stranger = await homeport.ownedAccount();
    expect(await retry(failed, stranger.owner)).toMatchObject(NOT_FOUND);
    expect(await retry(crypto.randomUUID())).toMatchObject(NOT_FOUND);
    const partial = await homeport.person(accountId, 'partial', [install.id]);
    fails = true;
    const made = await owner.client.post('/installs', { name: `${install.name}c`, account_id: accountId });
    await homeport.idle();
    fails = false;
    const granted = await homeport.person(accountId, 'partial', [text(made.body, 'id')]);
    expect(await retry(startedBy(made), granted)).toMatchObject(FORBIDDEN);
    expect((await retry(failed, partial)).status).toBe(202);
  });
});
