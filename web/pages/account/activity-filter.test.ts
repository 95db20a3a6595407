import { expect, it } from 'vitest';
import { activityFilterOf, filterErrors, NO_FILTER, queryOf } from './activity-filter.ts';

it("covers the first and the last day completely, in the user's time zone", () => {
  const { since, until } = queryOf({ ...NO_FILTER, from: '2026-02-28', to: '2026-02-28' });
  expect(since).toBe(new Date(2026, 1, 28).toISOString());
  expect(until).toBe(new Date(2026, 2, 1).toISOString());
});

it('sends only the filters that are set', () => {
  const person = '11111111-2222-4333-8444-555555555555';
  expect(queryOf({ ...NO_FILTER, person, kind: 'site' })).toEqual({ user_id: person, kind: 'site' });
  expect(queryOf(NO_FILTER)).toEqual({});
});

it('ignores invalid values in the query string', () => {
  const asked = (parameters: Record<string, string>) => activityFilterOf((name) => parameters[name] ?? '');
  const id = '11111111-2222-4333-8444-555555555555';
  const valid = { person: id, install: id, kind: 'site', from: '2026-02-28', to: '2026-03-01' };
  expect(asked(valid)).toEqual(valid);
  expect(asked({ person: 'me', install: '1', kind: 'toString', from: 'today', to: '2026-13-01' })).toEqual(
    NO_FILTER,
  );
  expect(asked({ from: '2026-02-31' })).toEqual(NO_FILTER);
});

it('rejects a last day before the first', () => {
  const days = (from: string, to: string) => filterErrors({ ...NO_FILTER, from, to });
  expect(days('2026-02-28', '2026-02-27')).toEqual({ to: 'This day is before From.' });
  expect(days('2026-02-28', '2026-02-28')).toEqual({});
  expect(days('2026-02-28', '')).toEqual({});
});
