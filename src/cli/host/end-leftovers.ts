import type { Logger } from 'pino';
import type { Config } from '../../config/config.ts';
import { createCgroups } from '../../hosting/linux/daemons/cgroups.ts';
import { createSupervisor } from '../../hosting/linux/daemons/supervisor.ts';
import { systemClock } from '../../lib/clock.ts';

/** Ends the daemons of a killed host process without a successor. */
export async function endLeftovers({ hostRunFolder }: Config, log: Logger): Promise<void> {
  const cgroups = createCgroups({ instance: 'homeport', log });
  await createSupervisor({ runFolder: hostRunFolder, cgroups, log, clock: systemClock }).start();
}
