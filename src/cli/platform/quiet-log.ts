import type { Logger } from 'pino';
import type { Config } from '../../config/config.ts';
import { createLog } from './log.ts';

/** The log of a command that prints its result: warnings and errors only. */
export function createQuietLog({ logLevel }: Pick<Config, 'logLevel'>): Promise<Logger> {
  const isQuieter = logLevel === 'error' || logLevel === 'fatal' || logLevel === 'silent';
  return createLog({ logLevel: isQuieter ? logLevel : 'warn' });
}
