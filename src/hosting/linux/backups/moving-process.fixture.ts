import { pino } from 'pino';
import { systemClock } from '../../../lib/clock.ts';
import { createDatabases } from '../daemons/databases.ts';
import { createProjectQuotas } from '../isolation/project-quotas.ts';
import { linuxLayout } from '../machine/layout.ts';
import { createBackups } from './backups.ts';

/** A separate process that moves backups, so that a test can kill it. It writes a line for each backup, and "moved" at the end. */
const { folder, runFolder, ...move } = JSON.parse(process.argv[2] ?? '');
const layout = linuxLayout(folder, runFolder);
const log = pino({ level: 'silent' });
const backups = createBackups({
  layout,
  databases: createDatabases({ layout }),
  quotas: createProjectQuotas({ layout, log }),
  websites: {
    makeImportedFiles: async () => {},
    replaceUrls: () => Promise.reject(new Error('there is no WordPress to replace URLs in')),
  },
  repository: null,
  credentials: null,
  passwordOf: async (installId) => `password of ${installId}`,
  log,
  clock: systemClock,
});
const tell = (line: string) => process.stdout.write(`${line}\n`);
await backups.move({ ...move, installsHere: async () => move.installs }, undefined, (done) => {
  tell(String(done));
});
tell('moved');
