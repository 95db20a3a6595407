import { chmod, chown, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { changeableByOthers } from './foreign-writers.ts';

const me = { owners: [process.getuid?.() ?? 0] };
let top: string;
let program: string;

beforeEach(async () => {
  top = await realpath(await mkdtemp(join(tmpdir(), 'homeport-own-')));
  program = join(top, 'opt', 'homeport');
  await mkdir(join(program, 'src'), { recursive: true });
  await writeFile(join(program, 'src', 'main.ts'), '');
  await symlink('main.ts', join(program, 'src', 'link.ts'));
  for (const folder of [join(top, 'opt'), program, join(program, 'src')]) await chmod(folder, 0o755);
  await chmod(join(program, 'src', 'main.ts'), 0o644);
});
afterEach(() => rm(top, { recursive: true }));

test('a folder of one’s own is nobody else’s to change, below a sticky one like /tmp too', async () => {
  expect(await changeableByOthers(program, me)).toBeNull();
});

test.each([
  ['a file in it', 'opt/homeport/src/main.ts', 0o664],
  ['a folder in it', 'opt/homeport/src', 0o777],
  ['the folder itself', 'opt/homeport', 0o775],
  ['a folder above it', 'opt', 0o757],
])('%s that others may write is found', async (_what, name, mode) => {
  await chmod(join(top, name), mode);
  expect(await changeableByOthers(program, me)).toBe(join(top, name));
});

test('a folder in which it does not matter is passed over, and no other', async () => {
  const source = join(program, 'src');
  await chmod(source, 0o777);
  expect(await changeableByOthers(program, { ...me, except: source })).toBeNull();
  expect(await changeableByOthers(program, { ...me, except: join(program, 'sr?') })).toBe(source);
});

test('what is another user’s is found', async () => {
  const isRoot = process.getuid?.() === 0;
  const file = join(program, 'src', 'main.ts');
  if (isRoot) await chown(file, 65_534, 65_534);
  expect(await changeableByOthers(program)).toBe(isRoot ? file : join(top, 'opt'));
});
