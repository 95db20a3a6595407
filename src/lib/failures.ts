/**
 * The catalogue of what can go wrong in a request. Services throw these and know nothing of HTTP; api/errors.ts turns
 * each into the best status that the endpoint's row lists.
 */
export class Failure extends Error {
  override name = 'Failure';
}

/** One fault of a request body, as the error envelope carries it (specification, Errors; gaps section 2). */
export interface Fault {
  /** What the field belongs to: AccountUser, Site, Installation, Domain, Backup, Cache, SshKey, … */
  resource: string;
  field: string;
  type: 'missing_field' | 'invalid_value' | 'value_unavailable' | 'access_error';
  code: string;
  /** One sentence for the person who sent it. */
  message: string;
}

/** What is said above the faults when no more telling sentence is known. */
export const INVALID_PARAMETERS = 'Bad request - invalid parameters';

/** The request cannot be carried out as it is; `faults` holds all that is wrong with its body. */
export class InvalidRequest extends Failure {
  override name = 'InvalidRequest';
  readonly faults: Fault[];
  constructor(message: string, faults: Fault[] = []) {
    super(message);
    this.faults = faults;
  }
}

/** An identifier in the path is no UUID. */
export class MalformedId extends Failure {
  override name = 'MalformedId';
  constructor(thing: string) {
    super(`Invalid ${thing} ID format`);
  }
}

/** There is no such thing, or the caller must not know that there is. */
export class NotFound extends Failure {
  override name = 'NotFound';
  constructor() {
    super('Resource not found');
  }
}

/** The caller sees the thing but may not do this with it. */
export class Forbidden extends Failure {
  override name = 'Forbidden';
  constructor() {
    super('Insufficient permissions to access this resource');
  }
}

export class Unauthenticated extends Failure {
  override name = 'Unauthenticated';
  constructor(message: 'Authentication required' | 'Bad Credentials' | 'Wrong code') {
    super(message);
  }
}

/** It came by plain HTTP (gaps section 1), and got as far as no endpoint: whatever an endpoint lists, this is said. */
export class HttpsRequired extends Failure {
  override name = 'HttpsRequired';
  constructor() {
    super('HTTPS is required');
  }
}

/** A page of another site made the browser send it. */
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

/** A name, slot or key that somebody has already. */
export function taken(resource: string, field: string, message: string): InvalidRequest {
  return new InvalidRequest(message, [
    { resource, field, type: 'value_unavailable', code: 'taken', message },
  ]);
}

/** The body refers to something that the caller may not use; whether it exists is not said. */
export function notPermitted(resource: string, field: string, message: string): InvalidRequest {
  return new InvalidRequest(message, [
    { resource, field, type: 'access_error', code: 'not_permitted', message },
  ]);
}

export function invalidValue(resource: string, field: string, code: string, message: string): InvalidRequest {
  return new InvalidRequest(message, [{ resource, field, type: 'invalid_value', code, message }]);
}
