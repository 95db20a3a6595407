import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { buildWhenMissing } from './build.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-build-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

it('builds only if the pages are missing or older than their sources', async () => {
  expect(await buildWhenMissing(folder)).toBe(true);
  const page = readFileSync(join(folder, 'index.html'), 'utf8');
  const scripts = [...page.matchAll(/"\.\/(portal\/assets\/[^"]+\.js)"/g)].map(([, script = '']) =>
    join(folder, script),
  );
  const large = scripts.filter((script) => statSync(script).size > 1_024);
  expect(large).not.toEqual([]);
  for (const form of ['.br', '.gz'])
    expect(large.map((script) => existsSync(`${script}${form}`))).toEqual(large.map(() => true));

  expect(await buildWhenMissing(folder)).toBe(false);

  writeFileSync(join(folder, 'built-from'), 'older sources');
  expect(await buildWhenMissing(folder)).toBe(true);
});
