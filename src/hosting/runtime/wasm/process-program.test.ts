import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { writeProcessProgram } from './process-program.ts';

it('is JavaScript whose modules find each other', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'php-program-'));
  const { folder: program, entry } = await writeProcessProgram(folder);
  expect(existsSync(join(program, entry))).toBe(true);
  const code = join(program, 'code');
  const files = (await readdir(code, { recursive: true, withFileTypes: true })).filter((one) => one.isFile());
  const missing: string[] = [];
  for (const { name, parentPath } of files) {
    expect(name).toMatch(/\.mjs$/);
    const text = await readFile(join(parentPath, name), 'utf8');
    for (const [, other = ''] of text.matchAll(/'(\.\.?\/[^']+)'/g)) {
      const path = join(dirname(join(parentPath, name)), other);
      if (!existsSync(path)) missing.push(`${name}: ${other}`);
    }
  }
  expect(missing).toEqual([]);
  await rm(folder, { recursive: true });
});
