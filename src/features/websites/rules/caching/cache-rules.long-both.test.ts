import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field } from '../../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../../test/homeport.ts';
import { onlyOn } from '../../../../../test/only-on.ts';
import { type ServedMachine, serveMachine } from '../../../../hosting/remote/embedded-machine.fixture.ts';
import { environment } from '../../../hosts/fleet.fixture.ts';
import { loadDesiredState } from '../../../provisioning/desired-state.ts';
import { type Install, ruleCalls } from '../rules.fixture.ts';

/** A test of a rule, which runs once: other tests reach its queries. */
const rule = onlyOn('sqlite', it);

let machine: ServedMachine;
let homeport: TestHomeport;
let accountId: string;
let owner: Person;
let install: Install;

beforeAll(async () => {
  machine = await serveMachine();
  homeport = await startTestHomeport({ environment: environment(machine.runFolder) });
  ({ accountId, owner } = await homeport.ownedAccount());
  install = await newInstall();
  // This machine runs no PHP.
  await runOn('8.4');
});

const runOn = (php_version: string | null) =>
  homeport.platform.database.write(({ queries }) =>
    queries.updateTable('installs').set({ php_version }).where('id', '=', install.id).execute(),
  );

afterAll(async () => {
  await homeport?.remove();
  await machine?.close();
});

const { install: newInstall, change } = ruleCalls(() => ({ homeport, accountId, owner }));
const path = () => `/installs/${install.id}/cache_rules`;
const USUAL = { uncached_paths: [], bypass_cookies: [], ignored_parameters: [], max_age: 60 };

rule('are the usual ones until they change, and then reach the host', async () => {
  expect((await owner.client.get(path())).body).toEqual(USUAL);
  const wanted = {
    uncached_paths: [{ match: 'prefix', path: '/caf%C3%A9' }],
    bypass_cookies: ['price_list', 'wish_*', 'price_list'],
    ignored_parameters: ['ref'],
    max_age: 600,
  };
  const answer = await change('PATCH', path(), wanted);
  const present = {
    ...wanted,
    bypass_cookies: ['price_list', 'wish_*'],
  };
  expect(answer).toMatchObject({ status: 200, body: present });
  expect(await loadDesiredState(homeport.platform, install.id)).toMatchObject({
    rules: {
      cache: {
        uncachedPaths: [{ match: 'prefix', path: '/café' }],
        bypassCookies: present.bypass_cookies,
        ignoredParameters: ['ref'],
        pageSeconds: 600,
      },
    },
  });
  const purges = await owner.client.get(`/operations?install_id=${install.id}&kind=cache.purge`);
  expect(field(purges.body, 'count')).toBe(1);
  expect((await change('PATCH', path(), { max_age: 10 })).body).toEqual({ ...present, max_age: 10 });
  expect((await change('PATCH', path(), USUAL)).body).toEqual(USUAL);
  expect(await loadDesiredState(homeport.platform, install.id)).not.toHaveProperty('rules');
});

rule('are refused where no pages are cached', async () => {
  await runOn(null);
  const answer = await owner.client.call('PATCH', path(), { json: { max_age: 600 } });
  expect(answer).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('caches no pages') },
  });
  expect((await owner.client.call('PATCH', path(), { json: { max_age: 60 } })).status).toBe(200);
  await runOn('8.4');
});

describe('rules that cannot be obeyed', () => {
  it.each([
    [{ max_age: 9 }, 'max_age'],
    [{ max_age: 3_601 }, 'max_age'],
    [{ uncached_paths: [{ match: 'exact', path: 'x' }] }, 'uncached_paths.0.path'],
    [{ uncached_paths: [{ match: 'regex', path: '/x' }] }, 'uncached_paths.0.match'],
    [{ bypass_cookies: ['a=b'] }, 'bypass_cookies.0'],
    [{ ignored_parameters: ['a*'] }, 'ignored_parameters.0'],
    [{ ignored_parameters: Array.from({ length: 101 }, (_, at) => `p${at}`) }, 'ignored_parameters'],
  ])('%j are refused', async (json, name) => {
    const answer = await owner.client.call('PATCH', path(), { json });
    expect(answer.status).toBe(400);
    expect(field(answer.body, 'errors', 0, 'field')).toBe(name);
  });
});
