import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../src/database/open.ts';
import {
  type FakeDnsServer,
  reply,
  startFakeDnsServer,
} from '../../src/network/dns/fake-dns-server.fixture.ts';
import { createAgent, createClient, field, text } from '../client.ts';
import { type DatabasePlace, databasePlace, silent } from '../database.ts';
import { createPortalClient, PASSWORD } from '../portal-client.ts';
import { onlyInLong } from '../rounds.ts';
import { freePort } from '../servers/free-port.ts';
import { call } from './call-homeport.ts';
import {
  begin,
  type Environment,
  environmentFor,
  onceServing,
  type Running,
  run,
  serve,
} from './run-homeport.ts';

/** A free address. */
const OTHER_PORTS = {
  HOMEPORT_EDGE_HTTP: '127.0.0.1:0',
  HOMEPORT_EDGE_HTTPS: '127.0.0.1:0',
  HOMEPORT_SSH_LISTEN: '127.0.0.1:0',
};

let place: DatabasePlace;
let environment: Environment;
let resolver: FakeDnsServer;
let server: Running;
let username = '';
let password = '';
let account = '';

beforeAll(async () => {
  place = await databasePlace();
  const [http, https, ssh] = [await freePort(), await freePort(), await freePort()];
  environment = await environmentFor(place, {
    HOMEPORT_EDGE_HTTP: `127.0.0.1:${http}`,
    HOMEPORT_EDGE_HTTPS: `127.0.0.1:${https}`,
    HOMEPORT_SSH_LISTEN: `127.0.0.1:${ssh}`,
  });
  resolver = await startFakeDnsServer((query) => [reply(query)]);
  environment.HOMEPORT_RESOLVERS = `127.0.0.1:${resolver.port}`;
  server = await serve(environment);
});
afterAll(async () => {
  server.process.kill('SIGKILL');
  await server.ended;
  await resolver.close();
  await place.remove();
});

const certificate = () => readFileSync(join(place.settings.dataDir, 'tls', 'api.crt'), 'utf8');

async function whoAmI(): Promise<unknown> {
  const agent = createAgent(certificate());
  const parts = { origin: environment.HOMEPORT_PUBLIC_URL ?? '', agent, conformance: () => undefined };
  const answer = await createClient(parts, { username, password }).get('/user');
  await agent.close();
  return answer.body;
}

/** Without a terminal the first start keeps its secrets out of what it prints. */
const secrets = () => readFileSync(join(place.settings.dataDir, 'first-sign-in.txt'), 'utf8');

test('the first start prints where everything is, and names the file with credentials that work', async () => {
  expect(server.stdout()).toContain(join(place.settings.dataDir, 'first-sign-in.txt'));
  const printed = `${server.stdout()}\n${secrets()}`;
  const value = (name: string) => new RegExp(`^ {2}${name} +(\\S.*)$`, 'm').exec(printed)?.[1] ?? '';
  username = value('Username');
  password = value('Password');
  account = value('Account');
  expect(value('Portal')).toBe(`${environment.HOMEPORT_PUBLIC_URL}/`);
  expect(value('API')).toBe(`${environment.HOMEPORT_PUBLIC_URL}/v1`);
  expect(value('Listening on')).toBe(environment.HOMEPORT_LISTEN);
  expect(value('SFTP')).toBe(environment.HOMEPORT_SSH_LISTEN);
  expect(value('Data')).toBe(place.settings.dataDir);
  expect(value('Certificate')).toBe(`${place.settings.dataDir}-public/api.crt`);
  expect(readFileSync(value('Certificate'), 'utf8')).toBe(certificate());
  expect(printed).toContain(`curl --cacert ${value('Certificate')} `);
  expect(value('Sites')).toContain(environment.HOMEPORT_EDGE_HTTP?.split(':')[1]);
  expect(username).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  // 128 bits are 22 characters of base64url.
  expect(password).toMatch(/^[\w-]{22,}$/);

  for (const secret of [username, password]) expect(server.stdout() + server.stderr()).not.toContain(secret);

  const line = /^ {2}(curl .*)$/m.exec(printed)?.[1] ?? '';
  expect(line).toContain(`${username}:${password}`);
  const curl = spawnSync('curl', ['--version']).status === 0;
  const answer = curl
    ? JSON.parse((await promisify(execFile)('/bin/sh', ['-c', `${line} --silent --show-error`])).stdout)
    : await whoAmI();
  expect(answer).toMatchObject({ email: 'owner@localhost' });
});

test('the link in that file sets the password of the first owner, who then signs in', async () => {
  const printed = secrets();
  const [, link = ''] = /^ {2}Open +(\S+)$/m.exec(printed) ?? [];
  const [, email = ''] = /^ {2}Sign in as +(\S+)$/m.exec(printed) ?? [];
  const origin = environment.HOMEPORT_PUBLIC_URL ?? '';
  expect(link.startsWith(`${origin}/password/`)).toBe(true);
  const browser = createPortalClient({ origin, ca: certificate() });
  const path = `/password_links/${link.slice(link.lastIndexOf('/') + 1)}`;
  expect((await browser.get(path)).body).toMatchObject({ email: 'owner@localhost', purpose: 'first' });
  expect((await browser.post(path, { password: PASSWORD })).status).toBe(204);
  expect((await browser.signIn(email, PASSWORD)).body).toEqual({ stage: 'full' });
  expect((await browser.get('/session')).body).toMatchObject({ accounts: [{ id: account, role: 'owner' }] });
});

test('beside it, commands work, and the doctor finds it well', async () => {
  const [accounts, doctor] = [
    await call(environment, 'account', 'list'),
    await call(environment, 'doctor', '--json'),
  ];
  expect(accounts.stdout).toContain(account);
  const problems = JSON.parse(doctor.stdout);
  expect(problems).toMatchObject({ ok: true });
  const checks: unknown = field(problems, 'checks');
  for (const check of Array.isArray(checks) ? checks : []) {
    expect(check, JSON.stringify(check)).toMatchObject({
      state: ['mail', 'platform backup'].includes(text(check, 'check')) ? 'warning' : 'ok',
    });
  }
  for (const name of ['API', 'sites, HTTP', 'sites, HTTPS', 'SFTP']) {
    expect(checks).toContainEqual(
      expect.objectContaining({ check: name, message: expect.stringMatching(/^Answers on/) }),
    );
  }
  expect(doctor.code).toBe(0);
});

onlyInLong(test)('beside it, no second server has the same websites or addresses', async () => {
  const otherApi = `127.0.0.1:${await freePort()}`;
  const elsewhere = { ...environment, HOMEPORT_DATA_DIR: join(place.settings.dataDir, 'elsewhere') };
  const [twin, second, third] = await Promise.all([
    run({ ...environment, ...OTHER_PORTS, HOMEPORT_LISTEN: otherApi }, 'serve'),
    run({ ...elsewhere, HOMEPORT_LISTEN: otherApi }, 'serve'),
    run({ ...elsewhere, HOMEPORT_DATA_DIR: `${elsewhere.HOMEPORT_DATA_DIR}2`, ...OTHER_PORTS }, 'serve'),
  ]);
  expect(twin).toEqual({
    code: 1,
    stdout: '',
    stderr:
      `homeport: Waiting for another process that uses the websites in ${place.settings.dataDir}.\n` +
      `homeport: Another process uses the websites in ${place.settings.dataDir}: a server, or a command. ` +
      'End it first, or start this one with "--only api".\n',
  });
  expect(second).toMatchObject({ code: 1, stdout: '' });
  expect(second.stderr).toContain(
    `homeport: The hosted sites cannot be served on ${environment.HOMEPORT_EDGE_HTTP}: another program uses this port`,
  );
  expect(second.stderr).not.toMatch(/^ +at /m);
  expect(third).toMatchObject({ code: 1, stdout: '' });
  expect(third.stderr).toContain(
    `homeport: ${environment.HOMEPORT_LISTEN} is in use. Stop what uses it, or choose another address in HOMEPORT_LISTEN.\n`,
  );
});

test('credentials from the command line work at once; revoked, they do not', async () => {
  const made = JSON.parse(
    (await call(environment, 'credential', 'create', '--user', 'owner@localhost', '--json')).stdout,
  );
  const agent = createAgent(certificate());
  const parts = { origin: environment.HOMEPORT_PUBLIC_URL ?? '', agent, conformance: () => undefined };
  const client = createClient(parts, { username: text(made, 'username'), password: text(made, 'password') });
  expect((await client.get('/user')).status).toBe(200);
  expect((await call(environment, 'credential', 'revoke', text(made, 'username'))).code).toBe(0);
  let status = 200;
  for (const until = Date.now() + 20_000; status === 200 && Date.now() < until; ) {
    status = (await client.get('/user')).status;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  expect(status).toBe(401);
  await agent.close();
});

test('a second server of the same websites waits, and Ctrl-C lets a request of the first one end', async () => {
  const body = JSON.stringify({ name: 'Begun before the end', account_id: account });
  const request = httpsRequest(`${environment.HOMEPORT_PUBLIC_URL}/v1/sites`, {
    method: 'POST',
    ca: certificate(),
    auth: `${username}:${password}`,
    agent: false,
    headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
  });
  const answered = new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
    request.once('error', reject).once('response', (response) => {
      readText(response).then((read) => resolve({ status: response.statusCode, body: read }), reject);
    });
  });
  request.write(body.slice(0, 10));
  // It has come in once a later request was answered.
  await whoAmI();
  const first = server;
  onTestFinished(() => void first.process.kill('SIGKILL'));
  server = begin(environment, 'serve');
  await server.printed(`Waiting for another process that uses the websites in ${place.settings.dataDir}.`);
  first.process.kill('SIGINT');
  await first.printed('finishing running requests and jobs');
  request.end(body.slice(10));
  expect(await answered).toMatchObject({
    status: 201,
    body: expect.stringContaining('Begun before the end'),
  });
  expect(await first.ended).toMatchObject({ code: 0 });
});

test('the second server then reuses all, and prints no credentials', async () => {
  const before = certificate();
  await onceServing(server);
  expect(server.stdout()).not.toMatch(/Username|[Pp]assword|curl/);
  expect(server.stdout()).toContain(`${environment.HOMEPORT_PUBLIC_URL}/v1`);
  expect(certificate()).toBe(before);
  expect(await whoAmI()).toMatchObject({ email: 'owner@localhost' });
  expect(server.stdout() + server.stderr()).not.toContain(password);
});

onlyInLong(test)('an open listener does not keep a stopped server', async () => {
  const listener = "import { createServer } from 'node:net'; createServer().listen(0, '127.0.0.1');";
  const open = `--import=data:text/javascript,${encodeURIComponent(listener)}`;
  server = await serve({ ...environment, NODE_OPTIONS: open });
  server.process.kill('SIGTERM');
  expect(await server.ended).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('ended although something was still open'),
  });
});

test('a server leaves a database that a newer version has migrated', async () => {
  const database = openDatabase(place.settings, silent);
  try {
    await sql`insert into kysely_migration (name, timestamp) values ('9999-later', '2027-01-01')`.execute(
      database.reader,
    );
  } finally {
    await database.close();
  }
  expect(await server.ended).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('The database was brought up to date by another version of Homeport'),
  });
});

test('a part that there is none of', async () => {
  expect(await begin(environment, 'serve', '--only', 'half').ended).toEqual({
    code: 1,
    stdout: '',
    stderr: 'homeport: --only takes api or hosting, not "half".\n',
  });
});
