import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import { DAY_MS } from '../../lib/durations.ts';
import { CHALLENGE_TOKEN } from '../../lib/host-names.ts';
import { AcmeRefusal, ERROR_NAMESPACE } from './refusal.ts';

/** Shapes of the authority's answers, as far as Homeport reads them (RFC 8555 section 7.1, RFC 9773 section 4.2). */

export const directorySchema = Type.Object({
  newNonce: Type.String(),
  newAccount: Type.String(),
  newOrder: Type.String(),
  renewalInfo: Type.Optional(Type.String()),
  meta: Type.Optional(
    Type.Object({
      termsOfService: Type.Optional(Type.String()),
      caaIdentities: Type.Optional(Type.Array(Type.String())),
      externalAccountRequired: Type.Optional(Type.Boolean()),
    }),
  ),
});
export type Directory = Static<typeof directorySchema>;

export const orderSchema = Type.Object({
  status: Type.Enum(['pending', 'ready', 'processing', 'valid', 'invalid']),
  url: Type.String(),
  authorizations: Type.Array(Type.String(), { maxItems: 100 }),
  finalize: Type.String(),
  error: Type.Optional(Type.Unknown()),
});

export const httpChallengeSchema = Type.Object({
  type: Type.Literal('http-01'),
  url: Type.String(),
  status: Type.Enum(['pending', 'processing', 'valid', 'invalid']),
  // Section 8.3: base64url. It becomes part of a path.
  token: Type.String({ pattern: `^${CHALLENGE_TOKEN}$` }),
  error: Type.Optional(Type.Object({})),
});
export type HttpChallenge = Static<typeof httpChallengeSchema>;

export const authorizationSchema = Type.Object({
  status: Type.Enum(['pending', 'valid', 'invalid', 'deactivated', 'expired', 'revoked']),
  url: Type.String(),
  challenges: Type.Array(Type.Object({ type: Type.String(), error: Type.Optional(Type.Unknown()) })),
});
export type Authorization = Static<typeof authorizationSchema>;

export const renewalInfoSchema = Type.Object({
  suggestedWindow: Type.Object({ start: Type.String(), end: Type.String() }),
});

/** Checks an answer against its schema. Throws AcmeRefusal; `what` completes "sent … that cannot be read". */
export function parsed<T extends Type.TSchema>(schema: T, value: unknown, what: string): Static<T> {
  if (Value.Check(schema, value)) return value;
  throw new AcmeRefusal(
    `${ERROR_NAMESPACE}serverInternal`,
    `The certificate authority sent ${what} that cannot be read.`,
  );
}

/** Longest wait that an authority may ask for. A longer one counts as a mistake. */
const MAX_MS = 30 * DAY_MS;

/**
 * Reads a Retry-After header (RFC 9110 section 10.2.3), seconds or a date, as milliseconds from `now`. Null if it is
 * missing or invalid; 0 for a past date.
 */
export function retryAfterMs(header: string | undefined, now: Date): number | null {
  const text = header?.trim() ?? '';
  const isSeconds = /^\d{1,9}$/.test(text);
  // The three date formats (section 5.6.7) begin with a weekday. Date.parse would read a number as a year.
  if (!isSeconds && !/^[A-Z]/i.test(text)) return null;
  const ms = isSeconds ? Number(text) * 1000 : Date.parse(text) - now.getTime();
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), MAX_MS);
}
