import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import { RateLimited, Unauthenticated } from '../failures.ts';
import { parseUuid } from '../ids.ts';
import type { Actor, Authenticator } from './auth.ts';
import { addressBlock } from './client-address.ts';
import type { LimitDecision, RateLimiter } from './limits.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is asking; set by the gate on every endpoint but the public ones. */
    actor?: Actor;
  }
}

/** Limits and authentication, in front of every endpoint (specification, Authentication; gaps section 4). */
export interface Gate {
  /** Lets a request in and says who sent it, or throws Unauthenticated or RateLimited. */
  enter(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** Counts a request by its address alone. */
  anonymous(request: FastifyRequest, reply: FastifyReply): Promise<void>;
}

export function createGate(
  authenticator: Authenticator,
  limiter: RateLimiter,
  config: Pick<Config, 'rateLimit' | 'anonymousRateLimit' | 'authFailureLimit'>,
): Gate {
  // The one switch of the general limits (0) switches both off.
  const anonymousLimit = config.rateLimit === 0 ? 0 : config.anonymousRateLimit;

  async function anonymous(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    admit(reply, await limiter.spend(`address:${addressBlock(request.ip)}`, anonymousLimit));
  }

  async function authenticate(request: FastifyRequest, reply: FastifyReply, header: string): Promise<Actor> {
    const credentials = authenticator.read(header);
    const failures = [`failures:address:${addressBlock(request.ip)}`];
    // No other username exists, and a key must not be whatever a stranger sends.
    const username = credentials ? parseUuid(credentials.username) : undefined;
    if (username !== undefined) failures.push(`failures:username:${username}`);
    // Asked before the password is looked at: a limit that a right guess passes limits no guessing.
    for (const key of failures) {
      const decision = await limiter.peek(key, config.authFailureLimit);
      if (!decision.allowed) admit(reply, decision);
    }
    const actor = credentials ? await authenticator.verify(credentials) : null;
    if (actor) return actor;
    // All are counted, whichever refuses. Of guesses that found the limits open at the same time, no more than the
    // limits leave are told that they were wrong.
    const counted = await Promise.all(failures.map((key) => limiter.spend(key, config.authFailureLimit)));
    await anonymous(request, reply);
    const exceeded = counted.find((decision) => !decision.allowed);
    if (exceeded) admit(reply, exceeded);
    throw new Unauthenticated('Bad Credentials');
  }

  return {
    anonymous,
    async enter(request, reply) {
      if (request.method === 'OPTIONS' || request.routeOptions.config.route?.public === true) {
        return anonymous(request, reply);
      }
      const header = request.headers.authorization;
      if (header === undefined) {
        await anonymous(request, reply);
        throw new Unauthenticated('Authentication required');
      }
      const actor = await authenticate(request, reply, header);
      request.actor = actor;
      admit(reply, await limiter.spend(`credential:${actor.credentialId}`, config.rateLimit));
    },
  };
}

function admit(reply: FastifyReply, decision: LimitDecision): void {
  reply.header('ratelimit-limit', decision.limit);
  reply.header('ratelimit-remaining', decision.remaining);
  reply.header('ratelimit-reset', decision.resetSeconds);
  if (!decision.allowed) throw new RateLimited(decision.resetSeconds);
}
