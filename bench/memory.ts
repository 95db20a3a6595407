import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { findPostgres, startPostgres } from '../test/servers/postgres-server.ts';
import { get, run } from './measure/load.ts';
import { serveHomeport, temporaryFolder } from './measure/processes.ts';
import { createReport } from './measure/report.ts';
import { seedAccount } from './measure/seed.ts';

/**
 * `npm run bench -- memory`: what the server keeps of the memory that it needed for a load, on both databases. It returns memory once a minute
 * while it has little to do.
 */
const INSTALLS = 10_000;
const LOAD_SECONDS = 30;
const LOOK_MS = 15_000;
const WAIT_MS = 300_000;
const GOAL_MB = 160;
const report = createReport('memory');

async function measure(database: 'SQLite' | 'PostgreSQL', databaseUrl: string | null): Promise<void> {
  const folder = temporaryFolder();
  try {
    const { authorization } = await seedAccount({ databaseUrl, dataDir: folder.path }, INSTALLS);
    const server = await serveHomeport(folder.path, databaseUrl ?? undefined);
    try {
      const atRest = server.residentMb();
      await run(get(server, '/v1/installs?limit=100', authorization), LOAD_SECONDS);
      const busy = server.residentMb();
      const ended = performance.now();
      let now = busy;
      do {
        await sleep(LOOK_MS);
        now = server.residentMb();
      } while (now > GOAL_MB && performance.now() - ended < WAIT_MS);
      report.figure({
        what: `${database}: memory within ${WAIT_MS / 60_000} minutes of a load`,
        value: now,
        unit: 'MB',
        measured: `after ${Math.round((performance.now() - ended) / 1000)} s`,
        beside: `busy ${busy.toFixed(0)} MB, before ${atRest.toFixed(0)} MB`,
        goal: { atMost: GOAL_MB },
      });
    } finally {
      await server.stop();
    }
  } finally {
    folder.remove();
  }
}

// As `npm start` does for the next start.
execFileSync(process.execPath, ['bin/build-program.ts']);
report.part(`Memory of the server with ${INSTALLS} installs`);
await measure('SQLite', null);
const binaries = findPostgres();
if (binaries === undefined) {
  process.stderr.write('The rest needs PostgreSQL.\n');
} else {
  const postgres = await startPostgres(binaries);
  try {
    await measure('PostgreSQL', postgres.url);
  } finally {
    await postgres.stop();
  }
}
report.end();
report.finish();
