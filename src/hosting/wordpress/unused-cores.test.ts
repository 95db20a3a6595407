import { expect, test } from 'vitest';
import { DAY_MS } from '../../lib/durations.ts';
import { ageCores, unneededCores } from './unused-cores.ts';

const HELD = ['7.0.1', '7.0', '6.9.2', '6.9.1', '6.8.4', '6.8.3', '6.8.1', '6.7.2'];

test.each([
  ['no website', [], ['7.0', '6.9.1', '6.8.4', '6.8.3', '6.8.1', '6.7.2']],
  ['websites of an old branch', ['6.8.1'], ['7.0', '6.9.1', '6.8.3', '6.7.2']],
  ['websites of several branches', ['7.0', '6.7.2', '6.9.2'], ['6.9.1', '6.8.4', '6.8.3', '6.8.1']],
])('of the versions for %s, those are unneeded that no update leads to', (_name, used, unneeded) => {
  expect(unneededCores(HELD, used)).toEqual(unneeded);
});

test('a version is removed 30 days after its last use', () => {
  const begin = new Date('2026-01-01T00:00:00.000Z');
  const days = (count: number) => new Date(begin.getTime() + count * DAY_MS);
  const first = ageCores({}, ['6.8.1', '6.8.3'], begin);
  expect(first.due).toEqual([]);
  // A website uses 6.8.1 meanwhile.
  const second = ageCores(first.unused, ['6.8.3'], days(10));
  const third = ageCores(second.unused, ['6.8.1', '6.8.3'], days(30));
  expect(third.due).toEqual(['6.8.3']);
  expect(ageCores(third.unused, ['6.8.1'], days(59)).due).toEqual([]);
  expect(ageCores(third.unused, ['6.8.1'], days(60)).due).toEqual(['6.8.1']);
});
