import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { expect, test } from 'vitest';
import { createChosenParts } from './chosen-parts.ts';
import { layoutOf } from './host-folder/layout.ts';
import { PRIVATE } from './wordpress/site.ts';

test('a link in place of the private folder of a backup moves nothing of another website', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'chosen-'));
  const other = join(folder, 'other');
  const next = join(folder, 'next');
  const staged = join(next, 'staged');
  const summary = { bytes: 0, files: 0, sha256: '' };
  try {
    await mkdir(other);
    await writeFile(join(other, 'addresses.json'), '[]');
    await mkdir(staged, { recursive: true });
    await symlink(other, join(staged, PRIVATE));
    await mkdir(join(next, PRIVATE));
    const chosen = createChosenParts({
      layout: layoutOf(join(folder, 'host')),
      log: pino({ level: 'silent' }),
      snapshots: {
        index: async () => summary,
        extract: async () => {},
        async restoreChosen(_install, _backupId, { complete }) {
          await complete(next, join(folder, 'present'), staged);
          return summary;
        },
      },
    });
    const install = { id: crypto.randomUUID(), name: 'one' };
    const restored = chosen.restore(install, crypto.randomUUID(), {
      parts: { files: true, paths: [], database: 'all' },
      complete: async () => {},
    });
    await expect(restored).rejects.toThrow(`${PRIVATE} of the website is not a folder`);
    expect(await readdir(other)).toEqual(['addresses.json']);
  } finally {
    await rm(folder, { recursive: true });
  }
});
