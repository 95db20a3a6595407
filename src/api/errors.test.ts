import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  Conflict,
  Failure,
  Forbidden,
  HttpsRequired,
  InvalidRequest,
  invalidValue,
  MalformedId,
  NotFound,
  notPermitted,
  PreconditionFailed,
  RateLimited,
  taken,
  Unauthenticated,
  Unprocessable,
  UpstreamFailed,
} from '../lib/failures.ts';
import { type ErrorStatus, errorAnswer } from './errors.ts';

const SECRET = 'what only the log may tell';

/** Every kind of error that a handler could throw. */
const thrown: unknown[] = [
  new MalformedId('site'),
  new NotFound(),
  new Forbidden(),
  new InvalidRequest('A sentence'),
  invalidValue('Site', 'name', 'code', 'A sentence'),
  taken('Site', 'name', 'A sentence'),
  notPermitted('Site', 'name', 'A sentence'),
  new Unauthenticated('Bad Credentials'),
  new RateLimited(3),
  new Conflict('A sentence'),
  new PreconditionFailed(),
  new Unprocessable('A sentence'),
  new UpstreamFailed('A sentence', new Error(SECRET)),
  new Failure(SECRET),
  new Error(SECRET),
  new TypeError(SECRET),
  Object.assign(new Error(SECRET), { statusCode: 200, status: 418, code: 'EACCES' }),
  SECRET,
  { message: SECRET },
  null,
  undefined,
];
const optional: ErrorStatus[] = [400, 401, 403, 404, 409, 412, 422, 429, 500, 502];

describe('errorAnswer', () => {
  it('answers every error with a status of the row, and hides internal causes', () => {
    fc.assert(
      fc.property(fc.constantFrom(...thrown), fc.subarray(optional), (error, listed) => {
        const row: ErrorStatus[] = [...listed, 503];
        const { status, envelope } = errorAnswer(error, row);
        expect(row).toContain(status);
        expect(envelope.message).not.toBe('');
        expect(JSON.stringify(envelope)).not.toContain(SECRET);
        expect(JSON.stringify(envelope)).not.toMatch(/\bat .*:\d+:\d+/);
      }),
      { numRuns: 2_000 },
    );
  });

  // docs/api.md, Requests and responses: the order of preference of each kind of error
  it.each<[string, Failure, ErrorStatus[], ErrorStatus, string]>([
    ['a malformed id', new MalformedId('site'), [400, 403, 404, 503], 400, 'Invalid site ID format'],
    ['a malformed id, no 400', new MalformedId('site'), [403, 404, 503], 404, 'Resource not found'],
    [
      'a malformed id, only 403',
      new MalformedId('site'),
      [403, 503],
      403,
      'Insufficient permissions to access this resource',
    ],
    ['a missing thing', new NotFound(), [400, 403, 404, 503], 404, 'Resource not found'],
    [
      'a missing thing, no 404',
      new NotFound(),
      [400, 403, 503],
      403,
      'Insufficient permissions to access this resource',
    ],
    ['a conflict', new Conflict('In use'), [400, 409, 503], 409, 'In use'],
    ['a conflict, no 409', new Conflict('In use'), [400, 503], 400, 'In use'],
    [
      'a changed resource',
      new PreconditionFailed(),
      [400, 409, 412, 503],
      412,
      'Precondition failed - the resource has changed',
    ],
    ['an unprocessable request', new Unprocessable('Not so'), [400, 422, 503], 422, 'Not so'],
    ['an unprocessable request, no 422', new Unprocessable('Not so'), [400, 503], 400, 'Not so'],
    ['a failed upstream', new UpstreamFailed('No answer'), [500, 502, 503], 502, 'No answer'],
    ['a failed upstream, no 502', new UpstreamFailed('No answer'), [500, 503], 503, 'No answer'],
    ['a missing thing, only 400', new NotFound(), [400, 503], 400, 'Bad request - invalid parameters'],
    [
      'no permission',
      new Forbidden(),
      [400, 403, 404, 503],
      403,
      'Insufficient permissions to access this resource',
    ],
    ['no permission, no 403', new Forbidden(), [400, 404, 503], 404, 'Resource not found'],
    ['no permission, only 400', new Forbidden(), [400, 503], 400, 'Bad request - invalid parameters'],
    ['bad credentials', new Unauthenticated('Bad Credentials'), [401, 503], 401, 'Bad Credentials'],
  ])('%s', (_, error, listed, status, message) => {
    const retry = status === 503 ? { retryAfterSeconds: 5 } : {};
    expect(errorAnswer(error, listed)).toEqual({ status, envelope: { message }, ...retry });
  });

  it('answers unexpected errors with 500 if the row lists it, otherwise 503', () => {
    expect(errorAnswer(new Error(SECRET), [400, 500, 503])).toEqual({
      status: 500,
      envelope: { message: 'Internal server error - please try again later' },
    });
    expect(errorAnswer(new Error(SECRET), [400, 503])).toEqual({
      status: 503,
      envelope: { message: 'Service temporarily unavailable' },
      retryAfterSeconds: 5,
    });
  });

  it('lists the faults of a body', () => {
    const { envelope } = errorAnswer(taken('Site', 'name', 'It is taken'), [400, 503]);
    expect(envelope).toEqual({
      message: 'It is taken',
      errors: [
        { resource: 'Site', field: 'name', type: 'value_unavailable', code: 'taken', message: 'It is taken' },
      ],
    });
  });

  it('sends Retry-After in whole seconds, at least 1', () => {
    for (const [seconds, said] of [
      [0, 1],
      [0.2, 1],
      [4.1, 5],
      [60, 60],
    ] as const) {
      expect(errorAnswer(new RateLimited(seconds), [429, 503])).toMatchObject({
        status: 429,
        retryAfterSeconds: said,
      });
    }
  });

  it('refuses plain HTTP with 403, whatever the row lists', () => {
    expect(errorAnswer(new HttpsRequired(), [401, 404, 429, 503])).toEqual({
      status: 403,
      envelope: { message: 'HTTPS is required' },
    });
  });
});
