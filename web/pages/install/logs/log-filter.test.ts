import { expect, it } from 'vitest';
import { filterErrors, kindsOf, logFilterOf, queryOf } from './log-filter.ts';

const filterOf = (address: string) => {
  const parameters = new URLSearchParams(address);
  return logFilterOf((name) => parameters.get(name) ?? '');
};

it('reads the filters of the address, and ignores invalid ones', () => {
  expect(filterOf('')).toEqual({ kind: 'access', from: '', to: '', search: '', status: '' });
  expect(filterOf('kind=php&from=2026-01-31T09:30&search=a b&status=4xx')).toEqual({
    kind: 'php',
    from: '2026-01-31T09:30',
    to: '',
    search: 'a b',
    status: '4xx',
  });
  expect(filterOf('kind=toString&from=2026-02-31T09:30&to=now&status=toString')).toEqual(filterOf(''));
});

it('offers a website of files the log of its requests only', () => {
  const kinds = kindsOf({ php_version: null });
  expect(logFilterOf((name) => (name === 'kind' ? 'php' : ''), kinds).kind).toBe('access');
  expect(kindsOf({ php_version: '8.4' })).toHaveLength(4);
});

it("sends only the filters that are set, in the user's time zone", () => {
  expect(queryOf(filterOf(''))).toEqual({});
  expect(queryOf(filterOf('from=2026-01-31T09:30&status=5xx'))).toEqual({
    from: new Date(2026, 0, 31, 9, 30).toISOString(),
    status: '5xx',
  });
  expect(queryOf(filterOf('kind=php&status=5xx'))).toEqual({});
});

it('finds that the range is empty', () => {
  expect(filterErrors(filterOf('from=2026-01-31T09:30&to=2026-01-31T09:30'))).toHaveProperty('to');
  expect(filterErrors(filterOf('from=2026-01-31T09:30&to=2026-01-31T09:31'))).toEqual({});
});
