import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { keyLine, parseKeyQuestion } from './key-question.ts';

/** The blob of RFC 8709 section 4, and its fingerprint as ssh-keygen shows it. */
const KEY = 'AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl';
const FINGERPRINT = '+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU';

describe('a question', () => {
  test('is the connection, the user and the key, whose fingerprint is computed here', () => {
    expect(parseKeyQuestion(`4711 my-shop ssh-ed25519 ${KEY}`)).toEqual({
      monitor: 4711,
      user: 'my-shop',
      type: 'ssh-ed25519',
      key: KEY,
      fingerprintSha256: FINGERPRINT,
    });
  });

  test.each([
    'ssh-rsa',
    'ecdsa-sha2-nistp256',
    'ecdsa-sha2-nistp521',
    'sk-ssh-ed25519@openssh.com',
    'sk-ecdsa-sha2-nistp256@openssh.com',
  ])('may be about a key of type %s', (type) => {
    expect(parseKeyQuestion(`1 shop ${type} ${KEY}`)?.type).toBe(type);
  });

  test.each([
    '',
    `shop ssh-ed25519 ${KEY}`,
    `-1 shop ssh-ed25519 ${KEY}`,
    `1 ../shop ssh-ed25519 ${KEY}`,
    `1 Shop ssh-ed25519 ${KEY}`,
    `1 shop ssh-ed25519 ${KEY} more`,
    `1 shop ssh-ed25519 "${KEY}"`,
    '1 shop ssh-ed25519 ',
    `1 shop ssh-dss ${KEY}`,
    // It has the fingerprint of the key that it certifies, and says more than that.
    `1 shop ssh-ed25519-cert-v01@openssh.com ${KEY}`,
    `1 shop command="x" ${KEY}`,
    `1 shop ssh-ed25519\n${KEY}`,
  ])('is not %j', (line) => {
    expect(parseKeyQuestion(line)).toBeNull();
  });
});

test('the line lets in for a session and for nothing else', () => {
  expect(keyLine({ type: 'ssh-ed25519', key: KEY })).toBe(`restrict,pty ssh-ed25519 ${KEY}\n`);
});

test('a long RSA key has its place in a question', () => {
  // As long as one of 4096 bits, which takes a second to make.
  const key = randomBytes(550).toString('base64');
  expect(parseKeyQuestion(`1 shop ssh-rsa ${key}`)?.key).toBe(key);
});
