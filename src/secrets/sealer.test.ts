import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSealer } from './sealer.ts';

describe('createSealer', () => {
  const sealer = createSealer(randomBytes(32));

  it('opens what it sealed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 5_000 }), (plain) => {
        expect(sealer.open(sealer.seal(plain))).toBe(plain);
      }),
    );
  });

  it('seals the same text differently each time, without plain text in it', () => {
    const plain = '-----BEGIN PRIVATE KEY-----';
    const sealed = Array.from({ length: 50 }, () => sealer.seal(plain));
    expect(new Set(sealed).size).toBe(50);
    for (const one of sealed) {
      expect(one).toMatch(/^v1\.[\w-]+$/);
      expect(Buffer.from(one.slice(3), 'base64url').toString('latin1')).not.toContain('PRIVATE');
    }
  });

  it('refuses values that were changed, truncated, or sealed with another key', () => {
    const sealed = sealer.seal('secret');
    const bytes = Buffer.from(sealed.slice(3), 'base64url');
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(bytes.readUInt8(at) ^ 1, at);
      expect(() => sealer.open(`v1.${changed.toString('base64url')}`)).toThrow();
      expect(() => sealer.open(`v1.${bytes.subarray(0, at).toString('base64url')}`)).toThrow();
    }
    expect(() => createSealer(randomBytes(32)).open(sealed)).toThrow();
    for (const text of ['', 'v1.', 'v2.abc', 'secret', sealed.slice(3)])
      expect(() => sealer.open(text)).toThrow();
  });

  it('derives one secret for each purpose and key', () => {
    const secret = sealer.derive('backup:one');
    expect(secret).toMatch(/^[\w-]{43}$/);
    expect(sealer.derive('backup:one')).toBe(secret);
    expect(sealer.derive('backup:two')).not.toBe(secret);
    expect(createSealer(randomBytes(32)).derive('backup:one')).not.toBe(secret);
    // Computed by another implementation of HKDF: derived secrets must never change.
    expect(createSealer(Buffer.alloc(32, 7)).derive('backup:x')).toBe(
      'YuWW4tOGfzzR8TZeKYAT9ZtjnQBarD5QzI95Ai317DA',
    );
  });

  it('refuses keys of another length', () => {
    for (const length of [0, 16, 31, 33, 64]) expect(() => createSealer(randomBytes(length))).toThrow();
  });
});
