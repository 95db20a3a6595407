import { expect, it } from 'vitest';
import { demoDays } from './demo-usage.ts';

const NOW = new Date('2026-03-31T12:00:00Z');
const TRAFFIC = { visits: 100, fileBytes: 200_000_000, databaseBytes: 5_000_000 };

it('makes up the same 30 days for the same install, with half of today at noon', () => {
  const days = demoDays('harbourcafe', TRAFFIC, NOW);
  expect(days).toEqual(demoDays('harbourcafe', TRAFFIC, NOW));
  expect(days).not.toEqual(demoDays('lighthouse', TRAFFIC, NOW));
  expect(days).toHaveLength(30);
  expect([days[0]?.day, days.at(-1)?.day]).toEqual(['2026-03-02', '2026-03-31']);
  expect(days.at(-1)?.visits).toBeLessThan(110);
  for (const { visits, requests, bytes, page_requests, page_hits, page_ms } of days) {
    expect(requests).toBeGreaterThan(visits);
    expect(bytes).toBeGreaterThan(requests);
    expect(page_hits).toBeLessThanOrEqual(page_requests);
    expect(page_ms / page_requests).toBeLessThan(200);
  }
});
