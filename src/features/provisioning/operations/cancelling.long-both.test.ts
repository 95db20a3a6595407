import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { activityOf } from '../../../../test/activity.ts';
import { text } from '../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { FORBIDDEN } from '../../../../test/refusal.ts';
import { operatorFor } from '../../../access/caller.ts';
import { type ServedMachine, serveMachine } from '../../../hosting/remote/embedded-machine.fixture.ts';

type Install = { id: string; name: string };

const startedBy = (answer: { headers: Record<string, unknown> }) =>
  String(answer.headers.location).replace('/v1/operations/', '');

describe('a queued operation', () => {
  let homeport: TestHomeport;
  let accountId: string;
  let owner: Person;
  let install: Install;
  beforeAll(async () => {
    // Nothing runs its jobs.
    homeport = await startTestHomeport({ roles: { api: true, hosting: false } });
    ({ accountId, owner } = await homeport.ownedAccount());
    install = await homeport.install(owner, accountId);
    await homeport.platform.database.write(({ queries }) =>
      queries.updateTable('installs').set({ status: 'active' }).where('account_id', '=', accountId).execute(),
    );
  });
  afterAll(() => homeport.remove());

  const at = (path: string) => `/installs/${install.id}${path}`;
  const read = async (id: string) => (await owner.client.get(`/operations/${id}`)).body;
  const cancel = async (id: string, person = owner) => person.client.delete(`/operations/${id}`);

  it('is cancelled at once, and recorded with its author', async () => {
    const id = startedBy(await owner.client.post(at('/purge_cache'), { type: 'page' }));
    expect((await cancel(id)).status).toBe(204);
    expect(await read(id)).toMatchObject({
      status: 'cancelled',
      finished_at: expect.any(String),
      error: null,
      result: null,
    });
    expect((await activityOf(homeport, accountId)).at(-1)).toMatchObject({
      action: 'operation.cancel',
      subject_id: id,
      subject_name: install.name,
      install_id: install.id,
      details: { kind: 'cache.purge' },
      user_id: owner.userId,
    });
    expect(await cancel(id)).toMatchObject({ status: 409, body: { message: 'The operation has ended' } });
  });

  it('leaves an aborted backup, whose addresses get their mail', async () => {
    const answer = await owner.client.post(at('/backups'), {
      description: 'x',
      notification_emails: [owner.email],
    });
    expect((await cancel(startedBy(answer))).status).toBe(204);
    expect((await owner.client.get(at(`/backups/${text(answer.body, 'id')}`))).body).toMatchObject({
      status: 'aborted',
    });
    const { reader } = homeport.platform.database;
    const mails = await reader
      .selectFrom('jobs')
      .select('payload')
      .where('kind', '=', 'notify_of_backup')
      .execute();
    expect(JSON.stringify(mails)).toContain(owner.email);
  });

  it('leaves a complete report that says so', async () => {
    const domain = text((await owner.client.post(at('/domains'), { name: 'checked.example' })).body, 'id');
    const answer = await owner.client.post(at(`/domains/${domain}/check_status`));
    expect((await cancel(startedBy(answer))).status).toBe(204);
    const report = await owner.client.get(at(`/domains/check_status/${text(answer.body, 'report_id')}`));
    expect(report.body).toMatchObject({
      report: { complete: true, domains: [{ result: 'checked.example was cancelled.' }] },
    });
  });

  it('leaves the offload settings that are active', async () => {
    const filestore_settings = {
      cloud: 's3',
      bucket: 'a-bucket',
      bucket_region: 'eu-west-1',
      path_settings: [{ path: '/uploads', excluded_paths: [], redirect_type: 'break' }],
    };
    const answer = await owner.client.post(at('/offload_settings/files'), { filestore_settings });
    expect((await cancel(startedBy(answer))).status).toBe(204);
    expect(await homeport.services.offload.standing(operatorFor(owner.userId), install.id)).toMatchObject({
      state: 'refused',
      reason: 'The change was cancelled. The previous settings stay active.',
    });
  });

  it('lets a copy end, and the next job of its lane begin', async () => {
    const target = await homeport.install(owner, accountId);
    await homeport.platform.database.write(({ queries }) =>
      queries.updateTable('installs').set({ status: 'active' }).where('id', '=', target.id).execute(),
    );
    const id = await homeport.services.backups.copy(operatorFor(owner.userId), install.id, {
      into: target.id,
      keepBackup: false,
      checkpoint: false,
      parts: { files: true, database: true, tables: null },
      notification_emails: [],
    });
    const later = await homeport.services.backups.copy(operatorFor(owner.userId), install.id, {
      into: target.id,
      keepBackup: true,
      checkpoint: false,
      parts: { files: true, database: true, tables: null },
      notification_emails: [],
    });
    const behind = async (jobId: string) =>
      homeport.platform.database.reader
        .selectFrom('jobs')
        .select('behind')
        .where('id', '=', jobId)
        .executeTakeFirst();
    expect(await behind(later)).toEqual({ behind: true });
    expect((await cancel(id)).status).toBe(204);
    expect(await behind(later)).toEqual({ behind: false });
  });

  it('stays if the platform would have to start it again', async () => {
    const create = await owner.client.post('/installs', { name: 'not-cancelled', account_id: accountId });
    const apply = await owner.client.post(at('/domains'), { name: 'applied.example' });
    for (const id of [startedBy(create), startedBy(apply)]) {
      expect(await cancel(id)).toMatchObject({
        status: 409,
        body: { message: 'Operations of this kind cannot be cancelled' },
      });
      expect(await read(id)).toMatchObject({ status: 'queued' });
    }
  });

  it('stays if the caller may only read', async () => {
    const id = startedBy(await owner.client.post(at('/purge_cache'), { type: 'page' }));
    const reading = homeport.clientOf(
      await homeport.services.credentials.issue(owner.userId, {
        name: 'reading',
        limits: { readOnly: true, accountId: null, installs: null },
      }),
    );
    expect(await reading.delete(`/operations/${id}`)).toMatchObject(FORBIDDEN);
    expect(await read(id)).toMatchObject({ status: 'queued' });
  });
});

describe('a running operation', () => {
  let machine: ServedMachine;
  let homeport: TestHomeport;
  let accountId: string;
  let owner: Person;
  let install: Install;
  beforeAll(async () => {
    machine = await serveMachine();
    homeport = await startTestHomeport({
      environment: { HOMEPORT_HOST: 'linux', HOMEPORT_HOST_RUN_FOLDER: machine.runFolder },
    });
    ({ accountId, owner } = await homeport.ownedAccount());
    install = await homeport.install(owner, accountId);
  });
  afterAll(async () => {
    await homeport.remove();
    await machine.close();
  });

  const read = async (id: string) => (await owner.client.get(`/operations/${id}`)).body;

  it('ends on the host, and leaves an aborted backup', async () => {
    let aborted = false;
    machine.machine.snapshot = async (_install, _backupId, signal) => {
      if (signal && !signal.aborted) await once(signal, 'abort');
      aborted = true;
      throw new Error('aborted');
    };
    const answer = await owner.client.post(`/installs/${install.id}/backups`, {
      description: 'x',
      notification_emails: [],
    });
    const id = startedBy(answer);
    await vi.waitFor(async () => expect(await read(id)).toMatchObject({ status: 'running' }), 20_000);
    expect((await owner.client.delete(`/operations/${id}`)).status).toBe(204);
    expect((await owner.client.get(`/operations/${id}?wait=30`)).body).toMatchObject({
      status: 'cancelled',
      error: null,
    });
    await vi.waitFor(() => expect(aborted).toBe(true), 20_000);
    const backup = await owner.client.get(`/installs/${install.id}/backups/${text(answer.body, 'id')}`);
    expect(backup.body).toMatchObject({ status: 'aborted' });
    expect((await owner.client.delete(`/operations/${id}`)).status).toBe(409);
  });

  it('is refused a cancellation that would come too late', async () => {
    const held = new AbortController();
    machine.machine.purge = async () => {
      if (!held.signal.aborted) await once(held.signal, 'abort');
    };
    const id = startedBy(await owner.client.post(`/installs/${install.id}/purge_cache`, { type: 'page' }));
    await vi.waitFor(async () => expect(await read(id)).toMatchObject({ status: 'running' }), 20_000);
    expect(await owner.client.delete(`/operations/${id}`)).toMatchObject({
      status: 409,
      body: { message: 'The operation runs already and can no longer be cancelled' },
    });
    held.abort();
    expect((await owner.client.get(`/operations/${id}?wait=30`)).body).toMatchObject({ status: 'succeeded' });
  });

  it('shows the progress that the host reports', async () => {
    const held = new AbortController();
    machine.machine.snapshot = async (_install, _backupId, _signal, report) => {
      report?.(1_000, 4_000);
      if (!held.signal.aborted) await once(held.signal, 'abort');
      return { bytes: 4_000, files: 1, sha256: 'a'.repeat(64) };
    };
    const answer = await owner.client.post(`/installs/${install.id}/backups`, {
      description: 'x',
      notification_emails: [],
    });
    const id = startedBy(answer);
    await vi.waitFor(
      async () =>
        expect(await read(id)).toMatchObject({ progress: { done: 1_000, total: 4_000, unit: 'bytes' } }),
      20_000,
    );
    held.abort();
    expect((await owner.client.get(`/operations/${id}?wait=30`)).body).toMatchObject({
      status: 'succeeded',
      progress: { done: 4_000, total: 4_000, unit: 'bytes' },
    });
  });
});
