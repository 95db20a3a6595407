import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Engine } from './engine.ts';
import { IMAGE } from './image.ts';

export const OLDER = 'localhost/homeport-test-older';
export const OLDER_VERSION = '0.1.0';

/** Runs from its sources, because the built program has the newest migration. */
const DOCKERFILE = `FROM ${IMAGE}
USER 0
COPY make-older.mjs /
RUN node /make-older.mjs && rm -r /opt/homeport/node_modules/.cache
USER 10001:10001
`;

/** Takes away the newest migration, and gives the rest an older version. */
const MAKE_OLDER = `import { readFileSync, writeFileSync } from 'node:fs';
const migrate = '/opt/homeport/src/database/migrate.ts';
const text = readFileSync(migrate, 'utf8');
const last = [...text.matchAll(/^ {2}'\\d{4}-[^']+': \\w+,\\n/gm)].at(-1)[0];
writeFileSync(migrate, text.replace(last, ''));
const manifest = JSON.parse(readFileSync('/opt/homeport/package.json', 'utf8'));
writeFileSync('/opt/homeport/package.json', JSON.stringify({ ...manifest, version: '${OLDER_VERSION}' }));
`;

/** Makes an image of a Homeport before the newest migration: no released image can be downloaded. */
export async function makeOlderImage(engine: Engine): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'homeport-older-'));
  try {
    await writeFile(join(folder, 'Dockerfile'), DOCKERFILE);
    await writeFile(join(folder, 'make-older.mjs'), MAKE_OLDER);
    await engine.run(['build', '--tag', OLDER, '.'], { folder });
  } finally {
    await rm(folder, { recursive: true });
  }
}
