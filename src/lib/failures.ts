/**
 * The catalogue of failures of a request. Services throw them without knowing HTTP; api/errors.ts maps each to the best status that
 * the endpoint documents.
 */
export class Failure extends Error {
  override name = 'Failure';
}

/** One fault of a request body, as the error envelope carries it (docs/api.md, Errors). */
export interface Fault {
  /** The resource with the field: AccountUser, Site, Installation, Domain, Backup, Cache, SshKey, … */
  resource: string;
  field: string;
  type: 'missing_field' | 'invalid_value' | 'value_unavailable' | 'access_error';
  code: string;
  /** One sentence for the user. */
  message: string;
}

/** The default message above the faults. */
export const INVALID_PARAMETERS = 'Bad request - invalid parameters';

/** Answers list all faults of a body (docs/api.md, Errors), up to this number. */
export const FAULTS_TOLD = 200;

/** The request is invalid; `faults` lists every fault of its body. */
export class InvalidRequest extends Failure {
  override name = 'InvalidRequest';
  readonly faults: Fault[];
  constructor(message: string, faults: Fault[] = []) {
    super(message);
    this.faults = faults;
  }
}

/** An identifier in the path is not a UUID. */
export class MalformedId extends Failure {
  override name = 'MalformedId';
  constructor(resource: string) {
    super(`Invalid ${resource} ID format`);
  }
}

/** The resource does not exist, or the caller may not know that it does. */
export class NotFound extends Failure {
  override name = 'NotFound';
  constructor() {
    super('Resource not found');
  }
}

/** The caller sees the resource but may not do this with it. */
export class Forbidden extends Failure {
  override name = 'Forbidden';
  constructor() {
    super('Insufficient permissions to access this resource');
  }
}

/** The state of the resource does not allow the change, for example because of another operation. */
export class Conflict extends Failure {
  override name = 'Conflict';
}

/** The field of a request that asks for something. */
export interface RequestField {
  /** The resource with the field, as in {@link Fault}. */
  resource: string;
  field: string;
}

/** The host of an install does not do this for it (hosting/policy/capabilities.ts). Repeating the request does not help. */
export class CapabilityUnavailable extends Conflict {
  override name = 'CapabilityUnavailable';
  readonly faults: Fault[];
  /** `field`: what asks for it; the name of the capability, if the whole request does. */
  constructor({ reason, remedy }: { reason: string; remedy: string }, { resource, field }: RequestField) {
    const message = `${reason} ${remedy}`;
    super(message);
    this.faults = [{ resource, field, type: 'value_unavailable', code: 'capability_unavailable', message }];
  }
}

/** The resource is not in the version that the request names in If-Match. */
export class PreconditionFailed extends Failure {
  override name = 'PreconditionFailed';
  constructor() {
    super('Precondition failed - the resource has changed');
  }
}

/** The request is well-formed, but cannot be carried out as it stands. */
export class Unprocessable extends Failure {
  override name = 'Unprocessable';
  readonly faults: Fault[];
  constructor(message: string, faults: Fault[] = []) {
    super(message);
    this.faults = faults;
  }
}

/** A service that the request depends on, such as a host or a certificate authority, failed or did not answer. */
export class UpstreamFailed extends Failure {
  override name = 'UpstreamFailed';
  constructor(
    message = 'A service that Homeport depends on failed - please try again later',
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

/** The request cannot be carried out now; the same request may succeed soon. */
export class Unavailable extends Failure {
  override name = 'Unavailable';
  constructor(message = 'Service temporarily unavailable') {
    super(message);
  }
}

/** The client disconnected, so the work for its request has ended. No one reads the answer. */
export class ClientLeft extends Unavailable {
  override name = 'ClientLeft';
}

/** The requested resource is still being prepared. The same request succeeds afterwards. */
export class BeingPrepared extends Unavailable {
  override name = 'BeingPrepared';
  readonly faults: Fault[];
  constructor(message: string, { resource, field }: RequestField) {
    super(message);
    this.faults = [{ resource, field, type: 'value_unavailable', code: 'being_prepared', message }];
  }
}

export class Unauthenticated extends Failure {
  override name = 'Unauthenticated';
  constructor(message: 'Authentication required' | 'Bad Credentials' | 'Wrong code') {
    super(message);
  }
}

/** The session expired. It was not ended on purpose, so the portal keeps its page until the user signs in again. */
export class SessionExpired extends Unauthenticated {
  override name = 'SessionExpired';
  readonly faults: Fault[] = [
    {
      resource: 'Session',
      field: 'session',
      type: 'access_error',
      code: 'session_expired',
      message: 'The session has expired',
    },
  ];
  constructor() {
    super('Authentication required');
  }
}

/** The request used plain HTTP (docs/api.md, Requests and responses). No endpoint saw it, so every endpoint answers this way. */
export class HttpsRequired extends Failure {
  override name = 'HttpsRequired';
  constructor() {
    super('HTTPS is required');
  }
}

/** A page of another site made the browser send the request. */
export class CrossOrigin extends Failure {
  override name = 'CrossOrigin';
  constructor(publicUrl: string) {
    super(`This can be done from the portal itself only, at ${publicUrl}`);
  }
}

export class RateLimited extends Failure {
  override name = 'RateLimited';
  readonly retryAfterSeconds: number;
  constructor(retryAfterSeconds: number, message = 'Rate limit exceeded - too many requests') {
    super(message);
    this.retryAfterSeconds = Math.max(1, Math.ceil(retryAfterSeconds));
  }
}

/** A name, slot or key that is already in use. */
export function taken(resource: string, field: string, message: string): InvalidRequest {
  return new InvalidRequest(message, [
    { resource, field, type: 'value_unavailable', code: 'taken', message },
  ]);
}

/** The body refers to a resource that the caller may not use; the message does not reveal whether it exists. */
export function notPermitted(resource: string, field: string, message: string): InvalidRequest {
  return new InvalidRequest(message, [
    { resource, field, type: 'access_error', code: 'not_permitted', message },
  ]);
}

export function invalidValue(resource: string, field: string, code: string, message: string): InvalidRequest {
  return new InvalidRequest(message, [{ resource, field, type: 'invalid_value', code, message }]);
}
