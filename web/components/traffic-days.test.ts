import { describe, expect, it } from 'vitest';
import type { UsageDay } from '../api/usage.ts';
import { lastDays, visitsOn } from './traffic-days.ts';

const NOW = new Date('2026-03-31T12:00:00Z');

const day = (date: string, visit_count: string): UsageDay => ({
  date,
  visit_count,
  billable_visits: visit_count,
  request_origin_count: '9',
  network_origin_bytes: '1',
  network_cdn_bytes: null,
  network_total_bytes: '1',
  page_request_count: null,
  page_cache_hit_count: null,
  page_response_ms: null,
  storage_file_bytes: null,
  storage_database_bytes: null,
  database_tables_count: null,
  database_sql_bytes: null,
  autoloaded_bytes: null,
  storage_update_time: null,
  traffic_metrics_source: 'ONHOST',
});

describe('the days of a chart', () => {
  const days = [day('2026-03-30', '4'), day('2026-03-31', '7')];
  const visits = ({ visit_count }: UsageDay) => Number(visit_count);

  it('are the last 30, without a value before the install existed', () => {
    const shown = lastDays(days, { now: NOW, createdAt: '2026-03-28T23:00:00Z', absent: 0 }, visits);
    expect(shown).toHaveLength(30);
    expect([shown[0], ...shown.slice(-5)]).toEqual([
      { date: '2026-03-02', value: null },
      { date: '2026-03-27', value: null },
      { date: '2026-03-28', value: 0 },
      { date: '2026-03-29', value: 0 },
      { date: '2026-03-30', value: 4 },
      { date: '2026-03-31', value: 7 },
    ]);
  });

  it('have the visits of today, also if there are none', () => {
    expect(visitsOn(days, NOW)).toBe('7');
    expect(visitsOn(days, new Date('2026-04-01T00:00:00Z'))).toBe('0');
  });
});
