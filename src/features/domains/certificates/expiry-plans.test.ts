import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type DatabasePlace, migratedPlace } from '../../../../test/database.ts';
import type { Queries } from '../../../database/database.ts';
import { SQLITE_FILE } from '../../../database/open.ts';
import { plannedQueries } from '../../../database/planned-queries.fixture.ts';
import { installsWithOldCertificates, unwarnedCertificates } from './store.ts';
import { unwarnedUploads } from './uploads/store.ts';

let place: DatabasePlace;
let database: Sqlite.Database;

beforeAll(async () => {
  place = await migratedPlace();
  database = new Sqlite(join(place.settings.dataDir, SQLITE_FILE), { readonly: true });
});
afterAll(async () => {
  database?.close();
  await place?.remove();
});

const at = '2026-01-01T00:00:00.000Z';
const thresholds = [14, 7].map((days) => ({ days, endsBy: at }));
const READS: [string, (queries: Queries) => Promise<unknown>][] = [
  ['orders', (queries) => unwarnedCertificates(queries, { thresholds, due: at, limit: 9 })],
  ['uploads', (queries) => unwarnedUploads(queries, { thresholds, due: at, limit: 9 })],
  ['renewals', (queries) => installsWithOldCertificates(queries, { selfSigned: at, uploaded: at })],
];

// A fleet has a million certificates, of which few expire soon.
it.each(READS)('looks for %s that expire among those that end by then', async (_what, read) => {
  const { queries, plan } = plannedQueries(database);
  await read(queries);
  expect(plan).toContainEqual(expect.stringMatching(/INDEX certificates_expiry \(not_after<\?\)/));
  expect(plan.filter((step) => /^SCAN (?!old$)/.test(step))).toEqual([]);
});
