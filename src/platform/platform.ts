import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { Database } from '../database/database.ts';
import type { Queue } from '../jobs/queue.ts';
import type { Clock } from '../lib/clock.ts';
import type { Randomness } from '../lib/ids.ts';
import type { Sealer } from '../secrets/sealer.ts';
import type { Tracing } from '../tracing/tracing.ts';
import type { ActivityLog } from './activity-log.ts';

/** Dependencies that every service shares. */
export interface Platform {
  config: Config;
  database: Database;
  queue: Queue;
  activity: ActivityLog;
  clock: Clock;
  random: Randomness;
  sealer: Sealer;
  log: Logger;
  /** Absent if traces are off. */
  tracing?: Tracing | undefined;
}
