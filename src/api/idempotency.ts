import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import Type from 'typebox';
import { Parse } from 'typebox/value';
import type { Caller } from '../access/caller.ts';
import { RATE_LIMITS, rateLimitKey } from '../access/rate-limits.ts';
import type { IdempotencyKeyRow } from '../database/tables/idempotency-keys.ts';
import { timestamp } from '../lib/clock.ts';
import { serializeByKey } from '../lib/concurrency.ts';
import { DAY_MS, MINUTE_MS } from '../lib/durations.ts';
import { InvalidRequest, RateLimited, Unavailable, Unprocessable } from '../lib/failures.ts';
import type { Platform } from '../platform/platform.ts';
import { claimKey, findKey, type KeyOfRequest, storeAnswer } from './idempotency-store.ts';
import type { RateLimiter } from './rate-limiter.ts';

export const KEEP_ANSWERS_MS = DAY_MS;
const LONGEST_KEY = 255;
/** Of an answer's body. Larger ones are not stored. */
const LARGEST_ANSWER = 64 * 1024;
/** Status of a request that changed something, at least in part, and whose answer is not stored. */
const LOST = 0;
/** If a claimed key has no answer after this time, the process of its request has died. */
const LONGEST_REQUEST_MS = MINUTE_MS;
const LONGEST_WAIT_MS = 30_000;
const LOOK_AGAIN_MS = 50;

/** A string of RFC 8941, or the bare text that most clients send. */
const QUOTED = /^"([\x20\x21\x23-\x5b\x5d-\x7e]+)"$/;
const BARE = /^[\x21\x23-\x7e]+$/;

/** The answer to a request, as it is sent again. */
export interface StoredAnswer {
  status: number;
  location: string | null;
  body: string | null;
}

const StoredParts = Type.Object({
  location: Type.Union([Type.String(), Type.Null()]),
  body: Type.Union([Type.String(), Type.Null()]),
});

/** The first answer to a request. */
export interface FirstAnswer extends StoredAnswer {
  /** False: the request can be repeated under the same key. */
  isFinal: boolean;
}

/** A request that must take effect once. */
export interface KeyedRequest {
  /** The credential, or the user of a portal session. */
  ownerId: string;
  userId: string;
  /** The header `Idempotency-Key`. */
  key: string;
  method: string;
  target: string;
  body: unknown;
}

/** Conditions at the beginning of a transaction. Throws to refuse the request. */
type Begin = NonNullable<Caller['begin']>;

/** The key was claimed by another request meanwhile. */
class KeyIsUsed extends Error {}

export type Idempotency = ReturnType<typeof createIdempotency>;

/**
 * Carries out each request with an Idempotency-Key once (docs/api.md, Idempotent requests). The first transaction of its change claims
 * the key, so a crash leaves both or neither. The answer is stored after the work. A second request with the key waits for it.
 */
export function createIdempotency(
  { database, clock, sealer, log }: Pick<Platform, 'database' | 'clock' | 'sealer' | 'log'>,
  limiter: RateLimiter,
) {
  const serially = serializeByKey();
  const fingerprintKey = sealer.derive('fingerprints of idempotent requests');
  const expired = () => timestamp(clock, -KEEP_ANSWERS_MS);

  const fingerprintOf = ({ method, target, body }: KeyedRequest): string =>
    createHmac('sha256', fingerprintKey)
      .update(JSON.stringify([method, target, body ?? null]))
      .digest('base64url');

  function sealed({ status, location, body }: StoredAnswer) {
    if (body !== null && body.length > LARGEST_ANSWER) return { status: LOST, sealed_answer: null };
    const parts = location === null && body === null ? null : sealer.seal(JSON.stringify({ location, body }));
    return { status, sealed_answer: parts };
  }

  /** The stored answer; null while it is not known. Throws Unprocessable. */
  function answerOf(row: IdempotencyKeyRow, fingerprint: string): StoredAnswer | null {
    if (row.fingerprint !== fingerprint) {
      throw new Unprocessable('This Idempotency-Key was used for a different request; choose a new key');
    }
    const { status, sealed_answer } = row;
    const age = clock.now().getTime() - Date.parse(row.created_at);
    if (status === LOST || (status === null && age > LONGEST_REQUEST_MS)) {
      throw new Unprocessable(
        'The first request with this Idempotency-Key took effect, but its answer is not available; read the resource',
      );
    }
    if (status === null) return null;
    if (sealed_answer === null) return { status, location: null, body: null };
    return { status, ...Parse(StoredParts, JSON.parse(sealer.open(sealed_answer))) };
  }

  /** Does the work, which claims the key with its first change, and stores its answer. Undefined: another request has the key. */
  async function runOnce(
    id: KeyOfRequest,
    fingerprint: string,
    work: (claim: Begin) => Promise<FirstAnswer>,
  ): Promise<FirstAnswer | undefined> {
    let isClaimed = false;
    let isUsed = false;
    const claim: Begin = async ({ queries, afterCommit }) => {
      if (isClaimed) return;
      const row = { ...id, fingerprint, created_at: timestamp(clock) };
      isUsed = !(await claimKey(queries, row, expired()));
      if (isUsed) throw new KeyIsUsed();
      afterCommit(() => {
        isClaimed = true;
      });
    };
    const lose = () =>
      database.write(({ queries }) => storeAnswer(queries, id, { status: LOST, sealed_answer: null }));

    let answer: FirstAnswer;
    try {
      answer = await work(claim);
    } catch (error) {
      if (isUsed) return undefined;
      if (isClaimed) await lose().catch(() => undefined); // After a minute, the key counts as lost anyway.
      throw error;
    }
    if (isUsed) return undefined;
    try {
      if (answer.isFinal) {
        await database.write(async (transaction) => {
          await claim(transaction);
          const stored = sealed(answer);
          await transaction.commitWith(() => [storeAnswer(transaction.queries, id, stored)]);
        });
      } else if (isClaimed) await lose();
    } catch (error) {
      if (error instanceof KeyIsUsed) return undefined;
      // The change is committed, so the client gets its answer. Only a repetition cannot get it.
      log.warn({ err: error }, 'the answer to a request with an Idempotency-Key could not be stored');
    }
    return answer;
  }

  /** Counts a new key for its credential and its user. Throws RateLimited. */
  async function countKey({ ownerId, userId }: KeyedRequest): Promise<void> {
    const { idempotencyKeysByUser: ofUser, idempotencyKeys: ofCredential } = RATE_LIMITS;
    const userKey = rateLimitKey(ofUser, userId);
    const user = await limiter.spend(userKey, ofUser.size, ofUser.windowSeconds);
    if (!user.allowed) throw tooManyKeys(user.resetSeconds);
    const key = rateLimitKey(ofCredential, ownerId);
    const credential = await limiter.spend(key, ofCredential.size, ofCredential.windowSeconds);
    if (credential.allowed) return;
    limiter.refund(userKey, ofUser.windowSeconds);
    throw tooManyKeys(credential.resetSeconds);
  }

  async function answer(
    request: KeyedRequest,
    id: KeyOfRequest,
    work: (claim: Begin) => Promise<FirstAnswer>,
  ): Promise<{ answer: StoredAnswer; isReplayed: boolean }> {
    const fingerprint = fingerprintOf(request);
    const until = clock.now().getTime() + LONGEST_WAIT_MS;
    let isCounted = false;
    for (;;) {
      const row = await findKey(database.reader, id, expired());
      const stored = row && answerOf(row, fingerprint);
      if (stored) return { answer: stored, isReplayed: true };
      if (row === undefined) {
        if (!isCounted) await countKey(request);
        isCounted = true;
        const first = await runOnce(id, fingerprint, work);
        if (first) return { answer: first, isReplayed: false };
      } else {
        if (clock.now().getTime() > until) throw new Unavailable();
        await sleep(LOOK_AGAIN_MS);
      }
    }
  }

  return {
    /**
     * Carries out a request, or returns the answer of an earlier request with the same key. `work` begins its transactions with `claim`.
     * Throws InvalidRequest for a malformed key, Unprocessable for a key of another request, RateLimited, and what `work` throws.
     */
    async once(
      request: KeyedRequest,
      work: (claim: Begin) => Promise<FirstAnswer>,
    ): Promise<{ answer: StoredAnswer; isReplayed: boolean }> {
      const id = { owner_id: request.ownerId, key: parseKey(request.key) };
      return serially(`${id.owner_id} ${id.key}`, () => answer(request, id, work));
    },
  };
}

const tooManyKeys = (seconds: number) => new RateLimited(seconds, 'Too many new keys in Idempotency-Key');

function parseKey(header: string): string {
  const text = header.trim();
  const key = QUOTED.exec(text)?.[1] ?? (BARE.test(text) ? text : undefined);
  if (key !== undefined && key.length <= LONGEST_KEY) return key;
  throw new InvalidRequest(
    `Idempotency-Key must have 1 to ${LONGEST_KEY} visible ASCII characters, for example a UUID`,
  );
}
