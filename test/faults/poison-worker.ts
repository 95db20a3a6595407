import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import Type from 'typebox';
import { Parse } from 'typebox/value';
import { openDatabase } from '../../src/database/open.ts';
import { createQueue } from '../../src/jobs/queue.ts';
import { createWorker } from '../../src/jobs/worker.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { systemRandomness } from '../../src/lib/ids.ts';
import { poisonJob, poisonTimes } from './poison-job.ts';

/** The server of poison.both.long-test.ts: one worker on a shared database. Its settings are its only argument, in JSON. */
const settings = Parse(
  Type.Object({
    databaseUrl: Type.Union([Type.String(), Type.Null()]),
    dataDir: Type.String(),
    /** Gets a line for each attempt that begins. */
    journal: Type.String(),
  }),
  JSON.parse(process.argv[2] ?? ''),
);

const log = pino({ level: 'fatal' }, pino.destination({ dest: 2, sync: true }));
const database = openDatabase(settings, log);

const worker = createWorker({
  database,
  queue: createQueue(database, systemClock, systemRandomness),
  kinds: [
    poisonJob(async ({ name, ends, ms }, signal) => {
      appendFileSync(settings.journal, `${name}\n`);
      await sleep(ms, undefined, { signal });
      if (ends !== null) process.kill(process.pid, ends);
    }),
  ],
  clock: systemClock,
  random: systemRandomness,
  log,
  concurrency: 6,
  ...poisonTimes,
});
worker.start();

process.once('SIGTERM', () => {
  void worker.stop(0).then(() => database.close());
});
