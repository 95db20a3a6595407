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

const fault = (field: string, message: string): FieldError => ({ field, message });

describe('what a person is told', () => {
  it('is each fault while they are few, and once what is said twice', () => {
    const short = fault('password', 'Too short');
    const known = fault('password', 'It is well known.');
    expect(errorMessage(failed(400, {}, [short]))).toBe('Too short.');
    expect(errorMessage(failed(400, {}, [short, known, short]))).toBe('Too short. It is well known.');
    const many = ['a', 'b', 'c', 'd'].map((field) => fault(field, `FieldError of ${field}`));
    expect(errorMessage(failed(400, {}, many))).toBe('Invalid input.');
    expect(errorMessage(failed(409))).toBe('Invalid input.');
  });

  it('of a fault of the server has the number that its log knows, where there is one', () => {
    expect(errorMessage(failed(500, { 'x-request-id': 'r1' }))).toBe(
      'Invalid input. If it stays so, tell your provider this number: r1.',
    );
    expect(errorMessage(failed(502))).toBe('Invalid input. If it stays so, tell your provider.');
  });

  it('of too many requests says how long to wait, as exact as somebody needs it', () => {
    expect(errorMessage(failed(429, { 'retry-after': '3541' }))).toBe(
      'Too many requests. Try again in 60 minutes.',
    );
    const told = 'Too many invitations - please wait and try again';
    expect(errorMessage(failed(429, { 'retry-after': '2' }, [], told))).toBe(
      'Too many invitations. Try again in 2 seconds.',
    );
    expect(refusalMessage({ message: told, retry_after_seconds: 2 })).toBe(
      'Too many invitations. Try again in 2 seconds.',
    );
    expect(refusalMessage({ message: 'Not found', retry_after_seconds: null })).toBe('Not found.');
    expect([1, 2, 120, 121].map(waitingTime)).toEqual(['1 second', '2 seconds', '120 seconds', '3 minutes']);
  });

  it('tells a server that does not answer from a fault of the pages', async () => {
    const said = vi.spyOn(console, 'error').mockReturnValue();
    onTestFinished(() => said.mockRestore());
    const unreachable = await unwrap(Promise.reject(new TypeError('Failed to fetch'))).catch(errorMessage);
    expect(unreachable).toMatch(/^The server cannot be reached/);
    expect(said).not.toHaveBeenCalled();
    const mistake = new TypeError('x is not a function');
    expect(errorMessage(mistake)).toMatch(/^This has failed by a fault of the portal’s own/);
    expect(said).toHaveBeenCalledWith(mistake);
    expect(errorMessage(new FormError('The two are not the same.'))).toBe('The two are not the same.');
  });
});

it('several faults of one field stand there one after the other, and each once', () => {
  const faults = [
    fault('pass', 'Too short'),
    fault('email', 'Not an address'),
    fault('pass', 'Well known'),
    fault('email', 'Not an address'),
    fault('pass', 'Too short'),
  ];
  expect(messagesByField(faults, (field) => (field === 'pass' ? 'password' : field))).toEqual({
    password: 'Too short. Well known.',
    email: 'Not an address.',
  });
});

it('names a field as people know it', () => {
  const faults = [
    fault('bucket', 'bucket cannot be empty'),
    fault('path_settings.0.path', 'path_settings.0.path is required'),
    fault('excluded_paths.3', 'excluded_paths.3 must be a string'),
  ];
  expect(messagesByField(faults, (field) => field)).toEqual({
    bucket: 'Bucket cannot be empty.',
    'path_settings.0.path': 'Path is required.',
    'excluded_paths.3': 'Excluded paths must be a string.',
  });
  expect(errorMessage(failed(400, {}, faults.slice(0, 1)))).toBe('Bucket cannot be empty.');
});
