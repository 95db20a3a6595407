import { expect, test } from 'vitest';
import { checked, type Finding, toDifferences } from './finding.ts';

const broken = (repair: Finding['repair']): Finding => ({
  thing: 'nginx',
  message: 'It does not run.',
  repair,
  remedy: 'Look at the log.',
});

test('reports a failed check as a fault without a repair', async () => {
  const found = await checked('firewall', () => Promise.reject(new Error('nft: Operation not permitted')));
  expect(await toDifferences(found, true)).toEqual([
    {
      thing: 'firewall',
      message: 'It could not be checked: nft: Operation not permitted',
      mended: false,
      remedy: expect.stringContaining('log'),
    },
  ]);
});

test('repairs what it can if requested, and reports why a repair failed', async () => {
  let calls = 0;
  const repair = async () => void calls++;
  expect(await toDifferences([broken(repair)], false)).toEqual([
    expect.objectContaining({ mended: null, remedy: expect.stringContaining('--repair') }),
  ]);
  expect(calls).toBe(0);
  const failing = broken(() => Promise.reject(new Error('the port is taken')));
  expect(await toDifferences([failing, broken(repair)], true)).toEqual([
    {
      thing: 'nginx',
      message: 'It does not run. The repair failed: the port is taken',
      mended: false,
      remedy: 'Look at the log.',
    },
    { thing: 'nginx', message: 'It does not run.', mended: true, remedy: null },
  ]);
  expect(calls).toBe(1);
});

test('gives the remedy for a fault that the host must not repair', async () => {
  expect(await toDifferences([broken(null)], false)).toMatchObject([
    { mended: null, remedy: 'Look at the log.' },
  ]);
  expect(await toDifferences([broken(null)], true)).toMatchObject([
    { mended: false, remedy: 'Look at the log.' },
  ]);
});
