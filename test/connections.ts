import { type Logger, pino } from 'pino';
import type { Clock } from '../src/lib/clock.ts';
import { createSocketLimiter, type SocketLimiter } from '../src/network/connections/socket-limiter.ts';
import type { ServerName, SocketLimits } from '../src/network/connections/socket-limits.ts';
import { manualClock } from './manual-clock.ts';

const silent: Logger = pino({ level: 'silent' });

/** A connection limiter for a server of a test; practically unlimited by default. */
export function limiterFor(
  server: ServerName,
  limits: Partial<SocketLimits> = {},
  { trusted = [], log = silent, clock = manualClock() }: LimiterSurroundings = {},
): SocketLimiter {
  return createSocketLimiter({
    server,
    limits: { total: 4_096, perBlock: 4_096, ...limits },
    isTrusted: (address) => trusted.includes(address),
    log,
    clock,
  });
}

interface LimiterSurroundings {
  trusted?: string[];
  log?: Logger;
  clock?: Clock;
}
