import type { Logger } from 'pino';
import type { Config } from '../../config/config.ts';
import { createLog } from './log.ts';

/** The log of a command that answers by itself: warnings and worse, or less where the configuration asks for less. */
export function createQuietLog({ logLevel }: Pick<Config, 'logLevel'>): Promise<Logger> {
  const isQuieter = logLevel === 'error' || logLevel === 'fatal' || logLevel === 'silent';
  return createLog({ logLevel: isQuieter ? logLevel : 'warn' });
}
