import { expect, test } from 'vitest';
import { findingsOf } from './hosts.ts';

const BUSY = { thing: 'install shop', message: 'It is being worked on.', mended: null, remedy: null };
const BROKEN = { thing: 'nginx', message: 'It does not run.', mended: null, remedy: 'Look at it.' };

test('a host on which nothing is wrong says so, with how much there is', () => {
  const message = 'All matches the desired state, 2 installs.';
  expect(findingsOf('here', 2, [])).toEqual([{ check: 'here', state: 'ok', message, remedy: null }]);
});

test('reports a skipped install, which is no problem', () => {
  expect(findingsOf('here', 1, [BUSY])).toEqual([
    {
      check: 'here',
      state: 'ok',
      message: 'Everything that was checked matches the desired state, 1 install.',
      remedy: null,
    },
    { check: 'here: install shop', state: 'ok', message: BUSY.message, remedy: null },
  ]);
});

test('reports a difference as a problem until it is repaired', () => {
  expect(findingsOf('here', 1, [BUSY, BROKEN]).map(({ state }) => state)).toEqual(['ok', 'problem']);
  expect(findingsOf('here', 1, [{ ...BROKEN, mended: false }])).toEqual([
    { check: 'here: nginx', state: 'problem', message: BROKEN.message, remedy: BROKEN.remedy },
  ]);
  expect(findingsOf('here', 1, [{ ...BROKEN, mended: true, remedy: null }])).toEqual([
    { check: 'here: nginx', state: 'ok', message: 'It does not run. Fixed.', remedy: null },
  ]);
});
