import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTestDatabase } from '../../test/database.ts';
import { pageEnvelope } from '../api/paging.ts';
import { boundedPage, countBounded, MOST_COUNTED } from './bounded-page.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
const ENTRIES = MOST_COUNTED + 5;

beforeAll(async () => {
  database = await openTestDatabase();
  const rows = Array.from({ length: ENTRIES }, (_, index) => ({ name: `n${index}`, account_id: ACCOUNT }));
  const ofOneStatement = 1_000;
  await database.write(async ({ queries }) => {
    for (let from = 0; from < rows.length; from += ofOneStatement) {
      await queries
        .insertInto('released_names')
        .values(
          rows
            .slice(from, from + ofOneStatement)
            .map((row) => ({ ...row, released_at: '2026-01-01T00:00:00.000Z' })),
        )
        .execute();
    }
  });
});
afterAll(() => database.remove());

const ACCOUNT = crypto.randomUUID();

it('counts no further than its limit, and still leads to the last page', async () => {
  const { reader } = database;
  const names = reader.selectFrom('released_names');
  expect(await countBounded(reader, names.where('name', '<', 'n2'))).toBeLessThan(MOST_COUNTED);
  expect(await countBounded(reader, names)).toBe(MOST_COUNTED);
  const pageAt = async (offset: number) => {
    const request = { limit: 3, offset };
    const rows = await names
      .select('name')
      .orderBy('name')
      .limit(request.limit + 1)
      .offset(offset)
      .execute();
    const address = { base: 'https://a.example', path: '/names', query: new URLSearchParams() };
    return pageEnvelope(boundedPage(MOST_COUNTED, rows, request), request, address);
  };
  const before = await pageAt(ENTRIES - 4);
  expect(before.results).toHaveLength(3);
  expect(before.next).toBe(`https://a.example/names?limit=3&offset=${ENTRIES - 1}`);
  const last = await pageAt(ENTRIES - 1);
  expect(last).toMatchObject({
    next: null,
    count: MOST_COUNTED,
    previous: `https://a.example/names?limit=3&offset=${ENTRIES - 4}`,
  });
  expect(last.results).toHaveLength(1);
});
