import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../access/caller.ts';
import { RATE_LIMITS, rateLimitKey } from '../access/rate-limits.ts';
import type { Session, SessionVerifier } from '../access/session.ts';
import type { Config } from '../config/config.ts';
import { addressBlock } from '../lib/address-block.ts';
import { CrossOrigin, RateLimited, SessionExpired, Unauthenticated } from '../lib/failures.ts';
import { parseUuid } from '../lib/ids.ts';
import type { Authenticator, VerifiedCredential } from './auth.ts';
import { asksForEvents } from './event-streams.ts';
import type { LimitDecision, RateLimiter } from './rate-limiter.ts';
import type { Route } from './route.ts';
import { isSameOrigin, sessionToken } from './session.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the gate on every endpoint that is not public. */
    caller?: Caller;
    /** The portal session of the request, at any stage; set by the gate. */
    session?: Session;
    /** The declared endpoint; absent on pages outside the API. Set when the request arrives. */
    endpoint?: Route | undefined;
  }
}

/** Rate limits and authentication in front of every endpoint (docs/api.md, Authentication and Rate limits). */
export interface Gate {
  /**
   * Authenticates a request to `/v1`: by Basic, or by cookie if it comes from the portal's pages. At once, without a promise, if the
   * credential is known. Throws Unauthenticated or RateLimited.
   */
  enter(request: FastifyRequest, reply: FastifyReply): Promise<void> | undefined;
  /** Authenticates a request to a portal endpoint: by cookie only, if the endpoint requires a session. Throws CrossOrigin too. */
  enterPortal(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /**
   * Authenticates a request again that {@link enter} has admitted and that was held meanwhile. Counts nothing. Returns the caller with
   * the present limits. Throws Unauthenticated.
   */
  reauthenticate(request: FastifyRequest): Promise<Caller>;
  /** Counts a request by its address only. */
  anonymous(request: FastifyRequest, reply: FastifyReply): Promise<void>;
}

export interface GateParts {
  authenticator: Authenticator;
  sessions: SessionVerifier;
  limiter: RateLimiter;
  config: Pick<Config, 'rateLimit' | 'anonymousRateLimit' | 'authFailureLimit' | 'publicUrl'>;
}

/** Sent by pages that reload data without user activity. */
const UNATTENDED = 'x-homeport-unattended';

/** Whether the request shows user activity. Event streams and automatic reloads do not extend a session. */
function isUse(request: FastifyRequest): boolean {
  return !asksForEvents(request) && request.headers[UNATTENDED] === undefined;
}

export function createGate({ authenticator, sessions, limiter, config }: GateParts): Gate {
  const { origin } = new URL(config.publicUrl);
  // A rate limit of 0 switches off both general limits.
  const anonymousLimit = config.rateLimit === 0 ? 0 : config[RATE_LIMITS.anonymousRequests.size];

  async function anonymous(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const key = rateLimitKey(RATE_LIMITS.anonymousRequests, addressBlock(request.ip));
    admit(reply, await limiter.spend(key, anonymousLimit));
  }

  /** Whether it is known already that no limit of failed authentications refuses the request. */
  function isUnsuspected(request: FastifyRequest, username: string): boolean {
    return failureKeys(request, username).every((key) => {
      const peeked = limiter.peek(key, config[RATE_LIMITS.authFailuresByAddress.size]);
      return !(peeked instanceof Promise) && peeked.allowed;
    });
  }

  /** Lets a credential in, within its limit of requests. */
  function admitCredential(
    request: FastifyRequest,
    reply: FastifyReply,
    verified: VerifiedCredential,
  ): Promise<void> | undefined {
    request.caller = callerOfCredential(request, verified);
    const key = rateLimitKey(RATE_LIMITS.credentialRequests, verified.credentialId);
    const spent = limiter.spend(key, config[RATE_LIMITS.credentialRequests.size]);
    if (spent instanceof Promise) return spent.then((decision) => admit(reply, decision));
    admit(reply, spent);
    return undefined;
  }

  async function enterByHeader(request: FastifyRequest, reply: FastifyReply, header: string): Promise<void> {
    await admitCredential(request, reply, await authenticate(request, reply, header));
  }

  async function enterByCookie(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const session = await sessionOf(request);
    if (session?.stage === 'full') return enterBySession(request, reply, session);
    await anonymous(request, reply);
    throw new Unauthenticated('Authentication required');
  }

  async function authenticate(
    request: FastifyRequest,
    reply: FastifyReply,
    header: string,
  ): Promise<VerifiedCredential> {
    const credentials = authenticator.read(header);
    // Usernames are UUIDs. A key must not contain arbitrary text of a request.
    const failures = failureKeys(request, credentials && parseUuid(credentials.username));
    // Checked before the password: otherwise a correct guess would pass the limit.
    for (const key of failures) {
      const peeked = limiter.peek(key, config[RATE_LIMITS.authFailuresByAddress.size]);
      const decision = peeked instanceof Promise ? await peeked : peeked;
      if (!decision.allowed) admit(reply, decision);
    }
    const checked = credentials ? authenticator.verify(credentials, header) : null;
    const verified = checked instanceof Promise ? await checked : checked;
    if (verified) return verified;
    // Counts all limits even if one refuses. Of parallel guesses, only as many as the limits allow learn that they were wrong.
    const counted = await Promise.all(
      failures.map((key) => limiter.spend(key, config[RATE_LIMITS.authFailuresByAddress.size])),
    );
    await anonymous(request, reply);
    const exceeded = counted.find((decision) => !decision.allowed);
    if (exceeded) admit(reply, exceeded);
    throw new Unauthenticated('Bad Credentials');
  }

  /** The session of the request's cookie; null for requests that other sites caused. */
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
    if (session.stage === 'full') request.caller = callerOfSession(request, session);
    // Counted by user, who can open any number of sessions. Requests with only the password count apart and by address, so that an
    // attacker uses up nothing of the user's limit.
    const key =
      session.stage === 'second_factor'
        ? rateLimitKey(RATE_LIMITS.pendingSessionRequests, session.userId, addressBlock(request.ip))
        : rateLimitKey(RATE_LIMITS.portalRequests, session.userId);
    admit(reply, await limiter.spend(key, config[RATE_LIMITS.credentialRequests.size]));
  }

  return {
    anonymous,
    enter(request, reply) {
      if (request.method === 'OPTIONS' || request.endpoint?.public === true) {
        return anonymous(request, reply);
      }
      const header = request.headers.authorization;
      if (header === undefined) return enterByCookie(request, reply);
      const known = authenticator.recognise(header);
      return known !== undefined && isUnsuspected(request, known.credentialId)
        ? admitCredential(request, reply, known)
        : enterByHeader(request, reply, header);
    },

    async reauthenticate(request) {
      const header = request.headers.authorization;
      if (header === undefined) {
        const token = sessionToken(request);
        const session = token === undefined ? null : await sessions.verify(token, false);
        if (session?.stage === 'full') return callerOfSession(request, session);
        throw new Unauthenticated('Authentication required');
      }
      const credentials = authenticator.read(header);
      const verified = credentials ? await authenticator.verify(credentials) : null;
      if (verified) return callerOfCredential(request, verified);
      throw new Unauthenticated('Bad Credentials');
    },

    async enterPortal(request, reply) {
      const stages = request.endpoint?.stages ?? ['full'];
      const session = await sessionOf(request);
      if (session) await enterBySession(request, reply, session);
      // Public endpoints cost the same with a session, so a session does not bypass the anonymous limit.
      if (!session || stages === 'anybody') await anonymous(request, reply);
      if (!isSameOrigin(request, origin)) throw new CrossOrigin(config.publicUrl);
      if (stages === 'anybody' || (session && stages.includes(session.stage))) return;
      const token = sessionToken(request);
      if (token !== undefined && (await sessions.hasExpired(token))) throw new SessionExpired();
      throw new Unauthenticated('Authentication required');
    },
  };
}

/** The counts of failed authentications that a request is checked against. */
function failureKeys({ ip }: FastifyRequest, username: string | undefined): string[] {
  const byAddress = rateLimitKey(RATE_LIMITS.authFailuresByAddress, addressBlock(ip));
  return username === undefined
    ? [byAddress]
    : [byAddress, rateLimitKey(RATE_LIMITS.authFailuresByUsername, username)];
}

function callerOfCredential(
  { ip, id }: FastifyRequest,
  { userId, credentialId, limits }: VerifiedCredential,
): Caller {
  return { userId, limits, origin: { means: 'api', credentialId, address: ip, requestId: id } };
}

function callerOfSession({ ip, id }: FastifyRequest, { userId }: Session): Caller {
  return {
    userId,
    limits: null,
    origin: { means: 'portal', credentialId: null, address: ip, requestId: id },
  };
}

function admit(reply: FastifyReply, decision: LimitDecision): void {
  reply.header('ratelimit-limit', decision.limit);
  reply.header('ratelimit-remaining', decision.remaining);
  reply.header('ratelimit-reset', decision.resetSeconds);
  if (!decision.allowed) throw new RateLimited(decision.resetSeconds);
}
