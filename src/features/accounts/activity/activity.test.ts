import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field } from '../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { type PortalClient, signedIn } from '../../../../test/portal-client.ts';
import { HOUR_MS } from '../../../lib/durations.ts';
import type { Change } from '../../../platform/activity-log.ts';

let homeport: TestHomeport;
let agent: Agent;

beforeAll(async () => {
  homeport = await startTestHomeport({ roles: { api: true, hosting: false } });
  agent = new Agent({ connect: { ca: homeport.ca } });
});
afterAll(async () => {
  await agent?.close();
  await homeport?.remove();
});

/** Records changes as made by a user through the API. */
async function note(person: Person, accountId: string, changes: Partial<Change>[]): Promise<void> {
  const { platform } = homeport;
  const origin = {
    means: 'api',
    credentialId: person.credential.username,
    address: '192.0.2.7',
    requestId: 'r1',
  } as const;
  await platform.database.write(async (transaction) => {
    for (const change of changes) {
      await platform.activity.record(
        transaction,
        { userId: person.userId, limits: null, origin },
        accountId,
        {
          action: 'site.update',
          subject: { id: null, name: 'A site' },
          ...change,
        },
      );
    }
  });
}

const subject = (name: string) => ({ subject: { id: null, name } });

/** The account's entries that the tests recorded. */
async function namesIn(client: PortalClient, accountId: string, query = ''): Promise<unknown[]> {
  const { status, body } = await client.get(`/accounts/${accountId}/activity${query}`);
  expect(status).toBe(200);
  const results = field(body, 'results');
  return Array.isArray(results)
    ? results
        .filter((entry) => field(entry, 'action') === 'site.update')
        .map((entry) => field(entry, 'subject_name'))
    : [];
}

async function csvOf(client: PortalClient, accountId: string, query = '') {
  const { statusCode, headers, body } = await request(
    `${homeport.origin}/portal/api/accounts/${accountId}/activity.csv${query}`,
    { dispatcher: agent, headers: { cookie: client.cookie ?? '' } },
  );
  return { status: statusCode, headers, text: Buffer.from(await body.arrayBuffer()).toString('utf8') };
}

describe('the activity of an account', () => {
  it('is listed latest first, in pages, with every field', async () => {
    const { accountId, owner } = await homeport.ownedAccount();
    await note(owner, accountId, ['one', 'two', 'three'].map(subject));
    await note(owner, accountId, [{ ...subject('four'), details: { from: 'A', to: 'B' } }]);
    const client = await signedIn(homeport, owner);

    expect((await namesIn(client, accountId)).slice(0, 4)).toEqual(['four', 'three', 'two', 'one']);
    const { body } = await client.get(`/accounts/${accountId}/activity?limit=500`);
    const found = field(body, 'results');
    const four = Array.isArray(found) ? found.find((entry) => field(entry, 'subject_name') === 'four') : null;
    expect(four).toEqual({
      id: expect.any(String),
      at: expect.any(String),
      action: 'site.update',
      subject_id: null,
      subject_name: 'four',
      install_id: null,
      install_name: null,
      details: { from: 'A', to: 'B' },
      user_id: owner.userId,
      user_name: `Test Person (${owner.email})`,
      means: 'api',
      credential_id: owner.credential.username,
      credential_name: 'test',
      address: '192.0.2.7',
      request_id: 'r1',
    });
    const offset = Array.isArray(found) ? found.indexOf(four) : 0;
    const page = await client.get(`/accounts/${accountId}/activity?limit=2&offset=${offset + 1}`);
    expect(field(page.body, 'count')).toBe(field(body, 'count'));
    expect(field(page.body, 'results', 0, 'subject_name')).toBe('three');
    expect(field(page.body, 'results', 1, 'subject_name')).toBe('two');
  });

  it('shows partial users their own entries, and non-members nothing', async () => {
    const { accountId, owner } = await homeport.ownedAccount();
    const full = await homeport.person(accountId, 'full');
    const partial = await homeport.person(accountId, 'partial');
    const stranger = await homeport.person();
    await note(owner, accountId, [subject('by the owner')]);
    await note(partial, accountId, [subject('by the partial user')]);

    const [asFull, asPartial, asStranger] = await Promise.all(
      [full, partial, stranger].map((person) => signedIn(homeport, person)),
    );
    if (!asFull || !asPartial || !asStranger) throw new Error('nobody signed in');
    expect(await namesIn(asFull, accountId)).toEqual(['by the partial user', 'by the owner']);
    expect(await namesIn(asPartial, accountId)).toEqual(['by the partial user']);
    expect((await csvOf(asPartial, accountId)).text).not.toContain('by the owner');
    expect((await asStranger.get(`/accounts/${accountId}/activity`)).status).toBe(404);
    expect((await csvOf(asStranger, accountId)).status).toBe(404);
  });

  it('shows a credential that is limited to installs nothing of the others', async () => {
    const { accountId, owner } = await homeport.ownedAccount();
    const seen = (await homeport.install(owner, accountId)).id;
    const hidden = (await homeport.install(owner, accountId)).id;
    await note(owner, accountId, [
      { ...subject('of the account') },
      { ...subject('of the hidden install'), installId: hidden },
      { ...subject('of the seen install'), installId: seen },
    ]);
    const limits = { readOnly: true, accountId, installs: { by: 'id', values: [seen] } } as const;
    const limited = homeport.clientOf(
      await homeport.services.credentials.issue(owner.userId, { name: 'limited', limits }),
    );
    const { status, body } = await limited.get(`/accounts/${accountId}/activity?limit=100`);
    expect(status).toBe(200);
    const results = field(body, 'results');
    const entries: unknown[] = Array.isArray(results) ? results : [];
    expect(entries.map((entry) => field(entry, 'subject_name'))).toContain('of the seen install');
    expect(new Set(entries.map((entry) => field(entry, 'install_id')))).toEqual(new Set([seen]));
    expect(field(body, 'count')).toBe(entries.length);
  });
});

describe('an install that was deleted', () => {
  it('keeps its name in the list and the CSV', async () => {
    const { accountId, owner } = await homeport.ownedAccount();
    const { id, name } = await homeport.install(owner, accountId);
    await owner.client.post(`/installs/${id}/domains`, { name: 'gone.example' });
    expect((await owner.client.delete(`/installs/${id}`)).status).toBe(204);
    const client = await signedIn(homeport, owner);
    const { body } = await client.get(`/accounts/${accountId}/activity?install_id=${id}`);
    const results = field(body, 'results');
    const entries: unknown[] = Array.isArray(results) ? results : [];
    const named = entries.map((entry) => [field(entry, 'action'), field(entry, 'install_name')]);
    expect(named).toEqual([
      ['install.delete', name],
      ['domain.create', name],
      ['install.create', name],
    ]);
    const { text } = await csvOf(client, accountId, `?install_id=${id}`);
    const [header = [], ...rows] = parseCsv(text.slice(1));
    const column = header.indexOf('install_name');
    expect(rows.map((row) => row[column])).toEqual([name, name, name]);
  });
});

describe('filters of the activity', () => {
  it('match user, install, kind and time, alone and combined, in the list and the CSV', async () => {
    const { accountId, owner } = await homeport.ownedAccount();
    const other = await homeport.person(accountId, 'full');
    const client = await signedIn(homeport, owner);
    const installId = crypto.randomUUID();
    await note(owner, accountId, [subject('one'), { ...subject('two'), installId }]);
    const later = new Date(Date.now() + HOUR_MS).toISOString();
    await note(other, accountId, [{ ...subject('three'), installId }, subject('four')]);
    await note(other, accountId, [{ ...subject('a domain'), action: 'domain.create', installId }]);
    await homeport.platform.database.write(({ queries }) =>
      queries
        .updateTable('activity')
        .set({ at: later })
        .where('account_id', '=', accountId)
        .where('subject_name', '=', 'four')
        .execute(),
    );

    const found = (query: string) => namesIn(client, accountId, `?${query}`);
    expect(await found(`user_id=${other.userId}`)).toEqual(['four', 'three']);
    expect(await found(`install_id=${installId}`)).toEqual(['three', 'two']);
    expect(await found('kind=site')).toEqual(['four', 'three', 'two', 'one']);
    expect(await found('kind=domain')).toEqual([]);
    expect(await found(`since=${later}`)).toEqual(['four']);
    expect(await found(`until=${later}`)).toEqual(['three', 'two', 'one']);
    expect(await found(`user_id=${other.userId}&install_id=${installId}&kind=site&until=${later}`)).toEqual([
      'three',
    ]);
    const { body } = await client.get(`/accounts/${accountId}/activity?kind=domain`);
    expect(field(body, 'count')).toBe(1);
    const { text } = await csvOf(client, accountId, `?user_id=${other.userId}&kind=domain`);
    expect(parseCsv(text.slice(1)).map((row) => row[3])).toEqual(['subject_name', 'a domain']);
  });

  it('accept times with any UTC offset and refuse malformed values', async () => {
    const { accountId, owner } = await homeport.ownedAccount();
    const client = await signedIn(homeport, owner);
    await note(owner, accountId, [subject('now')]);
    const zoned = encodeURIComponent('2020-01-01T00:00:00+02:00');
    expect(await namesIn(client, accountId, `?since=${zoned}`)).toEqual(['now']);
    for (const query of ['user_id=me', 'install_id=1', 'kind=sit', 'since=yesterday', 'until=2026-13-01']) {
      expect((await client.get(`/accounts/${accountId}/activity?${query}`)).status, query).toBe(400);
      expect((await csvOf(client, accountId, `?${query}`)).status, query).toBe(400);
    }
  });

  it('offer the users of the log with their latest names, former users included', async () => {
    const { accountId, owner } = await homeport.ownedAccount();
    const gone = await homeport.person(accountId, 'full');
    const partial = await homeport.person(accountId, 'partial');
    for (const person of [gone, owner, partial]) await note(person, accountId, [subject('x')]);
    await homeport.platform.database.write(async ({ queries }) => {
      await queries.updateTable('users').set({ last_name: 'Other' }).where('id', '=', owner.userId).execute();
      await queries.deleteFrom('memberships').where('user_id', '=', gone.userId).execute();
    });
    await note(owner, accountId, [subject('y')]);
    const people = async (person: Person) => {
      const client = await signedIn(homeport, person);
      const { status, body } = await client.get(`/accounts/${accountId}/activity/people`);
      return { status, results: field(body, 'results') };
    };
    const named = ({ userId, email }: Person, name: string) => ({
      user_id: userId,
      user_name: `${name} (${email})`,
    });
    const all = await people(owner);
    expect(all.results).toHaveLength(3);
    expect(all.results).toEqual(
      expect.arrayContaining([
        named(owner, 'Test Other'),
        named(gone, 'Test Person'),
        named(partial, 'Test Person'),
      ]),
    );
    expect((await people(partial)).results).toEqual([named(partial, 'Test Person')]);
    expect((await people(gone)).status).toBe(404);
  });
});

describe('as CSV', () => {
  it('opens in a spreadsheet without running formulas', async () => {
    const accountId = await homeport.account('Müller & Söhne “GmbH”');
    const owner = await homeport.person(accountId, 'owner');
    const client = await signedIn(homeport, owner);
    const names = [
      'plain',
      'with, comma; and "quotes"',
      'two\r\nlines',
      'Grüße 🌍 日本語',
      '=HYPERLINK("http://x.example","y")',
      '+1',
      '-1',
      '@SUM(1)',
      '\t=1',
      '\r=1',
      '＝1',
      'a=b',
      'a;=1',
      'a; "+1"',
      'a\n-1;;@x',
      'a\t＝1',
      'a; b; 1-1',
    ];
    await note(owner, accountId, names.map(subject));

    const { status, headers, text } = await csvOf(client, accountId);
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(headers['content-disposition']).toMatch(
      /^attachment; filename="activity-muller-sohne-gmbh-\d{4}-\d{2}-\d{2}\.csv"$/,
    );
    expect(headers['cache-control']).toBe('no-store');
    expect(text.startsWith('\uFEFF"at","user_name","action","subject_name","details"')).toBe(true);
    expect(text.endsWith('\r\n')).toBe(true);
    const rows = parseCsv(text.slice(1));
    const written = rows
      .filter((row) => row[2] === 'site.update')
      .map((row) => row[3])
      .reverse();
    expect(written).toEqual([
      'plain',
      'with, comma; and "quotes"',
      'two\r\nlines',
      'Grüße 🌍 日本語',
      '\'=HYPERLINK("http://x.example","y")',
      "'+1",
      "'-1",
      "'@SUM(1)",
      "'\t'=1",
      "'\r'=1",
      "'＝1",
      'a=b',
      "a;'=1",
      `a;' "+1"`,
      "a\n'-1;;'@x",
      "a\t'＝1",
      'a; b; 1-1',
    ]);
    expect(new Set(rows.map((row) => row.length))).toEqual(new Set([15]));
  });

  it('holds every entry once, across batches', async () => {
    const { accountId, owner } = await homeport.ownedAccount();
    const client = await signedIn(homeport, owner);
    const many = Array.from({ length: 1_203 }, (_, index) => `n${index}`);
    await note(owner, accountId, many.map(subject));
    const { text } = await csvOf(client, accountId);
    const names = parseCsv(text.slice(1))
      .filter((row) => row[2] === 'site.update')
      .map((row) => row[3]);
    expect(names).toEqual(many.toReversed());
  });

  it('is refused without a session or membership', async () => {
    const { owner } = await homeport.ownedAccount();
    const client = await signedIn(homeport, owner);
    expect((await csvOf(client, crypto.randomUUID())).status).toBe(404);
    client.cookie = null;
    const { status, headers } = await csvOf(client, crypto.randomUUID());
    expect(status).toBe(401);
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
  });
});

/** Parses RFC 4180 in which every cell is quoted. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (const [, cell = '', end] of text.matchAll(/"((?:[^"]|"")*)"(,|\r\n)/g)) {
    row.push(cell.replaceAll('""', '"'));
    if (end !== ',') {
      rows.push(row);
      row = [];
    }
  }
  return rows;
}
