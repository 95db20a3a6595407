import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { showAs, succeedsAs } from './unprivileged.ts';

const NOBODY = { name: 'nobody', uid: 65_534, gid: 65_534, home: '/' };
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'unprivileged-'));
  await chmod(folder, 0o777);
});
afterAll(() => rm(folder, { recursive: true }));

/** The session of a process. The name of the program, in parentheses, can contain anything: proc(5). */
const sessionIn = (stat: string) => stat.split(') ').at(-1)?.split(' ')[3];

test.each([
  ['a command that is looked at', succeedsAs, true],
  ['a command that is shown', showAs, 0],
])('%s runs as the user, and cannot type into the terminal of root', async (name, runAs, outcome) => {
  const file = join(folder, name);
  expect(await runAs(NOBODY, ['/bin/sh', '-c', 'cat /proc/self/status /proc/self/stat > "$0"', file])).toBe(
    outcome,
  );
  const written = await readFile(file, 'utf8');
  expect(written).toMatch(/^Uid:\t65534\t65534\t65534\t65534$/m);
  expect(sessionIn(written)).toMatch(/^\d+$/);
  expect(sessionIn(written)).not.toBe(sessionIn(await readFile('/proc/self/stat', 'utf8')));
});
