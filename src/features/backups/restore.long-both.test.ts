import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { activityOf } from '../../../test/activity.ts';
import { text } from '../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { signedIn } from '../../../test/portal-client.ts';
import { NOT_FOUND, refusal } from '../../../test/refusal.ts';
import type { Caller } from '../../access/caller.ts';
import { InvalidRequest, NotFound } from '../../lib/failures.ts';
import { EVERYTHING } from './replaced-parts.ts';

type Install = { id: string; name: string };

let homeport: TestHomeport;
let accountId: string;
let owner: Person;
let source: Install;
let target: Install;
/** A completed backup of the source. */
let backupId: string;

beforeAll(async () => {
  homeport = await startTestHomeport();
  ({ accountId, owner } = await homeport.ownedAccount());
  source = await homeport.install(owner, accountId);
  target = await homeport.install(owner, accountId);
  writeFileSync(pageOf(source), 'as it was');
  backupId = await backUp(source, 'Before the change');
  writeFileSync(pageOf(source), 'broken');
});
afterAll(() => homeport.remove());

const pageOf = ({ id }: Install) =>
  join(homeport.config.dataDir, 'host', 'installs', id, 'files', 'index.html');

async function backUp({ id }: Install, description: string): Promise<string> {
  const answer = await owner.client.post(`/installs/${id}/backups`, { description, notification_emails: [] });
  await homeport.idle();
  return text(answer.body, 'id');
}

const callerOf = ({ userId }: Person): Caller => ({
  userId,
  limits: null,
  origin: { means: 'portal', credentialId: null, address: '203.0.113.7', requestId: 'asked-for-it' },
});

const restore = (into: string | null = null, person = owner, of: Install = source, backup = backupId) =>
  homeport.services.backups.restore(callerOf(person), of.id, backup, {
    into,
    parts: EVERYTHING,
    checkpoint: false,
    notification_emails: [],
  });
const list = (page = { limit: 100, offset: 0 }, person = owner, { id }: Install = source) =>
  homeport.services.backups.list(callerOf(person), id, page);

describe('the backups of an install', () => {
  it('are listed with their size, newest first, in pages', async () => {
    const later = await backUp(source, 'Later');
    const completed = {
      status: 'completed',
      bytes: expect.any(Number),
      files: 1,
      reason: null,
      scheduled: false,
      checkpoint: false,
      for_copy: false,
      created_at: expect.any(String),
      finished_at: expect.any(String),
      verified_at: expect.any(String),
      missing_since: null,
      expires_at: null,
    };
    expect(await list()).toEqual({
      count: 2,
      results: [
        { id: later, description: 'Later', ...completed },
        { id: backupId, description: 'Before the change', ...completed },
      ],
    });
    expect(await list({ limit: 1, offset: 1 })).toMatchObject({ count: 2, results: [{ id: backupId }] });
    expect(await list(undefined, owner, target)).toEqual({ count: 0, results: [] });
  });

  it('are visible to everyone who sees the install', async () => {
    const given = await homeport.person(accountId, 'partial', [source.id]);
    expect((await list(undefined, given)).count).toBe(2);
    const { owner: stranger } = await homeport.ownedAccount();
    await expect(list(undefined, stranger)).rejects.toBeInstanceOf(NotFound);
    await expect(list(undefined, given, target)).rejects.toBeInstanceOf(NotFound);
  });
});

describe('a restore', () => {
  it('restores the install, shows as its operation and is recorded with its author', async () => {
    const operation = await restore();
    expect(
      (await homeport.services.installOperations.list(callerOf(owner), source.id)).results[0],
    ).toMatchObject({
      id: operation,
      kind: 'backup.restore',
    });
    await homeport.idle();
    expect(readFileSync(pageOf(source), 'utf8')).toBe('as it was');
    expect(
      (await homeport.services.installOperations.list(callerOf(owner), source.id)).results[0],
    ).toMatchObject({
      id: operation,
      status: 'succeeded',
    });
    expect((await activityOf(homeport, accountId)).at(-1)).toEqual({
      action: 'backup.restore',
      subject_id: backupId,
      subject_name: 'Before the change',
      install_id: source.id,
      details: { from: source.name, to: source.name },
      user_id: owner.userId,
      means: 'portal',
      request_id: 'asked-for-it',
    });
  });

  it('puts the backup into another install of the account', async () => {
    const operation = await restore(target.id.toUpperCase());
    await homeport.idle();
    expect(readFileSync(pageOf(target), 'utf8')).toBe('as it was');
    const { results } = await homeport.services.installOperations.list(callerOf(owner), target.id);
    expect(results[0]).toMatchObject({ id: operation, status: 'succeeded' });
    expect((await activityOf(homeport, accountId)).at(-1)).toMatchObject({
      install_id: target.id,
      details: { from: source.name, to: target.name },
    });
  });

  it('from the command line is attributed to the operator', async () => {
    await homeport.services.backups.requestRestore(backupId, target.name);
    await homeport.idle();
    expect((await activityOf(homeport, accountId)).at(-1)).toMatchObject({
      action: 'backup.restore',
      install_id: target.id,
      user_id: null,
      means: 'command_line',
    });
  });

  it('is allowed into installs that the caller may work on in the same account, and no others', async () => {
    const given = await homeport.person(accountId, 'partial', [source.id]);
    const elsewhere = await homeport.account();
    const both = await homeport.person(elsewhere, 'owner');
    const foreign = await homeport.install(both, elsewhere);
    await homeport.platform.database.write(({ queries }) =>
      queries
        .insertInto('memberships')
        .values({
          account_id: accountId,
          user_id: both.userId,
          role: 'owner',
          billing: false,
          invite_accepted: true,
          created_at: new Date().toISOString(),
        })
        .execute(),
    );
    for (const asked of [
      () => restore(target.id, given),
      () => restore(foreign.id),
      () => restore(foreign.id, both),
      () => restore(crypto.randomUUID()),
    ]) {
      await expect(asked()).rejects.toMatchObject({
        faults: [{ resource: 'Backup', field: 'into_install_id', code: 'not_permitted' }],
      });
    }
    expect(await restore(null, given)).toEqual(expect.any(String));
    await homeport.idle();
  });

  it('requires a completed backup of that install and an active target', async () => {
    const { owner: stranger } = await homeport.ownedAccount();
    await expect(restore(null, stranger)).rejects.toBeInstanceOf(NotFound);
    await expect(restore(null, owner, target)).rejects.toBeInstanceOf(NotFound);
    await expect(restore(null, owner, source, crypto.randomUUID())).rejects.toBeInstanceOf(NotFound);

    const { database } = homeport.platform;
    const ofTarget = await backUp(target, 'of the target');
    const setStatus = (status: 'active' | 'failed') =>
      database.write(({ queries }) =>
        queries.updateTable('installs').set({ status }).where('id', '=', target.id).execute(),
      );
    await setStatus('failed');
    const before = (await activityOf(homeport, accountId)).length;
    for (const asked of [
      () => restore(target.id),
      () => restore(null, owner, target, ofTarget),
      () => homeport.services.backups.requestRestore(backupId, target.name),
    ]) {
      await expect(asked()).rejects.toThrow(
        `The install "${target.name}" is failed; only an active one can be restored into.`,
      );
    }
    await setStatus('active');
    await database.write(({ queries }) =>
      queries.updateTable('backups').set({ status: 'aborted' }).where('id', '=', ofTarget).execute(),
    );
    const refused = restore(null, owner, target, ofTarget);
    await expect(refused).rejects.toBeInstanceOf(InvalidRequest);
    await expect(refused).rejects.toThrow('The backup is aborted; only a completed one can be restored.');
    expect(await activityOf(homeport, accountId)).toHaveLength(before);
  });

  it('is refused to credentials limited to other installs', async () => {
    const limits = { readOnly: false, accountId, installIds: [target.id] };
    const asked = homeport.services.backups.restore({ ...callerOf(owner), limits }, source.id, backupId, {
      into: null,
      parts: EVERYTHING,
      checkpoint: false,
      notification_emails: [],
    });
    await expect(asked).rejects.toBeInstanceOf(NotFound);
  });
});

it('works in the portal, which lists the backups', async () => {
  const portal = await signedIn(homeport, owner);
  const path = `/installs/${source.id}/backups`;
  expect(await portal.get(`${path}?limit=1`)).toMatchObject({
    status: 200,
    body: {
      previous: null,
      next: `${homeport.origin}/portal/api${path}?limit=1&offset=1`,
      results: [{ status: 'completed' }],
    },
  });
  expect((await portal.get(`${path}?limit=x`)).status).toBe(400);
  expect(await portal.get(`/installs/${crypto.randomUUID()}/backups`)).toMatchObject(NOT_FOUND);

  for (const body of [undefined, {}, { into_install_id: null }, { into_install_id: target.id }]) {
    expect(await portal.post(`${path}/${backupId}/restore`, body)).toMatchObject({
      status: 202,
      body: { operation_id: expect.any(String) },
    });
    expect((await activityOf(homeport, accountId)).at(-1)).toMatchObject({
      action: 'backup.restore',
      install_id: body?.into_install_id ?? source.id,
      user_id: owner.userId,
      means: 'portal',
    });
  }
  await homeport.idle();
  expect(await portal.post(`${path}/${crypto.randomUUID()}/restore`, {})).toMatchObject(NOT_FOUND);
  expect(await portal.post(`${path}/${backupId}/restore`, { into_install_id: 'x' })).toMatchObject(
    refusal('Backup.into_install_id', 'invalid_value / invalid_format', expect.any(String)),
  );
});

it('a requested backup is recorded with its author', async () => {
  const id = await backUp(source, '  With blanks ');
  expect((await activityOf(homeport, accountId)).at(-1)).toMatchObject({
    action: 'backup.create',
    subject_id: id,
    subject_name: 'With blanks',
    install_id: source.id,
    user_id: owner.userId,
    means: 'api',
    request_id: expect.any(String),
  });
});
