import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operatorFor } from '../../src/access/caller.ts';
import { type Answer, type Client, createAgent, field, text } from '../client.ts';
import { installName, type Person, startTestHomeport, type TestHomeport } from '../homeport.ts';
import { signedIn } from '../portal-client.ts';
import { NOT_FOUND } from '../refusal.ts';
import { isLong, rounds } from '../rounds.ts';
import { ENDPOINTS, type EndpointRow, nameOf, statusesOfHeaders } from './endpoint-table.ts';
import { WITH_WORDPRESS } from './logins.ts';
import { bodyFor, createResources, pathTo, type ResourceSet } from './resource-set.ts';

let homeport: TestHomeport;
let owner: Person;
let accountId: string;
let resources: ResourceSet;

beforeAll(async () => {
  homeport = await startTestHomeport({ ...WITH_WORDPRESS, roles: { api: true, hosting: false } });
  ({ owner, accountId } = await homeport.ownedAccount());
  resources = await createResources(homeport, owner, accountId);
});
afterAll(() => homeport.remove());

const tagOf = (answer: Answer) => String(answer.headers.etag);

function send(client: Client, method: string, path: string, headers: Record<string, string>, json?: unknown) {
  return client.call(method, path, { headers, ...(json === undefined ? {} : { json }) });
}

const rows = ENDPOINTS.map((row) => [nameOf(row), row] as const);
const tagged = rows.filter(([, row]) => statusesOfHeaders(row).includes(304));
const conditional = rows.filter(([, row]) => statusesOfHeaders(row).includes(412));

describe('If-None-Match', () => {
  it.each(tagged)('%s: 304 without a body while the content is the same', async (_, row) => {
    const path = pathTo(row, resources);
    const first = await owner.client.get(path);
    expect(tagOf(first)).toMatch(/^"[\w-]+"$/);
    const again = await send(owner.client, 'GET', path, { 'if-none-match': tagOf(first) });
    expect(again).toMatchObject({ status: 304, body: undefined });
    expect(tagOf(again)).toBe(tagOf(first));
    expect((await send(owner.client, 'GET', path, { 'if-none-match': '"other"' })).status).toBe(200);
    expect(tagOf(await owner.client.call('HEAD', path))).toBe(tagOf(first));
  });

  it('200 with the new content after a change', async () => {
    const site = await owner.client.post('/sites', { name: 'Before', account_id: accountId });
    const path = `/sites/${text(site.body, 'id')}`;
    const tag = tagOf(await owner.client.get(path));
    await owner.client.patch(path, { name: 'After' });
    const answer = await send(owner.client, 'GET', path, { 'if-none-match': tag });
    expect(answer).toMatchObject({ status: 200, body: { name: 'After' } });
    expect(tagOf(answer)).not.toBe(tag);
  });
});

describe('If-Match', () => {
  it.each(conditional)('%s: 412 for another version, and nothing changes', async (_, row) => {
    const path = pathTo(row, resources);
    const before = await owner.client.get(path);
    const answer = await send(
      owner.client,
      row.method,
      path,
      { 'if-match': '"other"' },
      bodyFor(row, resources),
    );
    expect(answer).toMatchObject({
      status: 412,
      body: { message: 'Precondition failed - the resource has changed' },
    });
    expect(await owner.client.get(path)).toMatchObject({ status: before.status, body: before.body });
  });

  async function newThings(): Promise<{ client: Client; made: ResourceSet }> {
    const account = await homeport.ownedAccount();
    const made = await createResources(homeport, account.owner, account.accountId);
    return { client: account.owner.client, made };
  }

  /** Things of an account, which serve the changes of other endpoints, too, until one is deleted. */
  let kept: { client: Client; made: ResourceSet } | undefined;
  async function thingsFor({ method }: EndpointRow): Promise<{ client: Client; made: ResourceSet }> {
    const things = kept ?? (await newThings());
    kept = method === 'DELETE' || isLong ? undefined : things;
    return things;
  }

  it.each(conditional)('%s: succeeds for the current version', async (_, row) => {
    for (const asks of rounds(['current'], ['current', '*'])) {
      const { client, made } = await thingsFor(row);
      const path = pathTo(row, made);
      const tag = asks === '*' ? '*' : tagOf(await client.get(path));
      const answer = await send(client, row.method, path, { 'if-match': tag }, bodyFor(row, made));
      expect(answer.status).toBe(row.success);
    }
  });

  it('guards what the forms of the portal change beyond the API', async () => {
    const id = await homeport.account('Before');
    const portal = await signedIn(homeport, await homeport.person(id, 'owner'));
    for (const [path, change] of [
      [`/accounts/${id}`, { name: 'After' }],
      ['/profile', { first_name: 'After' }],
    ] as const) {
      const tag = tagOf(await portal.get(path));
      // The portal repeats no request, so it has no keys.
      const headers = { 'if-match': tag, 'idempotency-key': 'one' };
      const changed = await send(portal, 'PATCH', path, headers, change);
      expect(changed).toMatchObject({ status: 200, body: change });
      expect(tagOf(changed)).toBe(tagOf(await portal.get(path)));
      const stale = await send(portal, 'PATCH', path, headers, { name: 'Late', first_name: 'Late' });
      expect(stale).toMatchObject({ status: 412 });
      expect((await portal.get(path)).body).toMatchObject(change);
    }
    const stranger = await signedIn(homeport, await homeport.person());
    expect(await send(stranger, 'GET', `/accounts/${id}`, {})).toMatchObject(NOT_FOUND);
  });

  it('tells the new version with the answer, if that is the resource', async () => {
    const site = await owner.client.post('/sites', { name: 'One', account_id: accountId });
    const path = `/sites/${text(site.body, 'id')}`;
    const first = tagOf(await owner.client.get(path));
    const changed = await send(owner.client, 'PATCH', path, { 'if-match': first }, { name: 'Two' });
    expect(tagOf(changed)).toBe(tagOf(await owner.client.get(path)));
    const plain = await owner.client.patch(path, { name: 'Three' });
    expect(tagOf(plain)).toBe(tagOf(await owner.client.get(path)));
    expect((await send(owner.client, 'DELETE', path, { 'if-match': first })).status).toBe(412);
    expect((await send(owner.client, 'DELETE', path, { 'if-match': tagOf(plain) })).status).toBe(204);
  });

  it('goes with an Idempotency-Key: the repetition gets the first answer', async () => {
    const made = await owner.client.post('/sites', { name: 'First', account_id: accountId });
    const path = `/sites/${text(made.body, 'id')}`;
    const headers = {
      'if-match': tagOf(await owner.client.get(path)),
      'idempotency-key': crypto.randomUUID(),
    };
    const first = await send(owner.client, 'PATCH', path, headers, { name: 'Second' });
    expect(first).toMatchObject({ status: 200, body: { name: 'Second' } });
    const again = await send(owner.client, 'PATCH', path, headers, { name: 'Second' });
    expect(again).toMatchObject({ status: 200, body: first.body });
    expect(tagOf(again)).toBe(tagOf(first));
    const late = { ...headers, 'idempotency-key': crypto.randomUUID() };
    expect((await send(owner.client, 'PATCH', path, late, { name: 'Third' })).status).toBe(412);
  });

  it('takes * for any version', async () => {
    const site = await owner.client.post('/sites', { name: 'Any', account_id: accountId });
    const path = `/sites/${text(site.body, 'id')}`;
    expect((await send(owner.client, 'PATCH', path, { 'if-match': '*' }, { name: 'One' })).status).toBe(200);
    expect((await send(owner.client, 'DELETE', path, { 'if-match': '*' })).status).toBe(204);
  });

  it('reveals nothing of a resource that the caller may not see', async () => {
    const stranger = await homeport.ownedAccount();
    const path = `/sites/${resources.site_id}`;
    const answer = await send(stranger.owner.client, 'PATCH', path, { 'if-match': '"a"' }, { name: 'Mine' });
    expect(answer).toMatchObject({ status: 404, body: { message: 'Resource not found' } });
  });
});

describe('compression', () => {
  let agent: ReturnType<typeof createAgent>;
  beforeAll(() => {
    agent = createAgent(homeport.ca);
  });
  afterAll(() => agent.close());

  /** The answer as it comes over the wire. */
  async function ask(path: string, encoding: string, prefix = '/v1') {
    const { username, password } = owner.credential;
    const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
    const { headers, body } = await request(`${homeport.origin}${prefix}${path}`, {
      dispatcher: agent,
      headers: { authorization, 'accept-encoding': encoding },
    });
    return { headers, bytes: Buffer.from(await body.arrayBuffer()) };
  }

  it.each(['br', 'gzip'])('%s: the same answer, smaller, with a tag of its own', async (coding) => {
    const name = 'A site with a rather long name of forty';
    for (let n = 0; n < 12; n++) await owner.client.post('/sites', { name, account_id: accountId });
    const plain = await owner.client.get('/sites');
    const coded = await ask('/sites', coding);
    const decoded = coding === 'br' ? brotliDecompressSync(coded.bytes) : gunzipSync(coded.bytes);
    expect(JSON.parse(decoded.toString())).toEqual(plain.body);
    expect(coded.headers['content-encoding']).toBe(coding);
    expect(coded.headers.vary).toBe('Accept-Encoding');
    expect(coded.bytes.length).toBeLessThan(decoded.length / 4);
  });

  it('shortens what the portal reads, too', async () => {
    const { headers } = await ask('/description', 'br', '/portal/api');
    expect(headers['content-encoding']).toBe('br');
  });

  it('gives the coded answer a tag that the other codings accept', async () => {
    const { body } = await owner.client.get('/sites?limit=1');
    const path = `/sites/${text(body, 'results', 0, 'id')}`;
    const long = 'x'.repeat(40);
    for (let n = 0; n < 6; n++) {
      await homeport.services.installs.create(operatorFor(owner.userId), {
        name: `${installName()}${long}`.slice(0, 40).replace(/-$/, 'x'),
        account_id: accountId,
        site_id: text(body, 'results', 0, 'id'),
      });
    }
    const plain = await owner.client.get(path);
    const coded = await ask(path, 'gzip');
    if (coded.headers['content-encoding'] === undefined) throw new Error('the answer is too small');
    expect(coded.headers.etag).toBe(tagOf(plain).replace(/"$/, '-gzip"'));
    const headers = { 'if-none-match': String(coded.headers.etag) };
    expect((await send(owner.client, 'GET', path, headers)).status).toBe(304);
  });

  it('leaves small answers, refused codings and secrets alone', async () => {
    expect((await ask('/status', 'gzip')).headers['content-encoding']).toBeUndefined();
    expect((await ask('/user', 'br, gzip')).headers['content-encoding']).toBeUndefined();
    for (const encoding of ['identity', 'zstd', 'gzip;q=0, br;q=0', '']) {
      expect((await ask('/sites', encoding)).headers['content-encoding'], encoding).toBeUndefined();
    }
    const certificate = `/installs/${resources.install_id}/domains/${resources.domain_id}/ssl_certificate`;
    const answer = await ask(certificate, 'gzip');
    expect(answer.bytes.length).toBeGreaterThan(1024);
    expect(answer.headers['content-encoding']).toBeUndefined();
  });
});

describe('Location', () => {
  it('of a 201 is the address of what was created', async () => {
    const site = await owner.client.post('/sites', { name: 'Here', account_id: accountId });
    expect(site.headers.location).toBe(`/v1/sites/${text(site.body, 'id')}`);
    expect((await owner.client.get(String(site.headers.location).slice(3))).body).toEqual(site.body);
    const user = { account_id: accountId, first_name: 'A', last_name: 'B', roles: 'full' };
    const email = `${crypto.randomUUID()}@people.example`;
    const path = `/accounts/${accountId}/account_users`;
    const added = await owner.client.post(path, { user: { ...user, email } });
    const at = `/v1${path}/${text(added.body, 'account_user', 'user_id')}`;
    expect(added.headers.location).toBe(at);
    expect(field((await owner.client.get(at.slice(3))).body, 'email')).toBe(email);
  });
});
