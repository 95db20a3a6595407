import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { tracesUrl } from '../config/settings/tracing.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { type Randomness, systemRandomness } from '../lib/ids.ts';
import { PROGRAM_VERSION } from '../lib/program-version.ts';
import type { Tracing } from '../tracing/tracing.ts';

/** Loads what makes traces, if they are on. `suffix`: what follows the name of the service in traces. */
export async function startTracing(
  suffix: string,
  config: Config,
  {
    log,
    clock = systemClock,
    random = systemRandomness,
  }: { log: Logger; clock?: Clock; random?: Randomness },
): Promise<Tracing | undefined> {
  const url = tracesUrl(config);
  if (url === null) return undefined;
  const { createTracing } = await import('../tracing/tracing.ts');
  return createTracing({ url, config, version: PROGRAM_VERSION, suffix, clock, random, log });
}
