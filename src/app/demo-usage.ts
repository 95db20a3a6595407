import { storeMeasurement } from '../features/usage/collect-store.ts';
import { timestamp } from '../lib/clock.ts';
import { DAY_MS } from '../lib/durations.ts';
import type { Platform } from '../platform/platform.ts';

/** Figures of an install of the demo on an ordinary day. All of them are made up. */
export interface DemoTraffic {
  visits: number;
  /** Bytes on the disk, 30 days ago. */
  fileBytes: number;
  databaseBytes: number;
}

/** Source of the made-up counts. No host has this name. */
const SOURCE = 'demo';
export const DEMO_DAYS = 30;
const PAGES_A_VISIT = 2.6;
const REQUESTS_A_VISIT = 31;
const BYTES_A_REQUEST = 41_000;
const HIT_MS = 9;
const MISS_MS = 310;
const MB = 1_000_000;
/** Sunday first: most people come before the weekend. */
const WEEK = [1.22, 0.78, 0.82, 0.88, 0.94, 1.12, 1.24];

/** A day of an install. */
export interface DemoDay {
  day: string;
  requests: number;
  bytes: number;
  visits: number;
  page_requests: number;
  page_hits: number;
  page_ms: number;
  file_bytes: number;
  database_bytes: number;
}

/** The 30 days of an install up to today, always the same for its name and the days. Today has the share that has passed. */
export function demoDays(
  install: string,
  { visits, fileBytes, databaseBytes }: DemoTraffic,
  now: Date,
): DemoDay[] {
  return Array.from({ length: DEMO_DAYS }, (_, index) => {
    const ago = DEMO_DAYS - 1 - index;
    const date = new Date(now.getTime() - ago * DAY_MS);
    const day = date.toISOString().slice(0, 10);
    const chance = (what: string) => noise(`${install} ${day} ${what}`);
    const passed = ago === 0 ? (now.getTime() % DAY_MS) / DAY_MS : 1;
    const growth = 0.85 + (0.3 * index) / DEMO_DAYS;
    // Once in a while, something is shared.
    const shared = chance('shared') > 0.93 ? 1.8 : 1;
    const weekday = WEEK[date.getUTCDay()] ?? 1;
    const came = Math.round(visits * weekday * growth * shared * (0.85 + 0.3 * chance('visits')) * passed);
    const requests = Math.round(came * REQUESTS_A_VISIT * (0.9 + 0.2 * chance('requests')));
    const pages = Math.round(came * PAGES_A_VISIT);
    const hits = Math.round(pages * (0.84 + 0.1 * chance('hits')));
    const slow = 0.8 + 0.5 * chance('slow');
    return {
      day,
      requests,
      bytes: Math.round(requests * BYTES_A_REQUEST * (0.85 + 0.3 * chance('bytes'))),
      visits: came,
      page_requests: pages,
      page_hits: hits,
      page_ms: Math.round(hits * HIT_MS + (pages - hits) * MISS_MS * slow),
      file_bytes: fileBytes + Math.round(index * 1.4 * MB + Math.floor(index / 7) * 9 * MB),
      database_bytes: databaseBytes + index * 40_000,
    };
  });
}

/** A number from 0 to 1 that only depends on the text (FNV-1a, then the finaliser of MurmurHash3). */
function noise(text: string): number {
  let hash = 0x811c9dc5;
  for (const letter of text) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 0x1_0000_0000;
}

/** Stores made-up usage of an install of the demo, so that its charts show something. */
export async function writeDemoUsage(
  { database, clock }: Pick<Platform, 'database' | 'clock'>,
  install: { id: string; name: string; account_id: string },
  traffic: DemoTraffic,
): Promise<void> {
  const now = new Date(timestamp(clock));
  const days = demoDays(install.name, traffic, now);
  await database.write(async ({ queries }) => {
    for (const { day, file_bytes, database_bytes } of days) {
      const measured = { bytes: database_bytes, dataBytes: Math.round(database_bytes * 0.8), tables: 12 };
      const at = day === now.toISOString().slice(0, 10) ? now.toISOString() : `${day}T02:29:00.000Z`;
      await storeMeasurement(
        queries,
        install.id,
        { fileBytes: file_bytes, database: { ...measured, autoloadedBytes: 120_000 } },
        at,
      );
    }
    await queries
      .insertInto('usage_traffic')
      .values(
        days.map(({ file_bytes: _files, database_bytes: _database, ...counts }) => ({
          ...counts,
          install_id: install.id,
          account_id: install.account_id,
          source: SOURCE,
        })),
      )
      .execute();
  });
}
