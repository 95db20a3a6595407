import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ERROR_LOG } from './process/error-log.ts';
import { wasmFiles } from './wasm-runtime.ts';

describe('the end of the error log', () => {
  let base: string;
  beforeAll(async () => {
    base = await mkdtemp(join(tmpdir(), 'homeport-wasm-'));
    for (const website of ['own', 'other']) {
      await mkdir(join(base, website));
      await writeFile(join(base, website, ERROR_LOG), `error of ${website}`);
    }
  });
  afterAll(() => rm(base, { recursive: true }));
  const read = () => wasmFiles({ root: base, private: join(base, 'own'), logs: '' }).endOfErrorLog(100);

  it('is that of the website, and never of another one that a link leads to', async () => {
    expect(await read()).toBe('error of own');
    await rename(join(base, 'own'), join(base, 'moved'));
    await symlink(join(base, 'other'), join(base, 'own'));
    expect(await read()).toBe('');
  });
});
