import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Answer, text } from '../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';

let homeport: TestHomeport;
let accountId: string;
let owner: Person;
let install: { id: string; name: string };
beforeAll(async () => {
  homeport = await startTestHomeport();
  ({ accountId, owner } = await homeport.ownedAccount());
  install = await homeport.install(owner, accountId);
});
afterAll(() => homeport.remove());

/** The id in the answer's `Location`. */
function startedBy({ headers }: Answer): string {
  const [, id] = /^\/v1\/operations\/([0-9a-f-]{36})$/.exec(String(headers.location)) ?? [];
  if (id === undefined) throw new Error(`no operation in ${String(headers.location)}`);
  return id;
}

async function operation(answer: Answer) {
  return homeport.platform.database.reader
    .selectFrom('operations')
    .select(['kind', 'account_id', 'install_id', 'result'])
    .where('id', '=', startedBy(answer))
    .executeTakeFirst();
}

const ofInstall = () => ({ account_id: accountId, install_id: install.id });
const post = (path: string, body?: unknown) => owner.client.post(`/installs/${install.id}${path}`, body);

it('POST /installs names the operation that creates the website', async () => {
  const answer = await owner.client.post('/installs', { name: 'brand-new', account_id: accountId });
  expect(answer.status).toBe(201);
  const id = text(answer.body, 'id');
  expect(await operation(answer)).toEqual({
    kind: 'install.create',
    account_id: accountId,
    install_id: id,
    result: { install_id: id },
  });
});

it('adding domains names the operation that applies them', async () => {
  const answer = await post('/domains', { name: 'one.example' });
  expect(answer.status).toBe(201);
  expect(await operation(answer)).toEqual({ kind: 'install.apply', ...ofInstall(), result: null });
  const several = await post('/domains/bulk', {
    domains: [{ name: 'two.example' }, { name: 'three.example' }],
  });
  expect(several.status).toBe(201);
  expect(await operation(several)).toMatchObject({ kind: 'install.apply', ...ofInstall() });
});

it('every 202 names its operation', async () => {
  const domain = text((await post('/domains', { name: 'checked.example' })).body, 'id');
  const check = await post(`/domains/${domain}/check_status`);
  expect(check.status).toBe(202);
  expect(await operation(check)).toEqual({
    kind: 'domain.check',
    ...ofInstall(),
    result: { report_id: text(check.body, 'report_id') },
  });

  const backup = await post('/backups', { description: 'x', notification_emails: [] });
  expect(await operation(backup)).toEqual({
    kind: 'backup.create',
    ...ofInstall(),
    result: { backup_id: text(backup.body, 'id') },
  });

  const purge = await post('/purge_cache', { type: 'page' });
  expect(await operation(purge)).toEqual({ kind: 'cache.purge', ...ofInstall(), result: { cache: 'page' } });
  expect(purge.body).toBeUndefined();

  const filestore_settings = {
    cloud: 's3',
    bucket: 'a-bucket',
    bucket_region: 'eu-west-1',
    path_settings: [{ path: '/uploads', excluded_paths: [], redirect_type: 'break' }],
  };
  const offload = await post('/offload_settings/files', { filestore_settings });
  expect(await operation(offload)).toMatchObject({ kind: 'offload.configure', ...ofInstall() });
  const merged = await owner.client.patch(`/installs/${install.id}/offload_settings/files`, {
    filestore_settings,
  });
  expect(await operation(merged)).toMatchObject({ kind: 'offload.configure', ...ofInstall() });
});

it('a refused request names none', async () => {
  const answer = await post('/purge_cache', { type: 'everything' });
  expect(answer.status).toBe(400);
  expect(answer.headers.location).toBeUndefined();
});
