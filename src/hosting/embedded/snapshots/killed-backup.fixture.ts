import { randomUUID } from 'node:crypto';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../../lib/clock.ts';
import { NO_LIMITS } from '../../contract/install-limits.ts';
import { createSnapshots } from './snapshots.ts';

/**
 * The program of a test that kills it: it changes a website, backs it up, restores it and deletes backups, until it ends. Arguments: the folder
 * of the test, the id of the install, and the file that gets the ids of complete backups.
 */
const [, , base = '', installId = '', journal = ''] = process.argv;
const install = { id: installId, name: 'shop' };
const site = join(base, 'sites', installId);
const snapshots = createSnapshots({
  folder: join(base, 'backups'),
  filesOf: (id) => join(base, 'sites', id),
  limits: NO_LIMITS,
  clock: systemClock,
});

await snapshots.recover(installId);
for (;;) {
  const id = randomUUID();
  writeFileSync(join(site, 'page'), id);
  writeFileSync(join(site, `large-${Math.floor(Math.random() * 3)}`), id.repeat(20_000));
  await snapshots.snapshot(install, id);
  appendFileSync(journal, `+${id}\n`);
  await snapshots.restore(install, id);
  for (const held of (await snapshots.held(installId)).filter((one) => one !== id).slice(0, -2)) {
    appendFileSync(journal, `-${held}\n`);
    await snapshots.discard(install, held);
  }
}
