import ipaddr from 'ipaddr.js';
import { pino } from 'pino';
import Type from 'typebox';
import { Parse } from 'typebox/value';
import { openDatabase } from '../../src/database/open.ts';
import { createEventPlacement } from '../../src/features/accounts/events/placement.ts';
import { startPlacing } from '../../src/features/accounts/events/placing.ts';
import { NOTIFIED_TYPES } from '../../src/features/accounts/notifications/rules.ts';
import { createArrivals } from '../../src/features/accounts/webhooks/arrivals.ts';
import { deliveryJobKind } from '../../src/features/accounts/webhooks/delivery/job-kind.ts';
import { deliveryQueue } from '../../src/features/accounts/webhooks/queue-deliveries.ts';
import { createQueue } from '../../src/jobs/queue.ts';
import { createWorker } from '../../src/jobs/worker.ts';
import { systemClock as clock } from '../../src/lib/clock.ts';
import { systemRandomness as random } from '../../src/lib/ids.ts';
import { createSender } from '../../src/network/webhooks/sender.ts';
import { createActivityLog } from '../../src/platform/activity-log.ts';
import { createSealer } from '../../src/secrets/sealer.ts';

/** The process that webhooks.long-test.ts kills: it delivers events to webhooks. Its settings are its only argument, in JSON. */
const settings = Parse(
  Type.Object({ databaseUrl: Type.Union([Type.String(), Type.Null()]), dataDir: Type.String() }),
  JSON.parse(process.argv[2] ?? ''),
);

const log = pino({ level: 'error' }, pino.destination({ dest: 2, sync: true }));
const database = openDatabase(settings, log);
const queue = createQueue(database, clock, random);
const arrivals = createArrivals();
const platform = {
  database,
  queue,
  activity: createActivityLog({ clock, random }),
  clock,
  random,
  sealer: createSealer(Buffer.alloc(32, 1)),
  log,
};
const sender = createSender({ servers: [], allowed: [ipaddr.parseCIDR('127.0.0.1/32')] });
createWorker({
  ...platform,
  kinds: [deliveryJobKind(platform, { sender, arrivals, pauseMs: () => 50 })],
  concurrency: 60,
  leaseMs: 2_000,
  heartbeatMs: 300,
  pollMs: 50,
}).start();
startPlacing(platform, createEventPlacement(database, deliveryQueue(platform, arrivals), NOTIFIED_TYPES));
setInterval(() => {}, 60_000);
