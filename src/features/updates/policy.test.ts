import { describe, expect, test } from 'vitest';
import {
  type CorePolicy,
  isDue,
  isInWindow,
  isTimeZone,
  type MaintenanceWindow,
  nightlyWindow,
  wantedCore,
} from './policy.ts';

const HELD = ['7.0', '6.9.1', '6.9', '6.8.4', '6.8.3', '6.8.10'];

test.each<[CorePolicy, string, string | null]>([
  ['none', '6.8.3', null],
  ['security', '6.8.3', '6.8.10'],
  ['security', '6.8.10', null],
  ['security', '6.7.1', null],
  ['minor', '6.8.3', '6.9.1'],
  ['minor', '7.0', null],
  ['all', '6.8.3', '7.0'],
  ['all', '7.0', null],
  ['all', '7.0.1', null],
])('the policy %s wants for WordPress %s the version %s', (policy, present, version) => {
  expect(wantedCore(policy, present, HELD)).toBe(version);
});

describe('a maintenance window', () => {
  const night: MaintenanceWindow = {
    days: ['saturday'],
    from_hour: 22,
    hours: 4,
    time_zone: 'Europe/Berlin',
  };

  test.each([
    // Saturday, 10 January 2026, in winter: one hour before Berlin.
    ['2026-01-10T20:59:59.000Z', false],
    ['2026-01-10T21:00:00.000Z', true],
    ['2026-01-11T00:59:59.000Z', true],
    ['2026-01-11T01:00:00.000Z', false],
    ['2026-01-12T21:00:00.000Z', false],
    // In summer: two hours before Berlin.
    ['2026-07-11T20:00:00.000Z', true],
  ])('at %s is open: %s', (now, open) => {
    expect(isInWindow(night, new Date(now))).toBe(open);
  });

  test('reaches from the last day of the week into the first', () => {
    const window = { ...night, days: ['sunday' as const], from_hour: 23, hours: 2, time_zone: 'UTC' };
    expect(isInWindow(window, new Date('2026-01-12T00:30:00.000Z'))).toBe(true);
    expect(isInWindow(window, new Date('2026-01-12T01:00:00.000Z'))).toBe(false);
  });

  test('without one, updates begin at any time', () => {
    expect(isInWindow(null, new Date())).toBe(true);
  });
});

test('plugins are due every day or week, a little early, and at once the first time', () => {
  const now = new Date('2026-01-12T02:00:00.000Z');
  const ago = (hours: number) => new Date(now.getTime() - hours * 3_600_000).toISOString();
  expect([isDue('daily', null, now), isDue('daily', ago(23), now), isDue('daily', ago(12), now)]).toEqual([
    true,
    true,
    false,
  ]);
  expect([isDue('weekly', ago(167), now), isDue('weekly', ago(140), now)]).toEqual([true, false]);
  expect(isDue('none', null, now)).toBe(false);
});

test('knows time zones', () => {
  expect(['UTC', 'Europe/Berlin', 'Nowhere/Else', ''].map(isTimeZone)).toEqual([true, true, false, false]);
});

test('without a window, plugins and themes have the same hour of each night', () => {
  const hours = Array.from({ length: 50 }, (_, n) => {
    const { from_hour, hours, days } = nightlyWindow(`0000000${n.toString(16).padStart(4, '0')}`, 'UTC');
    expect([hours, days.length]).toEqual([1, 7]);
    return from_hour;
  });
  expect([...new Set(hours)].sort()).toEqual([1, 2, 3, 4, 5]);
  expect(nightlyWindow('0007', 'UTC')).toEqual(nightlyWindow('0007', 'UTC'));
});
