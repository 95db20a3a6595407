import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Answer, text } from '../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { OPERATION_KINDS } from '../../../lib/operation.ts';
import { requireResultOf } from '../../../lib/operation-result.ts';

const storedKind = Type.Enum([...OPERATION_KINDS]);
const storedResult = Type.Record(Type.String(), Type.String());

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

it('on a static website, WordPress cannot be read', async () => {
  const error = expect.stringContaining('This website consists of files, without WordPress.');
  expect(await owner.client.post(`/installs/${install.id}/wordpress/refresh`)).toMatchObject({
    status: 409,
    body: { message: error },
  });
  expect((await owner.client.get(`/installs/${install.id}/wordpress`)).body).toMatchObject({
    core: null,
    error,
  });
});

it('every kind has the result that the API describes', async () => {
  const other = await homeport.install(owner, accountId);
  const backup = text((await post('/backups', { description: 'y', notification_emails: [] })).body, 'id');
  await homeport.idle();
  const restored = await post(`/backups/${backup}/restore`, { notification_emails: [] });
  const pages = await post('/purge_cache', { type: 'page', paths: ['/'] });
  const packed = await post('/archives', { backup_id: backup });
  const copied = await owner.client.post('/install_copy', {
    source_environment_id: install.id,
    destination_environment_id: other.id,
    notification_emails: [],
  });
  const fieldsOf = async (answer: Answer) => Object.keys((await operation(answer))?.result ?? {}).sort();
  expect(await fieldsOf(restored)).toEqual(['backup_id', 'checkpoint_id']);
  expect(await fieldsOf(pages)).toEqual(['cache', 'path_count', 'paths']);
  expect(await fieldsOf(packed)).toEqual(['archive_id', 'backup_id']);
  expect(await fieldsOf(copied)).toEqual(['checkpoint_id']);
  await homeport.idle();
  await post(
    `/domains/${text((await post('/domains', { name: 'order.example' })).body, 'id')}/ssl_certificate`,
  );
  await owner.client.delete(`/installs/${other.id}`);
  await homeport.idle();
  expect((await owner.client.delete(`/installs/${install.id}/backups/${backup}`)).status).toBe(204);
  const all = await homeport.platform.database.reader
    .selectFrom('operations')
    .select(['kind', 'result'])
    .execute();
  for (const { kind, result } of all)
    requireResultOf(Value.Parse(storedKind, kind), Value.Parse(storedResult, result ?? {}));
  // The others need WordPress, a second account or a second machine.
  const seen = new Set(all.map(({ kind }) => kind));
  expect(OPERATION_KINDS.filter((kind) => !seen.has(kind))).toEqual([
    'install.import',
    'install.move',
    'wordpress.read',
    'wordpress.update',
    'wordpress.change',
    'install.update_php',
    'install.update_php_limits',
    'install.restart_php',
    'wordpress.cli',
    'site.transfer',
  ]);
});

it('a refused request names none', async () => {
  const answer = await post('/purge_cache', { type: 'everything' });
  expect(answer.status).toBe(400);
  expect(answer.headers.location).toBeUndefined();
});
