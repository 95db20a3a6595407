import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Agent, fetch as undiciFetch } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findEndpoint } from '../../../src/cli/api/endpoints.ts';
import { installName, type Person, startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { onlyInLong } from '../../../test/rounds.ts';
import { type ClientOptions, createClient, type HomeportClient } from '../src/client.ts';
import { HomeportError, OperationFailed } from '../src/errors.ts';

const execute = promisify(execFile);

let homeport: TestHomeport;
let accountId: string;
let owner: Person;
let client: HomeportClient;
let agent: Agent;

beforeAll(async () => {
  homeport = await startTestHomeport();
  ({ accountId, owner } = await homeport.ownedAccount());
  agent = new Agent({ connect: { ca: homeport.ca } });
  client = createClient(findEndpoint, optionsFor(owner));
});
afterAll(async () => {
  await agent?.close();
  await homeport?.remove();
});

const optionsFor = ({ credential }: Person): ClientOptions => ({
  url: `${homeport.origin}/v1`,
  credential,
  surroundings: { fetch: trusting },
});

/** The fetch of the platform, with the certificate authority of the test. */
async function trusting(request: Request): Promise<Response> {
  const { status, headers, body } = await undiciFetch(request.url, {
    method: request.method,
    headers: Object.fromEntries(request.headers),
    body: request.body === null ? null : await request.text(),
    dispatcher: agent,
    signal: request.signal,
  }).then(async (answer) => ({
    status: answer.status,
    headers: [...answer.headers],
    body: await answer.text(),
  }));
  return new Response([204, 304].includes(status) ? null : body, { status, headers });
}

onlyInLong(it)('is packed with its types and its description, and works from the package', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-client-'));
  try {
    const cwd = join(import.meta.dirname, '..');
    // Homeport's own `ignore-scripts` would skip the build. `npm test` passes it on.
    const { npm_config_ignore_scripts: _, ...env } = process.env;
    const { stdout } = await execute('npm', ['pack', '--silent', '--pack-destination', folder], { cwd, env });
    await execute('tar', ['-xf', join(folder, stdout.trim().split('\n').at(-1) ?? ''), '-C', folder]);
    const { stdout: files } = await execute('ls', ['package', 'package/dist'], { cwd: folder });
    for (const name of ['openapi.json', 'index.d.ts', 'api-types.d.ts']) expect(files).toContain(name);
    const packed = await import(join(folder, 'package/dist/index.js'));
    const user = await packed.createHomeportClient(optionsFor(owner)).call('getCurrentUser');
    expect(user).toMatchObject({ email: owner.email });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('reads, creates, changes and deletes', async () => {
  expect(await client.call('getCurrentUser')).toMatchObject({ email: owner.email });
  const site = await client.call('createSite', { body: { name: 'One', account_id: accountId } });
  const path = { site_id: site.id };
  expect(await client.call('updateSite', { path, body: { name: 'Two' } })).toMatchObject({ name: 'Two' });
  expect(await client.call('getSite', { path })).toMatchObject({ id: site.id, name: 'Two' });
  expect(await client.call('deleteSite', { path })).toBeUndefined();
  await expect(client.call('getSite', { path })).rejects.toBeInstanceOf(HomeportError);
});

it('does the work of one idempotency key once', async () => {
  const args = { body: { name: 'Once', account_id: accountId }, idempotencyKey: crypto.randomUUID() };
  const first = await client.call('createSite', args);
  expect(await client.call('createSite', args)).toEqual(first);
});

it('loads every page of a list', async () => {
  const names = ['a', 'b', 'c', 'd', 'e'];
  const { accountId: account_id, owner: person } = await homeport.ownedAccount();
  const own = createClient(findEndpoint, optionsFor(person));
  for (const name of names) await own.call('createSite', { body: { name, account_id } });
  const seen: string[] = [];
  for await (const site of own.items('listSites', { query: { account_id, limit: 2 } })) seen.push(site.name);
  expect(seen).toEqual(names);
});

it('waits until the operation that a request started has succeeded', async () => {
  const { body, operationId } = await client.start('createInstall', {
    body: { name: installName(), account_id: accountId },
  });
  expect(body.status).toBe('pending');
  const operation = await client.waitFor(operationId ?? '');
  expect(operation).toMatchObject({ kind: 'install.create', status: 'succeeded', install: { id: body.id } });
  expect(await client.call('getInstall', { path: { install_id: body.id } })).toMatchObject({
    status: 'active',
  });
});

it('throws the error of a failed operation', async () => {
  const operation = {
    id: crypto.randomUUID(),
    status: 'failed',
    error: { code: 'x', message: 'The disk is full.', advice: 'Delete files.' },
  };
  const failing = createClient(findEndpoint, {
    url: 'https://panel.example/v1',
    credential: owner.credential,
    surroundings: { fetch: async () => Response.json(operation) },
  });
  const error = await failing.waitFor(operation.id).catch((one) => one);
  expect(error).toBeInstanceOf(OperationFailed);
  expect(error).toMatchObject({ message: 'The disk is full.', advice: 'Delete files.', status: 'failed' });
});
