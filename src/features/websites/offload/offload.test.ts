import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { activityOf } from '../../../../test/activity.ts';
import { field } from '../../../../test/client.ts';
import { visit } from '../../../../test/edge.ts';
import type { Person, TestHomeport } from '../../../../test/homeport.ts';
import { signedIn } from '../../../../test/portal-client.ts';
import { NOT_FOUND } from '../../../../test/refusal.ts';
import { onlyInLong } from '../../../../test/rounds.ts';
import type { S3Server } from '../../../../test/servers/s3-server.ts';
import {
  files,
  type Install,
  type Offloading,
  offloadCalls,
  settings,
  startOffloading,
} from './offload.fixture.ts';

let started: Offloading;
let storage: S3Server;
let homeport: TestHomeport;
let accountId: string;
let owner: Person;

beforeAll(async () => {
  started = await startOffloading();
  ({ storage, homeport, accountId, owner } = started);
});
afterAll(async () => {
  await started.homeport.remove();
  await started.storage.close();
});

const { ask, bucketOf, fileOf, newInstall, read } = offloadCalls(() => started);

async function inForce(install: Install): Promise<unknown> {
  return field((await read(install)).body, 'filestore_settings');
}

/** The stored outcome of the last request. */
const outcomeOf = ({ id }: Install) =>
  homeport.platform.database.reader
    .selectFrom('offload_settings')
    .select(['state', 'reason'])
    .where('install_id', '=', id)
    .executeTakeFirst();

function write({ id }: Install, path: string, content: string): void {
  const file = join(homeport.config.dataDir, 'host', 'installs', id, 'files', path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, content);
}

const open = ({ name }: Install, path: string) => visit(homeport, `http://${name}.localhost${path}`);

onlyInLong(describe)('the validation file', () => {
  it('is fixed for an install and differs between installs', async () => {
    const [install, other] = [await newInstall(), await newInstall()];
    const answer = await fileOf(install);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      name: expect.stringMatching(/^[0-9a-f]{8}\.filestore$/),
      content: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
    expect((await fileOf(install)).body).toEqual(answer.body);
    await ask(install, settings(await bucketOf(install)));
    expect((await fileOf(install)).body).toEqual(answer.body);
    expect(field((await fileOf(other)).body, 'content')).not.toBe(field(answer.body, 'content'));
  });
});

describe('settings', () => {
  it('become active once ownership of the bucket is verified, and are served', async () => {
    const install = await newInstall();
    const bucket = await bucketOf(install);
    expect(await read(install)).toMatchObject(NOT_FOUND);
    const wanted = settings(bucket, {
      path_settings: [
        { path: '/uploads', excluded_paths: ['/uploads/private'], redirect_type: 'break' },
        { path: '/downloads', excluded_paths: [], redirect_type: 'permanent' },
      ],
    });
    const answer = await ask(install, wanted);
    expect(answer.status).toBe(202);
    expect(answer.body).toBeUndefined();
    expect((await read(install)).body).toEqual({ filestore_settings: wanted });
    expect(await outcomeOf(install)).toEqual({ state: 'in_force', reason: null });

    storage.put(bucket, 'uploads/a b.txt', 'from the bucket', 'text/plain');
    storage.put(bucket, 'uploads/private/x.txt', 'nobody sees this', 'text/plain');
    storage.put(bucket, 'uploadsnot/x.txt', 'nobody sees this', 'text/plain');
    write(install, 'uploads/private/x.txt', 'from the install');
    write(install, 'uploads/only-here.txt', 'from the install');
    expect(await open(install, '/uploads/a%20b.txt')).toMatchObject({
      status: 200,
      headers: { 'content-type': 'text/plain' },
      body: 'from the bucket',
    });
    expect((await open(install, '/uploads/private/x.txt')).body).toBe('from the install');
    expect((await open(install, '/uploads/only-here.txt')).body).toBe('from the install');
    expect((await open(install, '/uploadsnot/x.txt')).status).toBe(404);
    expect((await open(install, '/')).body).toContain(install.name);
    expect(await open(install, '/downloads/big%20file.iso?v=1')).toMatchObject({
      status: 301,
      headers: { location: `${storage.url}/${bucket}/downloads/big%20file.iso?v=1` },
    });
    expect(storage.requests.every(({ signed }) => signed)).toBe(true);
  });

  it('are replaced by POST', async () => {
    const install = await newInstall();
    const bucket = await bucketOf(install);
    await ask(install, settings(bucket));
    const path_settings = [{ path: '/media', excluded_paths: [], redirect_type: 'permanent' }];
    const next = settings(bucket, { path_settings });
    expect((await ask(install, next)).status).toBe(202);
    expect(await inForce(install)).toEqual(next);
    storage.put(bucket, 'uploads/x.txt', 'from the bucket');
    expect((await open(install, '/uploads/x.txt')).status).toBe(404);
    expect((await open(install, '/media/x.txt')).status).toBe(301);
  });

  it('are merged by PATCH', async () => {
    const install = await newInstall();
    const bucket = await bucketOf(install);
    await ask(install, settings(bucket));
    const path_settings = [{ path: '/uploads', excluded_paths: [], redirect_type: 'permanent' }];
    const answer = await ask(install, { path_settings }, 'PATCH');
    expect(answer.status).toBe(202);
    expect(answer.body).toBeUndefined();
    expect(await inForce(install)).toEqual(settings(bucket, { path_settings }));
    const second = await bucketOf(install);
    await ask(install, { bucket: second }, 'PATCH');
    expect(await inForce(install)).toEqual(settings(second, { path_settings }));
    expect((await ask(install, {}, 'PATCH')).status).toBe(202);
    expect(await inForce(install)).toEqual(settings(second, { path_settings }));
  });

  it('require every field in a first PATCH', async () => {
    const install = await newInstall();
    const answer = await ask(install, { cloud: 's3', bucket_region: 'eu-west-1' }, 'PATCH');
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({
      message: 'Bad request - invalid parameters',
      errors: ['bucket', 'path_settings'].map((name) => ({
        resource: 'OffloadSettings',
        field: name,
        type: 'missing_field',
        code: 'required',
        message: `${name} is required, as the install has no offload settings yet`,
      })),
    });
    expect((await ask(install, settings(await bucketOf(install)), 'PATCH')).status).toBe(202);
    expect(await inForce(install)).toBeDefined();
  });

  it('are switched off by DELETE, once, and the install serves its own files', async () => {
    const install = await newInstall();
    const bucket = await bucketOf(install);
    const off = () => owner.client.delete(files(install.id));
    expect(await off()).toMatchObject(NOT_FOUND);
    await ask(install, settings(bucket));
    storage.put(bucket, 'uploads/x.txt', 'from the bucket');
    write(install, 'uploads/x.txt', 'from the install');
    expect((await open(install, '/uploads/x.txt')).body).toBe('from the bucket');
    const asked = await off();
    expect(asked.status).toBe(202);
    await homeport.idle();
    const { body } = await owner.client.get(String(asked.headers.location).replace('/v1', ''));
    expect(body).toMatchObject({ kind: 'offload.configure', status: 'succeeded' });
    expect((await open(install, '/uploads/x.txt')).body).toBe('from the install');
    expect(await read(install)).toMatchObject(NOT_FOUND);
    expect(await off()).toMatchObject(NOT_FOUND);
    expect((await activityOf(homeport, accountId)).at(-1)).toMatchObject({ action: 'offload.remove' });
  });

  it('that are requested around a DELETE follow the order of the requests', async () => {
    const install = await newInstall();
    const bucket = await bucketOf(install);
    const post = (filestore_settings: object) => owner.client.post(files(install.id), { filestore_settings });
    await post(settings(bucket));
    expect((await owner.client.delete(files(install.id))).status).toBe(202);
    const partly = { filestore_settings: { bucket } };
    expect((await owner.client.patch(files(install.id), partly)).status).toBe(400);
    await post(settings('no-such-bucket'));
    await homeport.idle();
    expect(await read(install)).toMatchObject(NOT_FOUND);
    expect(await outcomeOf(install)).toMatchObject({ state: 'refused' });
  });

  it('continue from a pending request', async () => {
    const install = await newInstall();
    const bucket = await bucketOf(install);
    const path_settings = [{ path: '/later', excluded_paths: [], redirect_type: 'permanent' }];
    const answers = [
      await owner.client.post(files(install.id), { filestore_settings: settings(bucket) }),
      await owner.client.patch(files(install.id), { filestore_settings: { path_settings } }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([202, 202]);
    await homeport.idle();
    expect(await inForce(install)).toEqual(settings(bucket, { path_settings }));
  });

  it('are those of the latest verified request, whatever else is pending', async () => {
    const install = await newInstall();
    const good = await bucketOf(install);
    for (const buckets of [
      ['no-such-bucket', good],
      [good, 'no-such-bucket'],
      ['no-such-bucket', good, 'empty-handed'],
    ]) {
      for (const bucket of buckets) {
        await owner.client.post(files(install.id), { filestore_settings: settings(bucket) });
      }
      await homeport.idle();
      expect(await inForce(install)).toEqual(settings(good));
      expect(await outcomeOf(install)).toMatchObject({
        state: buckets.at(-1) === good ? 'in_force' : 'refused',
      });
    }
  });

  it('are one whole request if several compete', async () => {
    const install = await newInstall();
    const wanted = await Promise.all([1, 2, 3].map(async () => settings(await bucketOf(install))));
    const answers = await Promise.all(wanted.map((one) => ask(install, one)));
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202]);
    await homeport.idle();
    expect(wanted).toContainEqual(await inForce(install));
    expect(await outcomeOf(install)).toMatchObject({ state: 'in_force' });
  });
});

describe('a bucket of someone else', () => {
  const refused = async (install: Install, bucket: string): Promise<string> => {
    const before = await inForce(install);
    expect((await ask(install, settings(bucket))).status).toBe(202);
    expect(await inForce(install)).toEqual(before);
    const outcome = await outcomeOf(install);
    expect(outcome).toMatchObject({ state: 'refused', reason: expect.stringMatching(/^\S.*\.$/) });
    expect(outcome?.reason).not.toContain('storage secret');
    const job = await homeport.platform.database.reader
      .selectFrom('jobs')
      .select(['state', 'error', 'attempt'])
      .where('lane', '=', install.id)
      .where('kind', '=', 'configure_offload')
      .orderBy('seq', 'desc')
      .limit(1)
      .executeTakeFirst();
    expect(job).toMatchObject({ state: 'failed', attempt: 1, error: expect.stringContaining(bucket) });
    return outcome?.reason ?? '';
  };

  it('is refused, with a reason that says what to do', async () => {
    const [install, other] = [await newInstall(), await newInstall()];
    const { body } = await fileOf(install);
    const name = String(field(body, 'name'));
    storage.put('empty-bucket', 'other.txt', 'x');
    expect(await refused(install, 'empty-bucket')).toBe(
      `The bucket empty-bucket has no ${name} at its root; put the validation file there.`,
    );
    const wrong = `${name} in the bucket wrong-bucket is not this install's validation file; upload it again as it was given.`;
    for (const content of [
      String(field((await fileOf(other)).body, 'content')),
      '',
      `x${'y'.repeat(10_000)}`,
    ]) {
      storage.put('wrong-bucket', name, content);
      expect(await refused(install, 'wrong-bucket')).toBe(wrong);
    }
    await refused(install, await bucketOf(other));
    await refused(install, 'no-such-bucket');
    await refused(install, 'locked-bucket');
    expect(await read(install)).toMatchObject(NOT_FOUND);

    storage.put('empty-bucket', name, String(field(body, 'content')));
    await ask(install, settings('empty-bucket'));
    expect(await inForce(install)).toEqual(settings('empty-bucket'));
  });

  it('leaves the active settings unchanged and served', async () => {
    const install = await newInstall();
    const bucket = await bucketOf(install);
    storage.put(bucket, 'uploads/x.txt', 'from the bucket');
    await ask(install, settings(bucket));
    await refused(install, 'no-such-bucket');
    expect(await inForce(install)).toEqual(settings(bucket));
    expect((await open(install, '/uploads/x.txt')).body).toBe('from the bucket');
    // A merge continues from the active settings, not from the refused ones.
    const path_settings = [{ path: '/more', excluded_paths: [], redirect_type: 'break' }];
    await ask(install, { path_settings }, 'PATCH');
    expect(await inForce(install)).toEqual(settings(bucket, { path_settings }));
  });
});

describe('the outcome of the last request', () => {
  it('is shown in the portal, with the reason of a refusal', async () => {
    const [install, other] = [await newInstall(), await newInstall()];
    const portal = await signedIn(homeport, owner);
    const standing = async (id = install.id) => (await portal.get(`/installs/${id}/offload`)).body;
    expect(await standing()).toEqual({ state: null, reason: null, updated_at: null });
    storage.put('bare-bucket', 'other.txt', 'x');
    await ask(install, settings('bare-bucket'));
    expect(await standing()).toEqual({
      state: 'refused',
      reason: expect.stringMatching(/^The bucket bare-bucket has no .* put the validation file there\.$/),
      updated_at: expect.any(String),
    });
    await ask(install, settings(await bucketOf(install)));
    expect(await standing()).toMatchObject({ state: 'in_force', reason: null });
    expect(await standing(other.id)).toMatchObject({ state: null });
    const partial = await signedIn(homeport, await homeport.person(accountId, 'partial', [other.id]));
    expect((await partial.get(`/installs/${other.id}/offload`)).status).toBe(200);
    expect(await partial.get(`/installs/${install.id}/offload`)).toMatchObject(NOT_FOUND);
  });

  it('is recorded with its author for POST and PATCH, but not for invalid settings', async () => {
    const install = await newInstall();
    const bucket = await bucketOf(install);
    await ask(install, settings(bucket));
    await ask(install, { bucket_region: 'eu-west-1' }, 'PATCH');
    await ask(install, { bucket: 'Not A Bucket' }, 'PATCH');
    const entries = (await activityOf(homeport, accountId)).filter(
      (entry) => entry.install_id === install.id,
    );
    const update = {
      action: 'offload.update',
      subject_id: install.id,
      subject_name: install.name,
      details: { bucket },
      user_id: owner.userId,
      means: 'api',
    };
    expect(entries.filter(({ action }) => action === 'offload.update')).toMatchObject([update, update]);
  });
});
