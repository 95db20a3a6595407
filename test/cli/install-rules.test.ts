import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { visit } from '../edge.ts';
import { startTestHomeport, type TestHomeport } from '../homeport.ts';
import { call, callJson } from './call-homeport.ts';
import { type Environment, environmentFor } from './run-homeport.ts';

let homeport: TestHomeport;
let environment: Environment;
let name: string;

beforeAll(async () => {
  homeport = await startTestHomeport();
  const { accountId, owner } = await homeport.ownedAccount();
  ({ name } = await homeport.install(owner, accountId));
  environment = await environmentFor(homeport.place);
});
afterAll(() => homeport?.remove());

const look = (path = '/') => visit(homeport, `http://${name}.localhost${path}`);
const json = (...words: string[]) => callJson(environment, 'install', ...words);

test('protection is shown and changed, and visitors notice', async () => {
  expect(await json('protection', name)).toMatchObject({ password: { enabled: false, username: name } });
  const changed = await json(
    'protection',
    ...[name, '--password', 'on', '--noindex', 'on', '--blocked-addresses', '192.0.2.9/24', '198.51.100.7'],
  );
  expect(changed).toMatchObject({
    noindex: 'on',
    blocked_addresses: ['192.0.2.0/24', '198.51.100.7'],
    password: { enabled: true, password: expect.stringMatching(/^[a-z2-9-]{19}$/) },
  });
  expect((await look()).status).toBe(401);
  const { stdout } = await call(environment, 'install', 'protection', name, '--blocked-addresses', 'none');
  expect(stdout).toMatch(/user name +site/);
  expect(stdout).toMatch(/blocked addresses +none/);
  expect(await call(environment, 'install', 'protection', name, '--blocked-addresses', '::/0')).toMatchObject(
    {
      code: 1,
      stderr: expect.stringContaining('::/0 has too many addresses'),
    },
  );
  await json('protection', name, '--password', 'off');
  expect((await look()).status).toBe(200);
});

test('redirects are imported, listed and removed', async () => {
  const file = join(homeport.place.settings.dataDir, 'redirects.csv');
  writeFileSync(file, 'from,to,status\n/old,/new/,302\n/older,/new/,\n');
  expect(await json('redirects', 'import', name, file)).toEqual({ count: 2, total: 2 });
  const target = async (path: string) => (await look(path)).headers.location;
  expect(await target('/old')).toBe('/new/');
  const { stdout } = await call(environment, 'install', 'redirects', 'list', name);
  expect(stdout).toMatch(/1 +exact +\/old +\/new\/ +302 +kept\n2 +exact +\/older /);
  const [first] = Object.values(Object(await json('redirects', 'list', name)));
  await json('redirects', 'remove', name, String(Object(first).id));
  expect(await target('/old')).toBeUndefined();
  writeFileSync(file, '/a,/b\n/b,/a\n');
  expect(await call(environment, 'install', 'redirects', 'import', name, file)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Visitors of /a would never arrive'),
  });
});

test('cache rules need a page cache', async () => {
  expect(await json('cache-rules', name)).toMatchObject({ max_age: 60 });
  expect(await call(environment, 'install', 'cache-rules', name, '--max-age', '600')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('caches no pages'),
  });
});
