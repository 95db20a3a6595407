import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field, text } from '../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { signedIn } from '../../../../test/portal-client.ts';
import { NOT_FOUND } from '../../../../test/refusal.ts';
import { onlyInLong } from '../../../../test/rounds.ts';
import { operatorFor } from '../../../access/caller.ts';

type Install = { id: string; name: string };

let homeport: TestHomeport;
let accountId: string;
let owner: Person;
let install: Install;
let other: Install;

beforeAll(async () => {
  homeport = await startTestHomeport();
  ({ accountId, owner } = await homeport.ownedAccount());
  install = await homeport.install(owner, accountId);
  other = await homeport.install(owner, accountId);
});
afterAll(() => homeport.remove());

const startedBy = (answer: { headers: Record<string, unknown> }) =>
  String(answer.headers.location).replace('/v1/operations/', '');
const purge = async (of: Install, person = owner) =>
  startedBy(await person.client.post(`/installs/${of.id}/purge_cache`, { type: 'page' }));
const read = async (id: string, person = owner) => (await person.client.get(`/operations/${id}`)).body;
const list = async (query: string, person = owner) => (await person.client.get(`/operations?${query}`)).body;
const kindsOf = (body: unknown) => {
  const results = field(body, 'results');
  return Array.isArray(results) ? results.map((one) => text(one, 'kind')) : [];
};

describe('GET /operations/{operation_id}', () => {
  it('shows an operation from its start to its end', async () => {
    const id = await purge(install);
    const waiting = {
      id,
      kind: 'cache.purge',
      account_id: accountId,
      install,
      created_at: expect.any(String),
      progress: null,
      error: null,
    };
    expect(await read(id)).toMatchObject({ ...waiting, account_id: accountId });
    await homeport.idle();
    expect(await read(id)).toEqual({
      ...waiting,
      status: 'succeeded',
      started_at: expect.any(String),
      finished_at: expect.any(String),
      result: { cache: 'page' },
    });
  });

  it('is for those who see the install', async () => {
    const id = await purge(install);
    const given = await homeport.person(accountId, 'partial', [install.id]);
    expect(await read(id, given)).toMatchObject({ id });
    const strangers = [
      await homeport.person(accountId, 'partial', [other.id]),
      (await homeport.ownedAccount()).owner,
      await homeport.person(),
    ];
    for (const person of strangers) {
      expect(await person.client.get(`/operations/${id}`)).toMatchObject(NOT_FOUND);
    }
    expect(await owner.client.get(`/operations/${crypto.randomUUID()}`)).toMatchObject(NOT_FOUND);
    expect((await owner.client.get('/operations/none')).status).toBe(404);
  });

  it('says why an operation failed, and what to do', async () => {
    const filestore_settings = {
      cloud: 's3',
      bucket: 'a-bucket',
      bucket_region: 'eu-west-1',
      path_settings: [{ path: '/uploads', excluded_paths: [], redirect_type: 'break' }],
    };
    const id = startedBy(
      await owner.client.post(`/installs/${install.id}/offload_settings/files`, { filestore_settings }),
    );
    await homeport.idle();
    expect(await read(id)).toMatchObject({
      kind: 'offload.configure',
      status: 'failed',
      error: { code: 'storage_refused', message: expect.any(String), advice: expect.any(String) },
      result: null,
    });
  });

  onlyInLong(it)(
    'keeps the operations of a deleted install for 30 days, for those who see the whole account',
    async () => {
      const doomed = await homeport.install(owner, accountId);
      const given = await homeport.person(accountId, 'partial', [doomed.id]);
      const id = await purge(doomed);
      await homeport.idle();
      await homeport.services.installs.remove(operatorFor(owner.userId), doomed.id);
      await homeport.idle();
      expect(await read(id)).toMatchObject({ kind: 'cache.purge', install: doomed });
      expect(await given.client.get(`/operations/${id}`)).toMatchObject(NOT_FOUND);
      expect(kindsOf(await list(`install_id=${doomed.id}`))).toEqual([
        'install.create',
        'cache.purge',
        'install.delete',
      ]);
    },
  );
});

describe('GET /operations', () => {
  it('lists what the caller may see, oldest first, and filters it', async () => {
    const mine = await homeport.install(owner, accountId);
    await purge(mine);
    await homeport.idle();
    expect(kindsOf(await list(`install_id=${mine.id}`))).toEqual(['install.create', 'cache.purge']);
    expect(kindsOf(await list(`install_id=${mine.id}&kind=cache.purge`))).toEqual(['cache.purge']);
    expect(kindsOf(await list(`install_id=${mine.id}&status=failed`))).toEqual([]);
    expect(
      kindsOf(await list(`install_id=${mine.id}&status=succeeded&account_id=${accountId}`)),
    ).toHaveLength(2);
    expect(await list(`account_id=${crypto.randomUUID()}`)).toMatchObject({ count: 0, results: [] });
    const given = await homeport.person(accountId, 'partial', [mine.id]);
    expect(await list('', given)).toMatchObject({ count: 2 });
    expect(await list('', (await homeport.ownedAccount()).owner)).toMatchObject({ count: 0, results: [] });
  });

  it('has pages', async () => {
    const mine = await homeport.install(owner, accountId);
    await purge(mine);
    const first = await list(`install_id=${mine.id}&limit=1`);
    expect(first).toMatchObject({ count: 2, previous: null, results: [{ kind: 'install.create' }] });
    expect(text(first, 'next')).toContain(`install_id=${mine.id}&limit=1&offset=1`);
    expect(await list(`install_id=${mine.id}&limit=1&offset=1`)).toMatchObject({
      next: null,
      results: [{ kind: 'cache.purge' }],
    });
  });

  it('refuses unknown words', async () => {
    for (const query of ['status=done', 'kind=backup', 'install_id=x', 'status=failed&status=queued']) {
      expect((await owner.client.get(`/operations?${query}`)).status).toBe(400);
    }
  });
});

describe('a certificate order without certificate', () => {
  it('is a failed operation, although its job has done its work', async () => {
    const { database } = homeport.platform;
    const id = await purge(install);
    await homeport.idle();
    await database.write(({ queries }) =>
      queries
        .updateTable('operations')
        .set({ error_code: 'certificate_refused', error_message: 'CAA forbids it.' })
        .where('id', '=', id)
        .execute(),
    );
    expect(await read(id)).toMatchObject({
      status: 'failed',
      error: { code: 'certificate_refused', message: 'CAA forbids it.', advice: expect.any(String) },
      result: null,
    });
    expect(await list(`install_id=${install.id}&status=failed`)).toMatchObject({
      results: expect.arrayContaining([expect.objectContaining({ id })]),
    });
    expect(JSON.stringify(await list(`install_id=${install.id}&status=succeeded`))).not.toContain(id);
  });
});

describe('POST /portal/api/operations/read', () => {
  const readMany = async (person: Person, ids: string[]) => {
    const client = await signedIn(homeport, person);
    return client.post('/operations/read', { operation_ids: ids });
  };

  it('returns the operations that the caller may see, and no others', async () => {
    const ids = [await purge(install), await purge(other)];
    const given = await homeport.person(accountId, 'partial', [install.id]);
    const { owner: stranger } = await homeport.ownedAccount();
    const seenBy = async (person: Person) => {
      const results = field((await readMany(person, [...ids, crypto.randomUUID()])).body, 'results');
      return Array.isArray(results) ? results.map((one) => text(one, 'id')).sort() : [];
    };
    expect(await seenBy(owner)).toEqual([...ids].sort());
    expect(await seenBy(given)).toEqual([ids[0]]);
    expect(await seenBy(stranger)).toEqual([]);
  });

  it('requires 1 to 500 IDs', async () => {
    const many = Array.from({ length: 501 }, () => crypto.randomUUID());
    for (const ids of [[], many, ['17']]) expect((await readMany(owner, ids)).status).toBe(400);
  });
});
