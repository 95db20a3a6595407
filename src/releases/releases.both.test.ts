import { createServer, type IncomingHttpHeaders } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { field } from '../../test/client.ts';
import { startTestHomeport, type TestHomeport } from '../../test/homeport.ts';
import { type ManualClock, manualClock } from '../../test/manual-clock.ts';
import { signedIn } from '../../test/portal-client.ts';
import { checkReleases } from '../cli/doctor/releases.ts';
import { readConfig } from '../config/config.ts';
import { DAY_MS } from '../lib/durations.ts';
import { PROGRAM_VERSION } from '../lib/program-version.ts';
import { dailyReleaseCheck } from './daily-check.ts';
import { findReleaseCheck } from './release-check-store.ts';

let answer: { status: number; body: string; location?: string };
const asked: { url: string | undefined; headers: IncomingHttpHeaders }[] = [];
const server = createServer((request, response) => {
  asked.push({ url: request.url, headers: request.headers });
  const { status, body, location } = answer;
  if (status === 0) return void request.socket.destroy();
  response.writeHead(status, location === undefined ? {} : { location }).end(body);
});
let homeport: TestHomeport;
let clock: ManualClock;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no address');
  clock = manualClock(new Date('2026-05-01T00:00:00.000Z'));
  homeport = await startTestHomeport({
    clock,
    environment: { HOMEPORT_RELEASES_URL: `http://127.0.0.1:${address.port}/homeport/releases.json` },
  });
});
afterAll(async () => {
  await homeport.remove();
  await new Promise((resolve) => server.close(resolve));
});
beforeEach(() => {
  asked.length = 0;
});

const release = (version: string, security: boolean) => ({
  version,
  date: '2026-12-01',
  security,
  notes: `https://homeport.example/${version}`,
  folder: `v${version}/`,
  files: [],
});
const listed = (...releases: unknown[]) => ({ status: 200, body: JSON.stringify({ releases }) });

/** Runs the schedule, as it does each hour. */
async function hourly(): Promise<void> {
  const { platform } = homeport;
  const [schedule] = dailyReleaseCheck(platform).schedules;
  if (schedule === undefined) throw new Error('there is no schedule');
  await platform.database.write((transaction) => schedule.enqueue(transaction, platform.queue));
  await homeport.idle();
}

const known = () => findReleaseCheck(homeport.platform.database.reader);
const doctor = async () => {
  const { database, config } = homeport.platform;
  return (await checkReleases(database, config))
    .map(({ state, message }) => `${state}: ${message}`)
    .join('\n');
};

it('asks once a day, and says nothing about the platform', async () => {
  expect(await doctor()).toContain('the first time follows');
  answer = listed(release('0.1.0', true));
  await hourly();
  clock.advance(DAY_MS / 2);
  await hourly();
  expect(asked).toHaveLength(1);
  const [{ url, headers } = { url: '', headers: {} }] = asked;
  expect(url).toBe('/homeport/releases.json');
  const { host: _, connection: __, ...sent } = headers;
  expect(sent).toEqual({
    accept: 'application/json',
    'accept-encoding': expect.any(String),
    'accept-language': '*',
    'sec-fetch-mode': 'cors',
    'user-agent': 'homeport',
  });
  expect(JSON.stringify(sent)).not.toContain(PROGRAM_VERSION.slice(0, 3));
  // Older releases are no news.
  expect(await doctor()).toContain(`ok: ${PROGRAM_VERSION} is the newest`);
});

it('tells owners of the only account about a newer release, and that one in between fixed a vulnerability', async () => {
  const { accountId, owner } = await homeport.ownedAccount();
  clock.advance(DAY_MS);
  answer = listed(release('98.0.0', true), release('99.0.0', false));
  await hourly();
  const noticeOf = async (person: typeof owner) =>
    field((await (await signedIn(homeport, person)).get('/session')).body, 'newer_release');
  const notice = { version: '99.0.0', notes: 'https://homeport.example/99.0.0', security: true };
  expect(await noticeOf(owner)).toEqual(notice);
  expect(await noticeOf(await homeport.person(accountId, 'partial'))).toBeNull();
  expect(await doctor()).toContain('problem: Homeport 99.0.0 of 2026-12-01 fixes a vulnerability');

  const other = await homeport.ownedAccount();
  expect(await noticeOf(owner)).toBeNull();
  expect(await noticeOf(other.owner)).toBeNull();
});

it.each([
  ['a server that fails', { status: 500, body: '' }, 'answers 500'],
  ['a server that hangs up', { status: 0, body: '' }, 'other side closed'],
  [
    'a redirect, which it does not follow',
    { status: 302, body: '', location: '/elsewhere.json' },
    'answers 302; redirects are not followed',
  ],
  ['something else than a list', { status: 200, body: '<html>' }, 'is no JSON'],
  ['an endless list', { status: 200, body: ' '.repeat(2 ** 20 + 1) }, 'larger than 1 MiB'],
])('keeps what it knows after %s, and doctor says why', async (_fault, wrong, reason) => {
  clock.advance(DAY_MS);
  answer = wrong;
  await hourly();
  const check = await known();
  expect(check?.reason).toContain(reason);
  expect(asked.map(({ url }) => url)).toEqual(['/homeport/releases.json']);
  expect(check?.releases.map(({ version }) => version)).toEqual(['99.0.0', '98.0.0']);
  expect(await doctor()).toContain('warning: The list of releases could not be read');
  const { database } = homeport.platform;
  const failed = await database.reader
    .selectFrom('jobs')
    .select('id')
    .where('state', '=', 'failed')
    .execute();
  expect(failed).toEqual([]);
});

it('looks again after the clock was set back', async () => {
  answer = listed(release('99.0.0', false));
  clock.advance(-10 * DAY_MS);
  await hourly();
  expect(asked).toHaveLength(1);
  clock.advance(10 * DAY_MS);
});

it('asks no one if it is off', async () => {
  const { platform } = homeport;
  const config = readConfig({
    HOMEPORT_UPDATE_CHECK: 'off',
    HOMEPORT_RELEASES_URL: platform.config.releasesUrl ?? '',
  });
  expect(dailyReleaseCheck({ ...platform, config }).schedules).toEqual([]);
  expect(dailyReleaseCheck({ ...platform, config: readConfig({}) }).schedules).toEqual([]);
  expect(await checkReleases(platform.database, config)).toMatchObject([{ state: 'ok' }]);
});
