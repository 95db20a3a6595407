import {
  BeingPrepared,
  CapabilityUnavailable,
  Conflict,
  CrossOrigin,
  Failure,
  type Fault,
  Forbidden,
  HttpsRequired,
  INVALID_PARAMETERS,
  InvalidRequest,
  MalformedId,
  NotFound,
  PreconditionFailed,
  RateLimited,
  SessionExpired,
  Unauthenticated,
  Unavailable,
  Unprocessable,
  UpstreamFailed,
} from '../lib/failures.ts';

/** The statuses that the "Other statuses" column of the specification's endpoint table uses. */
export type ErrorStatus = 400 | 401 | 403 | 404 | 409 | 412 | 422 | 429 | 500 | 502 | 503;

/** The error envelope (specification, Errors). */
export interface ErrorEnvelope {
  message: string;
  errors?: Fault[];
}

export interface ErrorAnswer {
  status: ErrorStatus;
  envelope: ErrorEnvelope;
  retryAfterSeconds?: number;
}

/** Messages of failures that must not reveal their cause. */
export const UNEXPECTED: Record<500 | 503, string> = {
  500: 'Internal server error - please try again later',
  503: 'Service temporarily unavailable',
};

/** Seconds after which a client should repeat a request that got 503. */
const UNAVAILABLE_SECONDS = 5;

/**
 * The answer to an error that a handler threw: the first of the error's statuses (docs/api.md, Requests and responses)
 * that the endpoint lists. The answer hides the cause of errors other than {@link Failure}.
 */
export function errorAnswer(error: unknown, listed: readonly ErrorStatus[]): ErrorAnswer {
  if (error instanceof HttpsRequired) return { status: 403, envelope: { message: error.message } };
  for (const status of preferredStatuses(error)) {
    if (!listed.includes(status)) continue;
    const envelope: ErrorEnvelope = { message: messageFor(error, status) };
    const faults = hasFaults(error) ? error.faults : [];
    if (faults.length > 0) envelope.errors = faults;
    if (error instanceof RateLimited) return { status, envelope, retryAfterSeconds: error.retryAfterSeconds };
    return status === 503
      ? { status, envelope, retryAfterSeconds: UNAVAILABLE_SECONDS }
      : { status, envelope };
  }
  if (listed.includes(500)) return { status: 500, envelope: { message: UNEXPECTED[500] } };
  return {
    status: 503,
    envelope: { message: UNEXPECTED[503] },
    retryAfterSeconds: UNAVAILABLE_SECONDS,
  };
}

const hasFaults = (error: unknown) =>
  error instanceof InvalidRequest ||
  error instanceof BeingPrepared ||
  error instanceof CapabilityUnavailable ||
  error instanceof Unprocessable ||
  error instanceof SessionExpired;

function preferredStatuses(error: unknown): ErrorStatus[] {
  if (error instanceof MalformedId) return [400, 404, 403];
  if (error instanceof NotFound) return [404, 403, 400];
  if (error instanceof Forbidden) return [403, 404, 400];
  if (error instanceof InvalidRequest) return [400, 422];
  if (error instanceof Unauthenticated) return [401];
  if (error instanceof CrossOrigin) return [403, 401];
  if (error instanceof RateLimited) return [429];
  if (error instanceof Conflict) return [409, 400];
  if (error instanceof PreconditionFailed) return [412, 409, 400];
  if (error instanceof Unprocessable) return [422, 400];
  if (error instanceof UpstreamFailed) return [502, 503];
  if (error instanceof Unavailable) return [503];
  return [];
}

/** A status that replaces an unlisted one has its usual message, because a hidden resource must not reveal that it exists. */
function messageFor(error: unknown, status: ErrorStatus): string {
  if (error instanceof MalformedId || error instanceof NotFound || error instanceof Forbidden) {
    if (status === 404) return new NotFound().message;
    if (status === 403) return new Forbidden().message;
    if (!(error instanceof MalformedId)) return INVALID_PARAMETERS;
  }
  return error instanceof Failure ? error.message : UNEXPECTED[503];
}
