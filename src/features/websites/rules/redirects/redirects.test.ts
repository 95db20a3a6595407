import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { activityOf } from '../../../../../test/activity.ts';
import { field, text } from '../../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../../test/homeport.ts';
import { NOT_FOUND } from '../../../../../test/refusal.ts';
import { timestamp } from '../../../../lib/clock.ts';
import { type Install, ruleCalls } from '../rules.fixture.ts';
import { saveRules } from '../store.ts';
import { USUAL_RULES } from '../stored-rules.ts';

let homeport: TestHomeport;
let accountId: string;
let owner: Person;
let install: Install;

beforeAll(async () => {
  homeport = await startTestHomeport();
  ({ accountId, owner } = await homeport.ownedAccount());
});
beforeEach(async () => {
  install = await newInstall();
});
afterAll(() => homeport.remove());

const { install: newInstall, change, visit } = ruleCalls(() => ({ homeport, accountId, owner }));
const path = (id = '') => `/installs/${install.id}/redirects${id === '' ? '' : `/${id}`}`;
const add = async (json: object) => (await change('POST', path(), json)).body;
const sources = async () => {
  const results = field((await owner.client.get(path())).body, 'results');
  return Array.isArray(results)
    ? results.map((one) => `${field(one, 'position')} ${field(one, 'from')}`)
    : [];
};
const target = async (of: string) => {
  const { status, headers } = await visit(install, of);
  return [status, headers.location];
};

describe('a redirect', () => {
  it('is obeyed, changed, moved and deleted', async () => {
    const added = await add({ from: '/old%20page', to: '/new/' });
    expect(added).toMatchObject({
      position: 1,
      match: 'exact',
      from: '/old%20page',
      to: '/new/',
      status: 301,
      keep_query: true,
    });
    expect(await target('/old%20page/?a=1')).toEqual([301, '/new/?a=1']);
    await add({
      match: 'prefix',
      from: '/old',
      to: 'https://old.test',
      status: 308,
      keep_query: false,
      position: 1,
    });
    await add({ match: 'regex', from: '^/p/(\\d+)$', to: '/posts/$1', status: 302 });
    expect(await sources()).toEqual(['1 /old', '2 /old%20page', '3 ^/p/(\\d+)$']);
    expect(await target('/old/x?y')).toEqual([308, 'https://old.test/x']);
    expect(await target('/p/12?y')).toEqual([302, '/posts/12?y']);
    expect((await target('/p/x'))[0]).toBe(404);
    const id = text(added, 'id');
    const changed = await change('PATCH', path(id), { to: '/newest/', position: 3, status: 307 });
    expect(changed.body).toMatchObject({ id, position: 3, from: '/old%20page', to: '/newest/', status: 307 });
    expect(await sources()).toEqual(['1 /old', '2 ^/p/(\\d+)$', '3 /old%20page']);
    expect(await target('/old%20page')).toEqual([307, '/newest/']);
    expect((await change('DELETE', path(id))).status).toBe(202);
    expect((await target('/old%20page'))[0]).toBe(404);
    const recorded = (await activityOf(homeport, accountId)).filter(
      ({ install_id }) => install_id === install.id,
    );
    expect(recorded.map(({ action }) => action).filter((action) => action.startsWith('redirect'))).toEqual([
      'redirect.create',
      'redirect.create',
      'redirect.create',
      'redirect.update',
      'redirect.delete',
    ]);
    expect(recorded.at(-1)?.details).toMatchObject({ from: '/old%20page' });
  });

  it('is shown as a request may write it', async () => {
    const given = '/caf%C3%A9/50%25/a%2Ab%3Fc%23d/(e)~$&+,;=:@%22';
    const added = await add({ from: given, to: '/new/' });
    expect(field(added, 'from')).toBe(given);
    const id = text(added, 'id');
    const changed = await change('PATCH', path(id), { from: given, keep_query: false });
    expect(changed).toMatchObject({ status: 200, body: { from: given, keep_query: false } });
    expect(await sources()).toEqual([`1 ${given}`]);
    expect(await target(given)).toEqual([301, '/new/']);
  });

  it('in a circle, or that cannot be read, is refused, and nothing changes', async () => {
    await add({ from: '/a', to: '/b' });
    for (const [json, name, code] of [
      [{ from: '/b', to: `http://${install.name}.localhost/a` }, 'to', 'loop'],
      [{ from: '/c', to: '/c' }, 'to', 'loop'],
      [{ match: 'regex', from: '(a+)+', to: '/x' }, 'from', 'invalid_pattern'],
      [{ from: '/x' }, 'to', 'required'],
      [{ from: '/x', to: '/y', status: 303 }, 'status', 'not_allowed'],
    ] as const) {
      const answer = await owner.client.call('POST', path(), { json });
      expect(answer.status).toBe(400);
      expect([field(answer.body, 'errors', 0, 'field'), field(answer.body, 'errors', 0, 'code')]).toEqual([
        name,
        code,
      ]);
    }
    expect(await sources()).toEqual(['1 /a']);
    const circle = await owner.client.call('POST', path(), { json: { from: '/a%20b', to: '/a%20b' } });
    expect(field(circle.body, 'errors', 0, 'message')).toContain('Visitors of /a%20b would never arrive');
  });

  it('whose expression was stored before a limit still works, and a new one is refused', async () => {
    const { database, clock, random } = homeport.platform;
    const id = random.uuid();
    const from = '^/a{1,90}b{1,90}c{1,90}$';
    const before = { id, match: 'regex', from, to: '/new/', status: 301, keep_query: true } as const;
    await database.write(({ queries }) =>
      saveRules(queries, install.id, { ...USUAL_RULES, redirects: [before] }, timestamp(clock)),
    );
    expect(await change('PATCH', path(id), { from, keep_query: false })).toMatchObject({ status: 200 });
    await add({ from: '/x', to: '/abc' });
    expect(await target('/abc?y')).toEqual([301, '/new/']);
    const answer = await owner.client.call('POST', path(), { json: { match: 'regex', from, to: '/y' } });
    expect(field(answer.body, 'errors', 0)).toMatchObject({ field: 'from', code: 'invalid_pattern' });
    const wider = await owner.client.call('PATCH', path(id), { json: { from: `${from}|d` } });
    expect(wider.status).toBe(400);
  });

  it('of another account, or of none, is not there', async () => {
    const id = text(await add({ from: '/a', to: '/b' }), 'id');
    const { owner: stranger } = await homeport.ownedAccount();
    expect(await stranger.client.get(path())).toMatchObject(NOT_FOUND);
    expect(await stranger.client.call('PATCH', path(id), { json: { to: '/x' } })).toMatchObject(NOT_FOUND);
    const gone = 'a47c2e90-5d18-4b63-9f0e-c83b71d6205f';
    expect(await owner.client.call('PATCH', path(gone), { json: { to: '/x' } })).toMatchObject(NOT_FOUND);
    expect(await owner.client.call('DELETE', path(gone))).toMatchObject(NOT_FOUND);
  });
});

describe('an import', () => {
  it('adds all or none, after the others or in place of them', async () => {
    await add({ from: '/a', to: '/b' });
    const redirects = [
      { from: '/c', to: '/d' },
      { match: 'prefix', from: '/e', to: '/f' },
    ];
    expect(await change('POST', path('import'), { redirects })).toMatchObject({
      status: 200,
      body: { count: 2, total: 3 },
    });
    expect(await sources()).toEqual(['1 /a', '2 /c', '3 /e']);
    expect(await target('/e/x')).toEqual([301, '/f/x']);
    const wrong = await change('POST', path('import'), {
      redirects: [...redirects, { from: 'x', to: '/y' }, { from: '/z', to: '/z' }],
    });
    expect(field(wrong.body, 'errors', 0)).toMatchObject({ field: 'redirects.2.from' });
    const looping = await change('POST', path('import'), {
      redirects: [
        { from: '/g', to: '/h' },
        { from: '/h', to: '/g' },
      ],
    });
    expect(field(looping.body, 'errors')).toMatchObject([
      { field: 'redirects.0.to', code: 'loop' },
      { field: 'redirects.1.to', code: 'loop' },
    ]);
    expect(
      await change('POST', path('import'), { redirects: redirects.slice(0, 1), replace: true }),
    ).toMatchObject({
      body: { count: 1, total: 1 },
    });
    expect(await sources()).toEqual(['1 /c']);
  });

  it('takes 500 redirects', async () => {
    const redirects = Array.from({ length: 500 }, (_, at) => ({ from: `/${at}`, to: `/to/${at}` }));
    expect(await change('POST', path('import'), { redirects })).toMatchObject({
      status: 200,
      body: { total: 500 },
    });
    expect(await target('/499')).toEqual([301, '/to/499']);
    const one = await change('POST', path(), { from: '/x', to: '/y' });
    expect(field(one.body, 'errors', 0)).toMatchObject({ field: 'redirects', code: 'too_many' });
  });
});
