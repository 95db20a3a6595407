import { expect, it } from 'vitest';
import { systemRandomness } from '../lib/ids.ts';
import { hashSecret, newSecret } from './random-secret.ts';

it('a random secret has at least 128 bits and needs no quoting', () => {
  const secrets = Array.from({ length: 100 }, () => newSecret(systemRandomness));
  expect(new Set(secrets).size).toBe(100);
  for (const secret of secrets) {
    expect(secret).toMatch(/^[\w-]+$/);
    expect(Buffer.from(secret, 'base64url').length * 8).toBeGreaterThanOrEqual(128);
    expect(hashSecret(secret)).toMatch(/^[0-9a-f]{64}$/);
  }
});
