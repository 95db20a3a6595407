import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import Type from 'typebox';
import { Parse } from 'typebox/value';
import { openDatabase } from '../../src/database/open.ts';
import { createQueue } from '../../src/jobs/queue.ts';
import { createWorker } from '../../src/jobs/worker.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { systemRandomness } from '../../src/lib/ids.ts';
import { createEffectJob, HEARTBEAT_MS, LEASE_MS } from './kill-job.ts';

/** The process that kill.postgres-test.ts kills: one worker on a shared database. Its settings are its only argument, in JSON. */
const settings = Parse(
  Type.Object({
    databaseUrl: Type.Union([Type.String(), Type.Null()]),
    dataDir: Type.String(),
    /** Where the files of the jobs go. */
    files: Type.String(),
    /** The attempts that were killed at a chosen moment: one file each, named by the job. */
    marks: Type.String(),
    /** Journal of this process: one JSON document per line. */
    journal: Type.String(),
  }),
  JSON.parse(process.argv[2] ?? ''),
);

const log = pino({ level: 'warn' }, pino.destination({ dest: 2, sync: true }));
const database = openDatabase(settings, log);
const queue = createQueue(database, systemClock, systemRandomness);

const kind = createEffectJob({
  write: (name, content) => writeFileSync(join(settings.files, name), content),
  record: (entry) => appendFileSync(settings.journal, `${JSON.stringify({ ...entry, at: monotonicMs() })}\n`),
  kill(n, attempt) {
    const mark = join(settings.marks, String(n));
    if (existsSync(mark)) return;
    writeFileSync(mark, String(attempt));
    process.kill(process.pid, 'SIGKILL');
  },
});

createWorker({
  database,
  queue,
  kinds: [kind],
  clock: systemClock,
  random: systemRandomness,
  log,
  concurrency: 4,
  leaseMs: LEASE_MS,
  heartbeatMs: HEARTBEAT_MS,
  pollMs: 50,
}).start();

/** The machine's clock that never jumps, the same for all its processes. */
function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000;
}
