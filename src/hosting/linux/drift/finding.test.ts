import { expect, test } from 'vitest';
import { checked, type Finding, mended } from './finding.ts';

const broken = (mend: Finding['mend']): Finding => ({
  thing: 'nginx',
  message: 'It does not run.',
  mend,
  remedy: 'Look at the log.',
});

test('a check that fails is a finding, that nobody mends', async () => {
  const found = await checked('firewall', () => Promise.reject(new Error('nft: Operation not permitted')));
  expect(await mended(found, true)).toEqual([
    {
      thing: 'firewall',
      message: 'It could not be looked at: nft: Operation not permitted',
      mended: false,
      remedy: expect.stringContaining('log'),
    },
  ]);
});

test('what can be mended is, if that is asked for, and a failure says why', async () => {
  let calls = 0;
  const mend = async () => void calls++;
  expect(await mended([broken(mend)], false)).toEqual([
    expect.objectContaining({ mended: null, remedy: expect.stringContaining('--repair') }),
  ]);
  expect(calls).toBe(0);
  const failing = broken(() => Promise.reject(new Error('the port is taken')));
  expect(await mended([failing, broken(mend)], true)).toEqual([
    {
      thing: 'nginx',
      message: 'It does not run. Mending it failed: the port is taken',
      mended: false,
      remedy: 'Look at the log.',
    },
    { thing: 'nginx', message: 'It does not run.', mended: true, remedy: null },
  ]);
  expect(calls).toBe(1);
});

test('what a host does not mend says what to do, whatever is asked for', async () => {
  expect(await mended([broken(null)], false)).toMatchObject([{ mended: null, remedy: 'Look at the log.' }]);
  expect(await mended([broken(null)], true)).toMatchObject([{ mended: false, remedy: 'Look at the log.' }]);
});
