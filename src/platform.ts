import type { Logger } from 'pino';
import type { Clock } from './clock.ts';
import type { Config } from './config/config.ts';
import type { Database } from './database/database.ts';
import type { Randomness } from './ids.ts';
import type { Queue } from './jobs/queue.ts';
import type { ActivityLog } from './resources/activity/record.ts';
import type { Sealer } from './secrets/sealer.ts';

/** What every service is made from. */
export interface Platform {
  config: Config;
  database: Database;
  queue: Queue;
  activity: ActivityLog;
  clock: Clock;
  random: Randomness;
  sealer: Sealer;
  log: Logger;
}
