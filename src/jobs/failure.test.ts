import { describe, expect, it } from 'vitest';
import { AttemptTimeout, describeFailure, unexpected } from './failure.ts';
import { PermanentFailure, Postponed } from './job.ts';

const failureOf = (error: unknown) => describeFailure(error, 'j1');

describe('the report of a failure', () => {
  it('shows the customer only messages written for users', () => {
    expect(failureOf(new Error('password authentication failed for "root"')).reason).toBe(unexpected('j1'));
    expect(failureOf(new PermanentFailure('The bucket is empty.')).reason).toBe('The bucket is empty.');
    expect(failureOf(new AttemptTimeout(90_000)).reason).toBe('It took longer than 90 seconds.');
    expect(failureOf(new Postponed('The host is away.')).reason).toBe('The host is away.');
    expect(failureOf(new PermanentFailure('')).reason).toBe(unexpected('j1'));
  });

  it('names a full disk, which no attempt within minutes finds empty', () => {
    const cause = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    expect(failureOf(new Error('the backup could not be written', { cause }))).toMatchObject({
      permanent: true,
      reason: 'The disk of the machine is full, so nothing could be stored.',
      code: 'disk_full',
      line: expect.stringContaining('ENOSPC'),
    });
    expect(failureOf(new PermanentFailure('The bucket is empty.', { cause })).reason).toBe(
      'The bucket is empty.',
    );
  });

  it('names the error and its causes for the operator, in one line without the stack', () => {
    const cause = new Error('connect ECONNREFUSED 127.0.0.1:9\n    at somewhere');
    const error = new TypeError('fetch failed', { cause });
    expect(failureOf(error).line).toBe(
      'TypeError: fetch failed; caused by Error: connect ECONNREFUSED 127.0.0.1:9',
    );
    expect(failureOf('only a string\r\nof two lines').line).toBe('only a string');
  });

  it('mentions a repeated cause once', () => {
    const gone = new PermanentFailure('There is no snapshot.', { cause: new Error('There is no snapshot.') });
    expect(failureOf(gone).line).toBe('There is no snapshot.');
  });

  it('uses the code if Node leaves the message empty', () => {
    const error = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' });
    expect(failureOf(error).line).toBe('AggregateError: ECONNREFUSED');
  });

  it('ends for circular causes and long messages', () => {
    const error = new Error('round and round');
    error.cause = error;
    expect(failureOf(error).line.match(/round and round/g)).toHaveLength(3);
    expect(failureOf(new Error('x'.repeat(10_000))).line).toHaveLength(500);
  });

  it('removes credentials in URLs, and control characters', () => {
    expect(failureOf(new Error('GET https://key:secret@s3.example/x \u0007failed')).line).toBe(
      'Error: GET https://***@s3.example/x  failed',
    );
  });
});
