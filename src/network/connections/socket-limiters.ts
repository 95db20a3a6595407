import type { Logger } from 'pino';
import type { Clock } from '../../lib/clock.ts';
import { descriptorLimit } from './descriptor-limit.ts';
import { createSocketLimiter, type SocketLimiter } from './socket-limiter.ts';
import { type ServerName, socketLimits } from './socket-limits.ts';

/** One limiter for each server of a process. */
export type SocketLimiters = Record<ServerName, SocketLimiter>;

/** Creates limiters that share the descriptor limit of this process. */
export function createSocketLimiters(surroundings: {
  isTrusted(address: string): boolean;
  log: Logger;
  clock: Clock;
}): SocketLimiters {
  const limits = socketLimits(descriptorLimit());
  const limiterOf = (server: ServerName) =>
    createSocketLimiter({ ...surroundings, server, limits: limits[server] });
  return { api: limiterOf('api'), edge: limiterOf('edge'), ssh: limiterOf('ssh') };
}
