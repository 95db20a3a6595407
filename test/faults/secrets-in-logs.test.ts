import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openPlatform } from '../../src/app/open-platform.ts';
import { OperatorError } from '../../src/lib/operator-error.ts';
import { text } from '../client.ts';
import { ENDPOINTS } from '../contract/endpoint-table.ts';
import { absentResources, bodyFor, createResources, pathTo } from '../contract/resource-set.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../homeport.ts';
import { mailsTo } from '../mails.ts';
import { codeAt, enrol } from '../one-time-codes.ts';
import { createPortalClient, signedIn } from '../portal-client.ts';
import { isLong } from '../rounds.ts';
import { softwarePasskey } from '../software-passkey.ts';

const TYPED_PASSWORD = 'typed-by-a-person-1234';
const S3_SECRET = 's3-secret-access-key-5678';

const lines: string[] = [];
// Without the redaction of the program's log, so that no code relies on it.
const log = pino({ level: 'trace' }, { write: (line) => lines.push(line) });

let homeport: TestHomeport;
let owner: Person;
let accountId: string;
beforeAll(async () => {
  homeport = await startTestHomeport({
    log,
    environment: {
      HOMEPORT_S3_CREDENTIALS: `key-id:${S3_SECRET}`,
      HOMEPORT_S3_ENDPOINT: 'http://127.0.0.1:9/',
    },
  });
  ({ owner, accountId } = await homeport.ownedAccount());
});
afterAll(() => homeport.remove());

/** Everything that the run below knows and the log must not; by what it is. */
const secrets = new Map<string, string>();

/** The first lines of a PEM's Base64, as they would show in any way of writing it down. */
function notePrivateKey(name: string, pem: string): void {
  const line = pem.split('\n').find((one) => /^[A-Za-z0-9+/=]{40,}$/.test(one.trim()));
  if (line === undefined) throw new Error(`${name} is no PEM`);
  secrets.set(name, line.trim());
}

function noteCredential(name: string, { username, password }: Person['credential']): void {
  secrets.set(`the password of ${name}`, password);
  secrets.set(`the Authorization of ${name}`, Buffer.from(`${username}:${password}`).toString('base64'));
}

/** Deletions come last, those of parts before those of the whole, so that every request finds what it names. */
const IN_ORDER = [
  ...ENDPOINTS.filter(({ method }) => method !== 'DELETE'),
  ...ENDPOINTS.filter(({ method }) => method === 'DELETE').sort(
    (a, b) => b.path.split('/').length - a.path.split('/').length || a.path.localeCompare(b.path),
  ),
];

async function callEverything(person: Person): Promise<void> {
  const resources = await createResources(homeport, owner, accountId);
  for (const [index, row] of IN_ORDER.entries()) {
    // Requests that only read contain no secret, except the credentials, which all have. Answers with secrets follow below.
    if (!isLong && row.method === 'GET') continue;
    const json = bodyFor(row, resources);
    const answer = await person.client.call(
      row.method,
      pathTo(row, resources),
      json === undefined ? {} : { json },
    );
    if (person === owner && row.method === 'DELETE') expect(answer.status, row.path).not.toBe(404);
    if (!row.hasBody) continue;
    const path = `${pathTo(row, resources)}?token=${TYPED_PASSWORD}&password=${TYPED_PASSWORD}`;
    await person.client.call(row.method, path, {
      json: { password: TYPED_PASSWORD, public_key: TYPED_PASSWORD },
    });
    // What is no JSON is refused before a route sees it.
    if (isLong || index % 8 === 0)
      await person.client.call(row.method, path, { raw: `{"password":"${TYPED_PASSWORD}"` });
  }
}

async function failToSignIn(): Promise<void> {
  const given = [
    'Basic',
    `Basic ${btoa(`${owner.credential.username}:${TYPED_PASSWORD}`)}`,
    `Bearer ${TYPED_PASSWORD}`,
    TYPED_PASSWORD,
  ];
  for (const authorization of given) {
    await homeport.anonymous.call('GET', '/user', { headers: { authorization } });
  }
  secrets.set('a wrong Authorization', btoa(`${owner.credential.username}:${TYPED_PASSWORD}`));
}

/** The token of the link in the first mail to an address. */
function mailedToken(email: string): string {
  const link = /https:\S+/.exec(mailsTo(homeport, email)[0]?.text ?? '')?.[0] ?? '';
  return link.slice(link.lastIndexOf('/') + 1);
}

/** All sign-in steps of the portal, wrong and right. */
async function usePortal(): Promise<void> {
  const email = 'invited@example.com';
  await owner.client.post(`/accounts/${accountId}/account_users`, {
    user: { account_id: accountId, first_name: 'A', last_name: 'B', email, roles: 'full' },
  });
  await homeport.idle();
  const invitation = mailedToken(email);
  secrets.set('the token of an invitation', invitation);
  const browser = createPortalClient(homeport);
  for (const password of ['short', TYPED_PASSWORD, TYPED_PASSWORD]) {
    await browser.post(`/invitations/${invitation}`, { password });
  }
  await browser.signIn(TYPED_PASSWORD, TYPED_PASSWORD);
  await browser.signIn(email, `${TYPED_PASSWORD}, and more`);
  expect((await browser.signIn(email, TYPED_PASSWORD)).status).toBe(200);
  secrets.set('the token of a session', browser.cookie?.split('=')[1] ?? '');
  secrets.set('the token of a known device', browser.device?.split('=')[1] ?? '');

  const begun = await browser.post('/second_factor/enrolment', { password: TYPED_PASSWORD });
  const secret = text(begun.body, 'secret');
  secrets.set('the secret of a second factor', secret);
  await browser.post('/second_factor', { code: TYPED_PASSWORD });
  const switchedOn = await browser.post('/second_factor', { code: codeAt(secret, new Date()) });
  const recovery = text(switchedOn.body, 'recovery_codes', 0);
  secrets.set('a recovery code', recovery);
  await browser.signIn(email, TYPED_PASSWORD);
  secrets.set('the token of a session that awaits a code', browser.cookie?.split('=')[1] ?? '');
  await browser.post('/session/second_factor', { code: TYPED_PASSWORD });
  expect((await browser.post('/session/second_factor', { code: recovery })).status).toBe(200);
  secrets.set('the token of a session after it', browser.cookie?.split('=')[1] ?? '');

  const passkey = softwarePasskey(homeport);
  const third = text(switchedOn.body, 'recovery_codes', 2);
  const creation = await browser.post('/passkeys/options', { code: third });
  const created = await browser.post('/passkeys', { credential: passkey.create(creation.body) });
  expect(created.status).toBe(201);
  const options = await browser.post('/session/passkey/options');
  secrets.set('the challenge of a passkey', text(options.body, 'challenge'));
  secrets.set('the token of a browser with a passkey', browser.passkeyBrowser?.split('=')[1] ?? '');
  const answer = passkey.answer(options.body);
  secrets.set('the signature of a passkey', text(answer, 'response', 'signature'));
  const refused = passkey.answer(options.body, { forged: true });
  expect((await browser.post('/session/passkey', { passkey: refused })).status).toBe(401);
  expect((await browser.post('/session/passkey', { passkey: answer })).status).toBe(200);
  secrets.set('the token of a session by passkey', browser.cookie?.split('=')[1] ?? '');

  await browser.post('/password', { current_password: TYPED_PASSWORD, password: `${TYPED_PASSWORD}5678` });
  const wanted = 'wanted@example.com';
  const code = text(switchedOn.body, 'recovery_codes', 1);
  secrets.set('another recovery code', code);
  const proof = { current_password: `${TYPED_PASSWORD}5678`, code };
  expect((await browser.post('/email_changes', { email: wanted, ...proof })).status).toBe(202);
  await homeport.idle();
  const change = mailedToken(wanted);
  secrets.set('the token of a new address', change);
  await browser.get(`/email_changes/${change}`);
  expect((await browser.post(`/email_changes/${change}`)).status).toBe(204);
  await browser.post('/password_resets', { email: owner.email });
  await homeport.idle();
  const reset = mailedToken(owner.email);
  secrets.set('the token of a password link', reset);
  await browser.get(`/password_links/${reset}`);
  expect((await browser.post(`/password_links/${reset}`, { password: TYPED_PASSWORD })).status).toBe(204);
}

/** Breaks the sealing of a user's second factor, so that the failing code has the secret at hand. */
async function breakASecondFactor(): Promise<void> {
  const person = await homeport.person();
  const browser = await signedIn(homeport, person);
  const { secret } = await enrol(browser, new Date());
  await homeport.platform.database.write(({ queries }) =>
    queries
      .updateTable('second_factors')
      .set({ sealed_secret: `v1.${TYPED_PASSWORD}` })
      .where('user_id', '=', person.userId)
      .execute(),
  );
  expect((await browser.post('/second_factor/removal', { code: codeAt(secret, new Date()) })).status).toBe(
    503,
  );
  secrets.set('the secret of another second factor', secret);
}

/** An unexpected failure in code that handles a private key. */
async function breakACertificate(): Promise<void> {
  const resources = await createResources(homeport, owner, accountId);
  const path = `/installs/${resources.install_id}/domains/${resources.domain_id}/ssl_certificate`;
  const shown = await owner.client.get(path);
  notePrivateKey("a domain's private key", text(shown.body, 'cert_info', 'key'));
  await homeport.platform.database.write(({ queries }) =>
    queries
      .updateTable('certificates')
      .set({ sealed_key: `v1.${TYPED_PASSWORD}` })
      .where('domain_id', '=', resources.domain_id)
      .execute(),
  );
  expect((await owner.client.get(path)).status).toBe(503);
  const upload = bodyFor(row(73), resources);
  notePrivateKey('an uploaded private key', text(upload, 'private_key'));
  const uploads = `/installs/${resources.install_id}/ssl_certificates/third_party`;
  expect((await owner.client.post(uploads, upload)).status).toBe(200);
  // Both in the wrong fields.
  const swapped = { certificate: text(upload, 'private_key'), private_key: text(upload, 'certificate') };
  expect((await owner.client.post(uploads, swapped)).status).toBe(400);
}

/** Jobs that fail: mail and object storage that are not there, each with a password in its configuration. */
async function failJobs(): Promise<void> {
  const other = await startTestHomeport({
    log,
    environment: { HOMEPORT_SMTP_URL: `smtp://mailer:${TYPED_PASSWORD}@127.0.0.1:9` },
  });
  const account = await other.ownedAccount();
  noteCredential('another owner', account.owner.credential);
  await account.owner.client.post(`/accounts/${account.accountId}/account_users`, {
    user: {
      account_id: account.accountId,
      first_name: 'A',
      last_name: 'B',
      email: 'a@example.com',
      roles: 'full',
    },
  });
  const install = await homeport.install(owner, accountId);
  await owner.client.post(
    `/installs/${install.id}/offload_settings/files`,
    bodyFor(row(22), { ...absentResources(), account_id: accountId }),
  );
  await expect
    .poll(() => lines.filter((line) => /ECONNREFUSED/.test(line)).length, { timeout: 20_000, interval: 250 })
    .toBeGreaterThan(1);
  await other.remove();
}

function row(number: number) {
  const found = ENDPOINTS.find((one) => one.number === number);
  if (!found) throw new Error('no such row');
  return found;
}

it('the log of a busy run has no password, token, private key or Authorization in it', async () => {
  noteCredential('the owner', owner.credential);
  secrets.set('what people typed', TYPED_PASSWORD);
  secrets.set('the secret of the object storage', S3_SECRET);
  const { dataDir } = homeport.config;
  secrets.set('the sealing key', readFileSync(join(dataDir, 'sealing.key'), 'utf8').trim());
  notePrivateKey("the API's private key", readFileSync(join(dataDir, 'tls', 'api.key'), 'utf8'));

  await callEverything(owner);
  const partial = await homeport.person(accountId, 'partial');
  noteCredential('a partial user', partial.credential);
  if (isLong) await callEverything(partial);
  await failToSignIn();
  await usePortal();
  await breakACertificate();
  await breakASecondFactor();
  await failJobs();
  const { install } = homeport;
  const made = await install(owner, accountId);
  await owner.client.post('/ssh_keys', { public_key: TYPED_PASSWORD });
  await owner.client.delete(`/installs/${made.id}`);
  await homeport.idle();

  const logged = lines.join('');
  expect(lines.length).toBeGreaterThan(200);
  expect(logged).toContain('"msg":"request"');
  expect(logged).toContain('a request failed unexpectedly');
  for (const [name, secret] of secrets) {
    expect(secret.length, name).toBeGreaterThan(10);
    const written = [secret, encodeURIComponent(secret)].filter((form) => logged.includes(form));
    const line = lines.find((one) => written.some((form) => one.includes(form)));
    expect(line, name).toBeUndefined();
  }
  expect(logged).not.toMatch(
    /PRIVATE KEY|Basic [A-Za-z0-9+/=]{8}|\/(invitations|password_links|password|email_changes|email)\/[\w-]{8}/,
  );
});

it('the error for a refusing database does not contain its password', async () => {
  const config = {
    ...homeport.config,
    databaseUrl: `postgres://homeport:${TYPED_PASSWORD}@127.0.0.1:9/homeport`,
  };
  const error: unknown = await openPlatform(config, { log }).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(OperatorError);
  expect(inspect(error, { depth: 10 })).not.toContain(TYPED_PASSWORD);
});
