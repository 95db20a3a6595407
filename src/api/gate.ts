import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../access/caller.ts';
import { RATE_LIMITS, rateLimitKey } from '../access/rate-limits.ts';
import type { Session, SessionVerifier } from '../access/session.ts';
import type { Config } from '../config/config.ts';
import { addressBlock } from '../lib/address-block.ts';
import { CrossOrigin, RateLimited, Unauthenticated } from '../lib/failures.ts';
import { parseUuid } from '../lib/ids.ts';
import type { Authenticator, VerifiedCredential } from './auth.ts';
import type { LimitDecision, RateLimiter } from './rate-limiter.ts';
import { isSameOrigin, sessionToken } from './session.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is asking; set by the gate on every endpoint but the public ones. */
    caller?: Caller;
    /** The portal's session, however far it has come; set by the gate where a request has one. */
    session?: Session;
  }
}

/** Limits and authentication, in front of every endpoint (specification, Authentication; gaps section 4). */
export interface Gate {
  /**
   * Lets a request to `/v1` in and says who sent it: by Basic, or, from the portal's own pages, by its cookie. Throws
   * Unauthenticated or RateLimited.
   */
  enter(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** The same for the portal's own endpoints: by cookie alone, as far as the endpoint asks for a session. Throws CrossOrigin too. */
  enterPortal(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** Counts a request by its address alone. */
  anonymous(request: FastifyRequest, reply: FastifyReply): Promise<void>;
}

export interface GateParts {
  authenticator: Authenticator;
  sessions: SessionVerifier;
  limiter: RateLimiter;
  config: Pick<Config, 'rateLimit' | 'anonymousRateLimit' | 'authFailureLimit' | 'publicUrl'>;
}

/** Sent by a page that loads something again while nobody is at it. */
const UNATTENDED = 'x-homeport-unattended';

/** Whether somebody is there who uses the session: a page that waits for changes, or loads them by itself, keeps none alive. */
function isUse(request: FastifyRequest): boolean {
  const stream = request.routeOptions.config.route?.contentType === 'text/event-stream';
  return !stream && request.headers[UNATTENDED] === undefined;
}

export function createGate({ authenticator, sessions, limiter, config }: GateParts): Gate {
  const { origin } = new URL(config.publicUrl);
  // The one switch of the general limits (0) switches both off.
  const anonymousLimit = config.rateLimit === 0 ? 0 : config[RATE_LIMITS.anonymousRequests.size];

  async function anonymous(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const key = rateLimitKey(RATE_LIMITS.anonymousRequests, addressBlock(request.ip));
    admit(reply, await limiter.spend(key, anonymousLimit));
  }

  async function authenticate(
    request: FastifyRequest,
    reply: FastifyReply,
    header: string,
  ): Promise<VerifiedCredential> {
    const credentials = authenticator.read(header);
    const failures = [rateLimitKey(RATE_LIMITS.authFailuresByAddress, addressBlock(request.ip))];
    // No other username exists, and a key must not be whatever a stranger sends.
    const username = credentials ? parseUuid(credentials.username) : undefined;
    if (username !== undefined) failures.push(rateLimitKey(RATE_LIMITS.authFailuresByUsername, username));
    // Asked before the password is looked at: a limit that a right guess passes limits no guessing.
    for (const key of failures) {
      const decision = await limiter.peek(key, config[RATE_LIMITS.authFailuresByAddress.size]);
      if (!decision.allowed) admit(reply, decision);
    }
    const verified = credentials ? await authenticator.verify(credentials) : null;
    if (verified) return verified;
    // All are counted, whichever refuses. Of guesses that found the limits open at the same time, no more than the
    // limits leave are told that they were wrong.
    const counted = await Promise.all(
      failures.map((key) => limiter.spend(key, config[RATE_LIMITS.authFailuresByAddress.size])),
    );
    await anonymous(request, reply);
    const exceeded = counted.find((decision) => !decision.allowed);
    if (exceeded) admit(reply, exceeded);
    throw new Unauthenticated('Bad Credentials');
  }

  /** The session of a request's cookie. One that another site made the browser send is none. */
  async function sessionOf(request: FastifyRequest): Promise<Session | null> {
    const token = sessionToken(request);
    if (token === undefined || !isSameOrigin(request, origin)) return null;
    return sessions.verify(token, isUse(request));
  }

  async function enterBySession(
    request: FastifyRequest,
    reply: FastifyReply,
    session: Session,
  ): Promise<void> {
    request.session = session;
    if (session.stage === 'full') {
      request.caller = {
        userId: session.userId,
        limits: null,
        origin: { means: 'portal', credentialId: null, address: request.ip, requestId: request.id },
      };
    }
    // By the person: sessions are had for the asking. Whoever knows no more than the password uses up nothing of theirs,
    // and nothing of what they have at another place.
    const key =
      session.stage === 'second_factor'
        ? rateLimitKey(RATE_LIMITS.pendingSessionRequests, session.userId, addressBlock(request.ip))
        : rateLimitKey(RATE_LIMITS.portalRequests, session.userId);
    admit(reply, await limiter.spend(key, config[RATE_LIMITS.credentialRequests.size]));
  }

  return {
    anonymous,
    async enter(request, reply) {
      if (request.method === 'OPTIONS' || request.routeOptions.config.route?.public === true) {
        return anonymous(request, reply);
      }
      const header = request.headers.authorization;
      if (header === undefined) {
        const session = await sessionOf(request);
        if (session?.stage === 'full') return enterBySession(request, reply, session);
        await anonymous(request, reply);
        throw new Unauthenticated('Authentication required');
      }
      const { userId, credentialId, limits } = await authenticate(request, reply, header);
      request.caller = {
        userId,
        limits,
        origin: { means: 'api', credentialId, address: request.ip, requestId: request.id },
      };
      const key = rateLimitKey(RATE_LIMITS.credentialRequests, credentialId);
      admit(reply, await limiter.spend(key, config[RATE_LIMITS.credentialRequests.size]));
    },

    async enterPortal(request, reply) {
      const stages = request.routeOptions.config.route?.stages ?? ['full'];
      const session = await sessionOf(request);
      if (session) await enterBySession(request, reply, session);
      // What a stranger may ask for takes as long whoever asks: no session is a way round their limit.
      if (!session || stages === 'anybody') await anonymous(request, reply);
      if (!isSameOrigin(request, origin)) throw new CrossOrigin(config.publicUrl);
      if (stages === 'anybody' || (session && stages.includes(session.stage))) return;
      throw new Unauthenticated('Authentication required');
    },
  };
}

function admit(reply: FastifyReply, decision: LimitDecision): void {
  reply.header('ratelimit-limit', decision.limit);
  reply.header('ratelimit-remaining', decision.remaining);
  reply.header('ratelimit-reset', decision.resetSeconds);
  if (!decision.allowed) throw new RateLimited(decision.resetSeconds);
}
