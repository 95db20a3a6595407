import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field } from '../../../../test/client.ts';
import type { Person, TestHomeport } from '../../../../test/homeport.ts';
import { NOT_FOUND } from '../../../../test/refusal.ts';
import { files, type Offloading, offloadCalls, settings, startOffloading } from './offload.fixture.ts';

let started: Offloading;
let homeport: TestHomeport;
let accountId: string;
let owner: Person;

beforeAll(async () => {
  started = await startOffloading();
  ({ homeport, accountId, owner } = started);
});
afterAll(async () => {
  await started.homeport.remove();
  await started.storage.close();
});

const { ask, bucketOf, fileOf, newInstall, read } = offloadCalls(() => started);

describe('invalid settings', () => {
  const errorsOf = async (body: unknown, method: 'POST' | 'PATCH' = 'POST'): Promise<unknown> => {
    const install = await newInstall();
    const answer = await owner.client.call(method, files(install.id), { json: body });
    expect(answer.status).toBe(400);
    expect(field(answer.body, 'message')).toBe('Bad request - invalid parameters');
    return field(answer.body, 'errors');
  };

  it('are refused with every missing field, in order', async () => {
    for (const body of [{}, { filestore_settings: {} }]) {
      expect(await errorsOf(body)).toMatchObject(
        ['cloud', 'bucket', 'bucket_region', 'path_settings'].map((name) => ({
          resource: 'OffloadSettings',
          field: name,
          type: 'missing_field',
          code: 'required',
        })),
      );
    }
  });

  it('are refused with every invalid value', async () => {
    const wrong = {
      cloud: 'gcs',
      bucket: 'Not A Bucket',
      bucket_region: '../eu',
      path_settings: [
        { path: 'uploads', excluded_paths: ['/x?y'], redirect_type: 'temporary' },
        { path: '/a\u0000b', excluded_paths: 'x', redirect_type: 'break' },
      ],
    };
    const expected = [
      { field: 'cloud', code: 'not_allowed', message: 'cloud must be one of: s3' },
      {
        field: 'bucket',
        code: 'invalid_format',
        message: expect.stringMatching(/^The name of a bucket is 3 to 63/),
      },
      { field: 'bucket_region', code: 'invalid_format' },
      {
        field: 'path_settings.0.path',
        code: 'invalid_format',
        message: expect.stringMatching(/^A path begins with \//),
      },
      { field: 'path_settings.0.excluded_paths.0', code: 'invalid_format' },
      {
        field: 'path_settings.0.redirect_type',
        code: 'not_allowed',
        message: 'path_settings.0.redirect_type must be one of: break, permanent',
      },
      { field: 'path_settings.1.path', code: 'invalid_format' },
      { field: 'path_settings.1.excluded_paths', code: 'invalid_type' },
    ];
    for (const method of ['POST', 'PATCH'] as const) {
      const errors = await errorsOf({ filestore_settings: wrong }, method);
      expect(errors).toHaveLength(expected.length);
      expect(errors).toEqual(expect.arrayContaining(expected.map((one) => expect.objectContaining(one))));
    }
    for (const bucket of ['a', 'a..b', '-ab', 'ab-', 'a_b', 'x'.repeat(64), 'a/b', 'a.b:80']) {
      expect(await errorsOf({ filestore_settings: settings(bucket) }), bucket).toMatchObject([
        { field: 'bucket', type: 'invalid_value', code: 'invalid_format' },
      ]);
    }
    for (const bucket_region of ['', '-', 'eu west', 'eu.west', 'x'.repeat(41)]) {
      const errors = await errorsOf({ filestore_settings: settings('abc', { bucket_region }) });
      expect(errors, bucket_region).toMatchObject([{ field: 'bucket_region' }]);
    }
    expect(await errorsOf({ filestore_settings: settings('abc', { path_settings: [] }) })).toMatchObject([
      { field: 'path_settings', code: 'too_few' },
    ]);
  });

  it('may have unknown fields anywhere, but no paths with invalid Unicode', async () => {
    const install = await newInstall();
    const bucket = await bucketOf(install);
    const odd = { deep: [[[[[[['\u0000']]]]]]], lone: '\ud800' };
    const [path] = settings(bucket).path_settings;
    const wanted = settings(bucket, { ...odd, path_settings: [{ ...path, ...odd }] });
    expect((await ask(install, wanted)).status).toBe(202);
    expect((await read(install)).body).toEqual({ filestore_settings: settings(bucket) });
    const path_settings = [{ path: '/\ud800', excluded_paths: [], redirect_type: 'break' }];
    expect(await errorsOf({ filestore_settings: settings(bucket, { path_settings }) })).toMatchObject([
      { field: 'path_settings.0.path', code: 'invalid_format' },
    ]);
  });

  it('may have 200 paths in total, and no more', async () => {
    const rule = (path: string, excluded: number) => ({
      path,
      excluded_paths: Array.from({ length: excluded }, (_, index) => `${path}/${index}`),
      redirect_type: 'break',
    });
    const install = await newInstall();
    const bucket = await bucketOf(install);
    const most = settings(bucket, { path_settings: [rule('/a', 99), rule('/b', 99)] });
    expect((await ask(install, most)).status).toBe(202);
    expect((await read(install)).body).toEqual({ filestore_settings: most });
    const more = settings(bucket, { path_settings: [rule('/a', 99), rule('/b', 99), rule('/c', 0)] });
    for (const method of ['POST', 'PATCH'] as const) {
      const answer = await owner.client.call(method, files(install.id), {
        json: { filestore_settings: more },
      });
      expect(answer.status).toBe(400);
      expect(field(answer.body, 'errors')).toEqual([
        {
          resource: 'OffloadSettings',
          field: 'path_settings',
          type: 'invalid_value',
          code: 'too_many',
          message: 'path_settings can have 200 paths in total, excluded ones included, and these are 201',
        },
      ]);
    }
    expect((await read(install)).body).toEqual({ filestore_settings: most });
  });

  it('are refused with exclusions outside their path', async () => {
    const path_settings = [
      { path: '/up', excluded_paths: ['/up/ok', '//up//ok', '/upper', '/other'], redirect_type: 'break' },
      { path: '/', excluded_paths: ['/anything'], redirect_type: 'break' },
    ];
    expect(await errorsOf({ filestore_settings: settings('abc', { path_settings }) })).toEqual(
      ['/upper', '/other'].map((path) => ({
        resource: 'OffloadSettings',
        field: 'path_settings.0.excluded_paths',
        type: 'invalid_value',
        code: 'outside_path',
        message: `${path} is not below /up`,
      })),
    );
  });
});

describe('paths without an effect are refused', () => {
  const refusalsOf = async (...paths: [path: string, excluded: string[], type?: string][]) => {
    const path_settings = paths.map(([path, excluded_paths, redirect_type = 'break']) => ({
      ...{ path, excluded_paths, redirect_type },
    }));
    const { body } = await ask(await newInstall(), settings('abc', { path_settings }));
    const errors = field(body, 'errors');
    return Array.isArray(errors) ? errors.map((error) => [field(error, 'field'), field(error, 'code')]) : [];
  };

  it.each(['/..', '/.', '/a/../b', '/a/./b', '/a/..'])('as no request has the path %s', async (path) => {
    expect(await refusalsOf([path, []])).toEqual([['path_settings.0.path', 'unreachable']]);
    expect(await refusalsOf(['/', ['/ok', path]])).toEqual([
      ['path_settings.0.excluded_paths.1', 'unreachable'],
    ]);
  });

  it.each(['/%2e%2e', '/a/%2E%2e/b', '/up%20loads'])('as %s is compared decoded', async (path) => {
    expect(await refusalsOf([path, []])).toEqual([['path_settings.0.path', 'encoded']]);
  });

  it('as the same path has other settings, or is excluded', async () => {
    expect(await refusalsOf(['/up', []], ['/up/in', []], ['//up/', [], 'permanent'])).toEqual([
      ['path_settings.2.path', 'repeated'],
    ]);
    expect(await refusalsOf(['/up', ['/up/']])).toEqual([
      ['path_settings.0.excluded_paths', 'excludes_path'],
    ]);
  });

  it('but names with dots are not', async () => {
    const install = await newInstall();
    const path_settings = [{ path: '/.hidden/..a/b..', excluded_paths: [], redirect_type: 'break' }];
    expect((await ask(install, settings(await bucketOf(install), { path_settings }))).status).toBe(202);
  });
});

it('answer 404 for hidden, missing and malformed ids; partial users have their own', async () => {
  const [mine, theirs] = [await newInstall(), await newInstall()];
  const partial = await homeport.person(accountId, 'partial', [mine.id]);
  const stranger = (await homeport.ownedAccount()).owner;
  const wanted = settings(await bucketOf(mine));
  expect((await fileOf(mine, partial)).status).toBe(200);
  expect((await ask(mine, wanted, 'POST', partial)).status).toBe(202);
  expect((await ask(mine, {}, 'PATCH', partial)).status).toBe(202);
  expect((await read(mine, partial)).body).toEqual({ filestore_settings: wanted });
  for (const [install, person] of [
    [theirs, partial],
    [mine, stranger],
    [{ id: crypto.randomUUID(), name: '' }, owner],
  ] as const) {
    expect(await fileOf(install, person)).toMatchObject(NOT_FOUND);
    expect(await read(install, person)).toMatchObject(NOT_FOUND);
    expect(await ask(install, wanted, 'POST', person)).toMatchObject(NOT_FOUND);
    expect(await ask(install, wanted, 'PATCH', person)).toMatchObject(NOT_FOUND);
  }
  const bad = { id: 'x', name: '' };
  expect(await fileOf(bad)).toMatchObject(NOT_FOUND);
  expect(await read(bad)).toMatchObject(NOT_FOUND);
  const malformed = { status: 400, body: { message: 'Invalid install ID format' } };
  expect(await ask(bad, wanted)).toMatchObject(malformed);
  expect(await ask(bad, wanted, 'PATCH')).toMatchObject(malformed);
});
