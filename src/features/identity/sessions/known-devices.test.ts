import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { field, text } from '../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { codeAt, enrol } from '../../../../test/one-time-codes.ts';
import {
  createPortalClient,
  givePassword,
  PASSWORD,
  type PortalClient,
  signedIn,
} from '../../../../test/portal-client.ts';
import { onlyInLong } from '../../../../test/rounds.ts';
import { DAY_MS, HOUR_MS } from '../../../lib/durations.ts';
import { hashSecret } from '../../../secrets/random-secret.ts';
import { KNOWN_MS, knownDevice, MAX_KNOWN_DEVICES, rememberDevice } from './known-devices.ts';

const NEW = 'a new password of mine';

let homeport: TestHomeport;
let clock: ManualClock;
let person: Person;
/** The user's own browser, signed in. */
let browser: PortalClient;

beforeAll(async () => {
  clock = manualClock(new Date());
  homeport = await startTestHomeport({
    clock,
    roles: { api: true, hosting: false },
    // Each test has its own addresses, as through a proxy.
    environment: { HOMEPORT_AUTH_FAILURE_LIMIT: '100', HOMEPORT_TRUST_PROXY: '127.0.0.1' },
  });
});
afterAll(() => homeport.remove());
beforeEach(async () => {
  clock.advance(HOUR_MS - (clock.now().getTime() % HOUR_MS));
  person = await homeport.person();
  browser = await signedIn(homeport, person);
});

/** A browser with only the device cookie of another one. */
function withDeviceOf({ device }: PortalClient): PortalClient {
  const client = createPortalClient(homeport);
  client.device = device;
  return client;
}

const signInFrom = (client: PortalClient, address: string, password: string, email = person.email) =>
  client.call('POST', '/session', { json: { email, password }, headers: { 'x-forwarded-for': address } });
const passFrom = (client: PortalClient, address: string, code: string) =>
  client.call('POST', '/session/second_factor', { json: { code }, headers: { 'x-forwarded-for': address } });

/** Uses up the user's wrong passwords of the minute from unknown devices. */
async function lockOutStrangers(): Promise<void> {
  const guesses = Array.from({ length: 100 }, (_, index) =>
    signInFrom(createPortalClient(homeport), `198.51.100.${index}`, `guess ${index}`),
  );
  const statuses = (await Promise.all(guesses)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 401)).toHaveLength(90);
}

/** Whether a browser is a known device of the user. */
async function isKnown({ device }: PortalClient): Promise<boolean> {
  const token = device?.split('=')[1] ?? null;
  const { reader } = homeport.platform.database;
  return (await knownDevice(reader, clock, token, ({ user_id }) => user_id === person.userId)) !== null;
}

describe('a full sign-in', () => {
  it('sets a device cookie that only pages of the portal send', async () => {
    const client = createPortalClient(homeport);
    const { headers } = await client.signIn(person.email, PASSWORD);
    const [, cookie = '', ...more] = [headers['set-cookie'] ?? ''].flat();
    expect(more).toEqual([]);
    expect(cookie).toMatch(/^__Host-homeport-device=[\w-]{43};/);
    const attributes = cookie.split(/;\s*/).slice(1);
    const named = attributes.filter((attribute) => !attribute.startsWith('Expires=')).sort();
    expect(named).toEqual(['HttpOnly', 'Path=/', 'SameSite=Strict', 'Secure']);
    const expires = attributes.find((attribute) => attribute.startsWith('Expires=')) ?? '';
    const days = (Date.parse(expires.slice('Expires='.length)) - clock.now().getTime()) / DAY_MS;
    expect(days).toBeCloseTo(90, 3);
  });

  it('replaces the device token each time; sign-out keeps it', async () => {
    const before = withDeviceOf(browser);
    await browser.delete('/session');
    expect((await browser.signIn(person.email, PASSWORD)).status).toBe(200);
    expect(browser.device).not.toBe(before.device);
    await browser.delete('/session');
    expect(await isKnown(before)).toBe(false);
    expect(await isKnown(browser)).toBe(true);
  });

  it('stores only the hash of the token', async () => {
    const token = browser.device?.split('=')[1] ?? '';
    const rows = await homeport.platform.database.reader.selectFrom('known_devices').selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain(token);
    expect(JSON.stringify(rows)).toContain(hashSecret(token));
  });

  it('keeps the latest fifty devices of a user', async () => {
    const device = { userId: person.userId, sessionId: crypto.randomUUID(), former: null };
    await homeport.platform.database.write(async ({ queries }) => {
      for (let times = 1; times < MAX_KNOWN_DEVICES; times++) {
        await rememberDevice(queries, homeport.platform, device);
      }
    });
    expect(await isKnown(browser)).toBe(true);
    await signedIn(homeport, person);
    expect(await isKnown(browser)).toBe(false);
    const devices = await homeport.platform.database.reader
      .selectFrom('known_devices')
      .select('id')
      .where('user_id', '=', person.userId)
      .execute();
    expect(devices).toHaveLength(MAX_KNOWN_DEVICES);
  });

  it('includes the second factor', async () => {
    const { secret } = await enrol(browser, clock.now());
    clock.advance(60_000);
    const other = createPortalClient(homeport);
    await other.signIn(person.email, PASSWORD);
    expect(other.device).toBeNull();
    expect((await passFrom(other, '192.0.2.1', 'wrong')).status).toBe(401);
    expect(other.device).toBeNull();
    expect((await passFrom(other, '192.0.2.1', codeAt(secret, clock.now()))).status).toBe(200);
    expect(other.device).toMatch(/^__Host-homeport-device=/);
  });
});

describe('guessing a user’s password from many addresses', () => {
  it('does not lock the user out of a known device', async () => {
    await lockOutStrangers();
    expect((await signInFrom(createPortalClient(homeport), '203.0.113.1', PASSWORD)).status).toBe(429);
    expect((await signInFrom(withDeviceOf(browser), '203.0.113.1', PASSWORD)).status).toBe(200);
  });

  it('does not lock out known devices at the same address', async () => {
    const guesses = Array.from({ length: 40 }, (_, index) =>
      signInFrom(createPortalClient(homeport), '203.0.113.2', 'a guess', `${index}@people.example`),
    );
    await Promise.all(guesses);
    expect((await signInFrom(createPortalClient(homeport), '203.0.113.2', PASSWORD)).status).toBe(429);
    expect((await signInFrom(withDeviceOf(browser), '203.0.113.2', PASSWORD)).status).toBe(200);
  });

  onlyInLong(it)(
    'gets five extra guesses with a stolen device cookie, apart from other devices',
    async () => {
      const other = await signedIn(homeport, person);
      const stolen = withDeviceOf(browser);
      await lockOutStrangers();
      const guesses = Array.from({ length: 8 }, () => signInFrom(stolen, '203.0.113.3', 'a guess'));
      const statuses = (await Promise.all(guesses)).map(({ status }) => status).sort();
      expect(statuses).toEqual([...Array(5).fill(401), ...Array(3).fill(429)]);
      expect((await signInFrom(withDeviceOf(other), '203.0.113.3', PASSWORD)).status).toBe(200);
    },
  );

  it('gains nothing from cookies of other users or made-up ones', async () => {
    const theirs = withDeviceOf(await signedIn(homeport, await homeport.person()));
    await lockOutStrangers();
    expect((await signInFrom(theirs, '203.0.113.9', PASSWORD)).status).toBe(429);
    for (const token of ['', 'x'.repeat(43), '%00', "' or 1=1 --", 'x'.repeat(5000)]) {
      theirs.device = `__Host-homeport-device=${encodeURIComponent(token)}`;
      expect((await signInFrom(theirs, '203.0.113.9', PASSWORD)).status, token).toBe(429);
    }
  });

  onlyInLong(it)('does not reveal whether a user has the address', async () => {
    const theirs = await signedIn(homeport, await homeport.person());
    const answers = [];
    for (const email of [person.email, 'nobody@people.example']) {
      const client = withDeviceOf(theirs);
      for (let times = 0; times < 12; times++) {
        const { status, body, headers } = await signInFrom(client, '203.0.113.4', 'a guess', email);
        answers.push({ email, status, body, headers: Object.keys(headers) });
      }
    }
    const [known, nobody] = [answers.slice(0, 12), answers.slice(12)];
    expect(nobody).toEqual(known.map((answer) => ({ ...answer, email: 'nobody@people.example' })));
    expect(known.map(({ status }) => status)).toEqual([...Array(10).fill(401), 429, 429]);
  });
});

it('someone with the password cannot block the second factor in a known device', async () => {
  const { secret } = await enrol(browser, clock.now());
  clock.advance(60_000);
  const own = withDeviceOf(browser);
  for (const address of ['192.0.2.1', '192.0.2.2']) {
    const stranger = createPortalClient(homeport);
    await signInFrom(stranger, address, PASSWORD);
    for (let times = 0; times < 5; times++) {
      expect((await passFrom(stranger, address, 'wrong')).status).toBe(401);
    }
  }
  const stranger = createPortalClient(homeport);
  await signInFrom(stranger, '192.0.2.3', PASSWORD);
  expect((await passFrom(stranger, '192.0.2.3', codeAt(secret, clock.now()))).status).toBe(429);
  await signInFrom(own, '192.0.2.1', PASSWORD);
  expect((await passFrom(own, '192.0.2.1', codeAt(secret, clock.now()))).status).toBe(200);
});

describe('a device is forgotten', () => {
  const change = (client: PortalClient) =>
    client.post('/password', { current_password: PASSWORD, password: NEW });
  const byLink = async (client: PortalClient) => {
    const link = await homeport.services.passwords.createLink(person.userId, 'reset');
    const token = link.slice(link.lastIndexOf('/') + 1);
    return client.post(`/password_links/${token}`, { password: NEW });
  };

  it.each([
    ['a new password', change],
    ['the end of all other sessions', (client: PortalClient) => client.delete('/sessions')],
  ])('after %s elsewhere; the acting browser gets a new token', async (_, act) => {
    const other = await signedIn(homeport, person);
    const before = withDeviceOf(browser);
    expect((await act(browser)).status).toBe(204);
    expect(await isKnown(other)).toBe(false);
    expect(await isKnown(before)).toBe(false);
    expect(await isKnown(browser)).toBe(true);
  });

  it('after a second factor was switched on elsewhere', async () => {
    const other = await signedIn(homeport, person);
    await enrol(browser, clock.now());
    expect(await isKnown(other)).toBe(false);
    expect(await isKnown(browser)).toBe(true);
  });

  it('after a password reset, except for the acting browser, which gets a new token', async () => {
    const [other, own] = [await signedIn(homeport, person), withDeviceOf(browser)];
    const before = withDeviceOf(own);
    expect((await byLink(own)).status).toBe(204);
    expect(await isKnown(other)).toBe(false);
    expect(await isKnown(before)).toBe(false);
    expect(await isKnown(own)).toBe(true);
  });

  it('after a password reset in an unknown or another user’s browser', async () => {
    const theirs = await signedIn(homeport, await homeport.person());
    const before = theirs.device;
    for (const client of [createPortalClient(homeport), theirs]) {
      expect((await byLink(client)).status).toBe(204);
      expect(client.device).toBe(client === theirs ? before : null);
    }
    expect(await isKnown(browser)).toBe(false);
    expect(await isKnown(theirs)).toBe(false);
  });

  it('after the operator resets the second factor', async () => {
    await enrol(browser, clock.now());
    await homeport.services.secondFactor.reset(person.userId);
    expect(await isKnown(browser)).toBe(false);
  });

  it('after its session is ended from another browser', async () => {
    const other = await signedIn(homeport, person);
    const results = field((await other.get('/sessions')).body, 'results');
    const [theirs] = Array.isArray(results) ? results.filter(({ current }) => !current) : [];
    expect((await other.delete(`/sessions/${text(theirs, 'id')}`)).status).toBe(204);
    expect(await isKnown(browser)).toBe(false);
    expect(await isKnown(other)).toBe(true);
  });

  it('after ninety days without a sign-in', async () => {
    const other = await signedIn(homeport, person);
    clock.advance(KNOWN_MS - HOUR_MS);
    expect(await isKnown(other)).toBe(true);
    clock.advance(HOUR_MS);
    expect(await isKnown(browser)).toBe(false);
  });

  it('after another user signs in with it', async () => {
    const own = withDeviceOf(browser);
    const colleague = await homeport.person();
    await givePassword(homeport, colleague);
    expect((await browser.signIn(colleague.email, PASSWORD)).status).toBe(200);
    expect(await isKnown(own)).toBe(false);
  });
});

it('expired devices are deleted', async () => {
  const { deleteExpiredKnownDevices } = await import('./known-device-store.ts');
  const count = async () => {
    const rows = await homeport.platform.database.reader
      .selectFrom('known_devices')
      .select('id')
      .where('user_id', '=', person.userId)
      .execute();
    return rows.length;
  };
  const tidy = () =>
    homeport.platform.database.write(({ queries }) =>
      deleteExpiredKnownDevices(queries, clock.now().toISOString()),
    );
  clock.advance(KNOWN_MS - 1);
  await tidy();
  expect(await count()).toBe(1);
  clock.advance(1);
  await tidy();
  expect(await count()).toBe(0);
});
