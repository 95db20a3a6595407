import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Queries } from '../../../database/database.ts';
import { openPlannedDatabase, plannedQueries } from '../../../database/planned-queries.fixture.ts';
import { installsWithOldCertificates, unwarnedCertificates } from './store.ts';
import { unwarnedUploads } from './uploads/store.ts';

let planned: Awaited<ReturnType<typeof openPlannedDatabase>>;

beforeAll(async () => {
  planned = await openPlannedDatabase();
});
afterAll(() => planned?.remove());

const at = '2026-01-01T00:00:00.000Z';
const thresholds = [14, 7].map((days) => ({ days, endsBy: at }));
const READS: [string, (queries: Queries) => Promise<unknown>][] = [
  ['orders', (queries) => unwarnedCertificates(queries, { thresholds, due: at, limit: 9 })],
  ['uploads', (queries) => unwarnedUploads(queries, { thresholds, due: at, limit: 9 })],
  ['renewals', (queries) => installsWithOldCertificates(queries, { selfSigned: at, uploaded: at })],
];

// A fleet has a million certificates, of which few expire soon.
it.each(READS)('looks for %s that expire among those that end by then', async (_what, read) => {
  const { queries, plan } = plannedQueries(planned.database);
  await read(queries);
  expect(plan).toContainEqual(expect.stringMatching(/INDEX certificates_expiry \(not_after<\?\)/));
  expect(plan.filter((step) => /^SCAN (?!old$)/.test(step))).toEqual([]);
});
