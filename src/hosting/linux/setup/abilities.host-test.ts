import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { missingAbilities } from './machine.ts';

const REAL = { bwrap: '/usr/bin/bwrap', nft: '/usr/sbin/nft' };
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-abilities-'));
  await chmod(folder, 0o755);
});
afterEach(() => rm(folder, { recursive: true }));

/** A program that fails if `pattern` is in its arguments or its input, and is the real one otherwise. */
async function failingOn(program: keyof typeof REAL, pattern: string): Promise<string> {
  const path = join(folder, program);
  const script = [
    '#!/bin/sh',
    `case "$*" in *"${pattern}"*) echo "refused" >&2; exit 1;; esac`,
    ...(program === 'nft' ? [`if grep -q '${pattern}'; then echo "refused" >&2; exit 1; fi; exit 0`] : []),
    `exec ${REAL[program]} "$@"`,
  ];
  await writeFile(path, `${script.join('\n')}\n`);
  await chmod(path, 0o755);
  return path;
}

test('this machine can run websites', async () => {
  expect(await missingAbilities()).toEqual([]);
});

test('a machine without user namespaces is refused', async () => {
  const bwrap = await failingOn('bwrap', '--unshare-user');
  expect(await missingAbilities({ ...REAL, bwrap })).toEqual([
    expect.stringContaining('cannot create user namespaces'),
  ]);
});

test('a machine on which sandboxes can make further user namespaces is refused', async () => {
  const bwrap = await failingOn('bwrap', '--disable-userns');
  expect(await missingAbilities({ ...REAL, bwrap })).toEqual([expect.stringContaining('--disable-userns')]);
});

test('a machine whose nftables has no inet tables is refused, with the reason of nft', async () => {
  const nft = await failingOn('nft', 'table inet');
  expect(await missingAbilities({ ...REAL, nft })).toEqual([expect.stringMatching(/family inet .*refused/)]);
});
