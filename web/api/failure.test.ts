import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  ApiFailure,
  errorMessage,
  type FieldError,
  FormError,
  messagesByField,
  refusalMessage,
  unwrap,
  waitingTime,
} from './failure.ts';

const failed = (
  status: number,
  headers: Record<string, string> = {},
  errors: FieldError[] = [],
  message = 'Invalid input',
) => new ApiFailure(new Response(null, { status, headers }), { message, errors });

const fieldError = (field: string, message: string): FieldError => ({ field, message });

describe('errorMessage', () => {
  it('lists up to three field errors, each once', () => {
    const short = fieldError('password', 'Too short');
    const known = fieldError('password', 'It is well known.');
    expect(errorMessage(failed(400, {}, [short]))).toBe('Too short.');
    expect(errorMessage(failed(400, {}, [short, known, short]))).toBe('Too short. It is well known.');
    const many = ['a', 'b', 'c', 'd'].map((field) => fieldError(field, `FieldError of ${field}`));
    expect(errorMessage(failed(400, {}, many))).toBe('Invalid input.');
    expect(errorMessage(failed(409))).toBe('Invalid input.');
  });

  it('quotes the request ID of a server error if there is one', () => {
    expect(errorMessage(failed(500, { 'x-request-id': 'r1' }))).toBe(
      'Invalid input. If it happens again, contact your provider and quote request r1.',
    );
    expect(errorMessage(failed(502))).toBe('Invalid input. If it happens again, contact your provider.');
  });

  it('says how long to wait after too many requests', () => {
    const full = 'This install has 3 archives already; one must expire first';
    expect(errorMessage(failed(429, { 'retry-after': '3541' }, [], full))).toBe(
      'This install has 3 archives already; one must expire first. Try again in 60 minutes.',
    );
    const message = 'Too many invitations';
    expect(errorMessage(failed(429, { 'retry-after': '2' }, [], message))).toBe(
      'Too many invitations. Try again in 2 seconds.',
    );
    expect(refusalMessage({ message, retry_after_seconds: 2 })).toBe(
      'Too many invitations. Try again in 2 seconds.',
    );
    expect(refusalMessage({ message: 'Not found', retry_after_seconds: null })).toBe('Not found.');
    expect([1, 2, 120, 121].map(waitingTime)).toEqual(['1 second', '2 seconds', '120 seconds', '3 minutes']);
  });

  it('distinguishes an unreachable server from a bug of the portal', async () => {
    const logged = vi.spyOn(console, 'error').mockReturnValue();
    onTestFinished(() => logged.mockRestore());
    const unreachable = await unwrap(Promise.reject(new TypeError('Failed to fetch'))).catch(errorMessage);
    expect(unreachable).toMatch(/^The server cannot be reached/);
    expect(logged).not.toHaveBeenCalled();
    const mistake = new TypeError('x is not a function');
    expect(errorMessage(mistake)).toMatch(/^Something went wrong in the portal/);
    expect(logged).toHaveBeenCalledWith(mistake);
    expect(errorMessage(new FormError('The passwords do not match.'))).toBe('The passwords do not match.');
  });
});

it('joins the errors of one field, each once', () => {
  const fieldErrors = [
    fieldError('pass', 'Too short'),
    fieldError('email', 'Not an address'),
    fieldError('pass', 'Well known'),
    fieldError('email', 'Not an address'),
    fieldError('pass', 'Too short'),
  ];
  expect(messagesByField(fieldErrors, (field) => (field === 'pass' ? 'password' : field))).toEqual({
    password: 'Too short.\nWell known.',
    email: 'Not an address.',
  });
});

it('replaces field paths with readable names', () => {
  const fieldErrors = [
    fieldError('bucket', 'bucket cannot be empty'),
    fieldError('path_settings.0.path', 'path_settings.0.path is required'),
    fieldError('excluded_paths.3', 'excluded_paths.3 must be a string'),
  ];
  expect(messagesByField(fieldErrors, (field) => field)).toEqual({
    bucket: 'Bucket cannot be empty.',
    'path_settings.0.path': 'Path is required.',
    'excluded_paths.3': 'Excluded paths must be a string.',
  });
  expect(errorMessage(failed(400, {}, fieldErrors.slice(0, 1)))).toBe('Bucket cannot be empty.');
});
