import { mkdir, mkdtemp, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stateOf } from './program-state.ts';

test('differs after a program was replaced or removed, and after an extension came or went', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'program-state-'));
  const program = join(folder, 'php-fpm');
  const extensions = join(folder, 'extensions');
  await writeFile(program, '');
  await mkdir(extensions);

  /** The state before and after a change. */
  async function statesAround(change: () => Promise<void>) {
    // File systems count milliseconds.
    for (const path of [program, extensions]) await utimes(path, 1, 1);
    const before = await stateOf([program, extensions]);
    expect(await stateOf([program, extensions])).toBe(before);
    await change();
    return [before, await stateOf([program, extensions])];
  }

  const changes = [
    async () => {
      await writeFile(`${program}.new`, '');
      await rename(`${program}.new`, program);
    },
    () => writeFile(join(extensions, 'zip.so'), ''),
    () => rm(join(extensions, 'zip.so')),
  ];
  for (const change of changes) {
    const [before, after] = await statesAround(change);
    expect(before).not.toBeNull();
    expect(after).not.toBeNull();
    expect(after).not.toBe(before);
  }
  expect(await statesAround(() => rm(program))).toEqual([expect.any(String), null]);
  await rm(folder, { recursive: true });
});
