import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import ssh2 from 'ssh2';
import { describe, expect, test } from 'vitest';
import { anyCharacter } from '../../../../test/any-character.ts';
import { has } from '../../../../test/missing-programs.ts';
import { rounds } from '../../../../test/rounds.ts';
import { type PublicKey, type PublicKeyFault, parsePublicKey } from './public-key.ts';

function accepted(text: string): PublicKey {
  const result = parsePublicKey(text);
  if (!result.ok) throw new Error(`refused: ${result.reason}`);
  return result.key;
}

function reason(text: string): PublicKeyFault | 'accepted' {
  const result = parsePublicKey(text);
  return result.ok ? 'accepted' : result.reason;
}

function wire(...fields: (string | Buffer)[]): Buffer {
  return Buffer.concat(
    fields.flatMap((field) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(Buffer.byteLength(field));
      return [length, Buffer.from(field)];
    }),
  );
}

function mpint(bytes: Buffer): Buffer {
  return (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.of(0), bytes]) : bytes;
}

function lineOf(blob: Buffer, type: string, comment = ''): string {
  return `${type} ${blob.toString('base64')} ${comment}`.trim();
}

function part(key: KeyObject, name: 'x' | 'y' | 'n' | 'e'): Buffer {
  return Buffer.from(key.export({ format: 'jwk' })[name] ?? '', 'base64url');
}

function ed25519Blob(): Buffer {
  return wire('ssh-ed25519', part(generateKeyPairSync('ed25519').publicKey, 'x'));
}

function ecdsaBlob(curve: string, jwk: string): Buffer {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: jwk });
  return wire(
    `ecdsa-sha2-${curve}`,
    curve,
    Buffer.concat([Buffer.of(4), part(publicKey, 'x'), part(publicKey, 'y')]),
  );
}

/** A random odd number. Nothing here factors it, and to look for primes takes long. */
function modulusOf(bits: number): Buffer {
  const bytes = randomBytes(Math.ceil(bits / 8));
  const top = (bits - 1) % 8;
  bytes[0] = ((bytes[0] ?? 0) & (2 ** top - 1)) | (2 ** top);
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 1;
  return bytes;
}

function rsaBlob(bits: number): Buffer {
  return wire('ssh-rsa', Buffer.of(1, 0, 1), mpint(modulusOf(bits)));
}

const ED25519 = ed25519Blob();
const P256 = ecdsaBlob('nistp256', 'P-256');
const RSA = rsaBlob(2048);
const SAMPLES = [
  { type: 'ssh-ed25519', bits: 256, blob: ED25519 },
  { type: 'ecdsa-sha2-nistp256', bits: 256, blob: P256 },
  { type: 'ecdsa-sha2-nistp384', bits: 384, blob: ecdsaBlob('nistp384', 'P-384') },
  { type: 'ecdsa-sha2-nistp521', bits: 521, blob: ecdsaBlob('nistp521', 'P-521') },
  { type: 'ssh-rsa', bits: 2048, blob: RSA },
  { type: 'ssh-rsa', bits: 2050, blob: rsaBlob(2050) },
];

describe('accepted keys', () => {
  test.each(SAMPLES)('$type of $bits bits', ({ type, bits, blob }) => {
    const key = accepted(lineOf(blob, type, 'someone@example.com'));
    expect(key).toMatchObject({
      type,
      bits,
      comment: 'someone@example.com',
      line: `${type} ${blob.toString('base64')}`,
    });
    expect(key.fingerprintMd5).toMatch(/^[0-9a-f]{2}(:[0-9a-f]{2}){15}$/);
    expect(key.fingerprintSha256).toMatch(/^[A-Za-z0-9+/]{43}$/);
  });

  test('the comment may be missing, contain spaces and Unicode, and is trimmed', () => {
    const line = lineOf(ED25519, 'ssh-ed25519');
    expect(accepted(`${line}\n`).comment).toBe('');
    expect(accepted(`\t ${line}\t Zoë's  laptop 💻 \r\n`).comment).toBe("Zoë's  laptop 💻");
    expect(accepted(`${line} ${'x'.repeat(1024)}`).comment).toHaveLength(1024);
  });

  test('several blanks between fields give the canonical line', () => {
    const base64 = ED25519.toString('base64');
    expect(accepted(`ssh-ed25519 \t${base64}`).line).toBe(`ssh-ed25519 ${base64}`);
  });

  test.skipIf(!has('ssh-keygen'))('fingerprints, sizes and comments are those of ssh-keygen', () => {
    const folder = mkdtempSync(join(tmpdir(), 'public-key-'));
    try {
      const few: [string, number][] = [
        ['ed25519', 256],
        ['ecdsa', 521],
        ['rsa', 2048],
      ];
      const more: [string, number][] = [
        ['ecdsa', 256],
        ['ecdsa', 384],
        ['rsa', 3072],
      ];
      for (const [type, bits] of rounds(few, [...few, ...more])) {
        const file = join(folder, `${type}-${bits}`);
        execFileSync('ssh-keygen', [
          '-q',
          '-N',
          '',
          '-t',
          `${type}`,
          '-b',
          `${bits}`,
          '-C',
          'a comment',
          '-f',
          file,
        ]);
        const key = accepted(readFileSync(`${file}.pub`, 'utf8'));
        expect(listed(`${file}.pub`, 'sha256')).toMatchObject([
          String(key.bits),
          `SHA256:${key.fingerprintSha256}`,
          'a',
          'comment',
          expect.any(String),
        ]);
        expect(listed(`${file}.pub`, 'md5')[1]).toBe(`MD5:${key.fingerprintMd5}`);
        expect(key.comment).toBe('a comment');
        expect(reason(readFileSync(file, 'utf8'))).toBe('private_key');
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

function listed(file: string, hash: string): string[] {
  return execFileSync('ssh-keygen', ['-l', '-E', hash, '-f', file], { encoding: 'utf8' }).split(' ');
}

const SECURITY_KEY = wire('sk-ssh-ed25519@openssh.com', ED25519.subarray(-32), 'ssh:');

describe('pasted texts', () => {
  const line = lineOf(ED25519, 'ssh-ed25519', 'ada@laptop');
  const base64 = ED25519.toString('base64');
  const framed = (...headers: string[]) =>
    [
      '---- BEGIN SSH2 PUBLIC KEY ----',
      ...headers,
      base64.slice(0, 40),
      base64.slice(40),
      '---- END SSH2 PUBLIC KEY ----',
    ].join('\r\n');

  test.each([
    ['lines of comment', `# my key\n\n${line}\n# the end`],
    ['a wrapped key', `ssh-ed25519 ${base64.slice(0, 40)}\n${base64.slice(40)} ada@laptop`],
    [
      'a wrapped key with its comment in a line',
      `ssh-ed25519 ${base64.slice(0, 30)}\r\n  ${base64.slice(30)}\r\nada@laptop`,
    ],
    ['RFC 4716', framed('Comment: "ada@laptop"')],
    ['RFC 4716 with a long header', framed('x-mark: a\\', 'b', 'Comment: ada@\\', 'laptop')],
  ])('%s', (_name, text) => {
    expect(accepted(text)).toMatchObject({ line: `ssh-ed25519 ${base64}`, comment: 'ada@laptop' });
  });

  test.skipIf(!has('ssh-keygen'))('a key that ssh-keygen exports in the form of RFC 4716', () => {
    const folder = mkdtempSync(join(tmpdir(), 'homeport-keys-'));
    try {
      const file = join(folder, 'key');
      execFileSync('ssh-keygen', [
        '-q',
        '-t',
        'ecdsa',
        '-b',
        '521',
        '-N',
        '',
        '-C',
        'ada@laptop',
        '-f',
        file,
      ]);
      const exported = execFileSync('ssh-keygen', ['-e', '-f', `${file}.pub`], { encoding: 'utf8' });
      expect(accepted(exported).line).toBe(accepted(readFileSync(`${file}.pub`, 'utf8')).line);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('security keys', () => {
  const parse = (blob: Buffer, type: string) => parsePublicKey(lineOf(blob, type), { securityKeys: true });

  test('are accepted if OpenSSH checks them', () => {
    const ecdsa = wire('sk-ecdsa-sha2-nistp256@openssh.com', 'nistp256', P256.subarray(-65), 'ssh:work');
    for (const [blob, type] of [
      [SECURITY_KEY, 'sk-ssh-ed25519@openssh.com'],
      [ecdsa, 'sk-ecdsa-sha2-nistp256@openssh.com'],
    ] as const) {
      expect(parse(blob, type)).toMatchObject({ ok: true, key: { type, bits: 256 } });
    }
  });

  test.each([
    ['no application', wire('sk-ssh-ed25519@openssh.com', ED25519.subarray(-32))],
    ['another application', wire('sk-ssh-ed25519@openssh.com', ED25519.subarray(-32), 'https://example.com')],
    ['more fields', wire('sk-ssh-ed25519@openssh.com', ED25519.subarray(-32), 'ssh:', 'x')],
    ['a point that is none', wire('sk-ssh-ed25519@openssh.com', Buffer.alloc(32, 0xff), 'ssh:')],
  ])('are malformed with %s', (_name, blob) => {
    expect(parse(blob, 'sk-ssh-ed25519@openssh.com')).toEqual({ ok: false, reason: 'malformed' });
  });
});

describe('refused texts', () => {
  const line = lineOf(ED25519, 'ssh-ed25519');
  const base64 = ED25519.toString('base64');
  const cases: [string, string, PublicKeyFault][] = [
    ['nothing', '', 'empty'],
    ['blanks', ' \n\t', 'empty'],
    ['a type alone', 'ssh-ed25519', 'malformed'],
    ['the base64 alone', base64, 'malformed'],
    ['two keys', `${line}\n${line}`, 'several_keys'],
    ['two keys in one line', `${line} ${line}`, 'several_keys'],
    ['a key and other text', `${line}\nHere is my key\n${base64}`, 'malformed'],
    [
      'an RFC 4716 key that is none',
      '---- BEGIN SSH2 PUBLIC KEY ----\nAAAA\n---- END SSH2 PUBLIC KEY ----',
      'several_lines',
    ],
    ['a PEM private key', '-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n-----END', 'private_key'],
    ['a PuTTY private key', 'PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none', 'private_key'],
    ['NUL in the comment', `${line} a\0b`, 'control_character'],
    ['NUL in the key', `ssh-ed25519 ${base64.slice(0, 20)}\0${base64.slice(20)}`, 'control_character'],
    ['an escape sequence', `${line} \x1b[31mred`, 'control_character'],
    ['a C1 control', `${line} a\u0085b`, 'control_character'],
    ['a Unicode line end', `${line} a\u2028b`, 'control_character'],
    ['a bidirectional override', `${line} a\u202eb`, 'control_character'],
    ['a lone surrogate', `${line} a\ud800b`, 'control_character'],
    ['options', `command="/bin/sh" ${line}`, 'options'],
    ['an option', `restrict ${line}`, 'options'],
    ['a certificate', `ssh-ed25519-cert-v01@openssh.com ${base64}`, 'certificate'],
    ['a security key', lineOf(SECURITY_KEY, 'sk-ssh-ed25519@openssh.com'), 'security_key'],
    ['dss', `ssh-dss ${wire('ssh-dss', 'x').toString('base64')}`, 'unsupported_type'],
    ['ed448', `ssh-ed448 ${base64}`, 'unsupported_type'],
    ['upper case', line.replace('ssh-', 'SSH-'), 'malformed'],
    ['a name of Object.prototype', `toString ${base64}`, 'malformed'],
    ['another type outside than inside', `ssh-rsa ${base64}`, 'malformed'],
    ['another curve outside than inside', lineOf(P256, 'ecdsa-sha2-nistp384'), 'malformed'],
    ['base64 that is cut', `ssh-ed25519 ${base64.slice(0, -4)}`, 'malformed'],
    ['base64url', lineOf(ED25519, 'ssh-ed25519').replace('AAAAC3', 'AA-_C3'), 'malformed'],
    ['a foreign character', `ssh-ed25519 ${base64.slice(0, 30)}*${base64.slice(30)}`, 'malformed'],
    ['a missing pad', lineOf(P256, 'ecdsa-sha2-nistp256').replace(/=+$/, ''), 'malformed'],
    ['a long comment', `${line} ${'é'.repeat(513)}`, 'comment_too_long'],
    ['a long line', `${line} ${'x'.repeat(16 * 1024)}`, 'too_long'],
  ];
  test.each(cases)('%s', (_name, text, expected) => expect(reason(text)).toBe(expected));

  const trailing = Buffer.concat([ED25519, Buffer.of(0)]);
  const point = part(generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey, 'x');
  const modulus = modulusOf(2048);
  const even = Buffer.concat([modulus.subarray(0, -1), Buffer.of((modulus.at(-1) ?? 0) & 0xfe)]);
  const e = Buffer.of(1, 0, 1);
  const blobs: [string, Buffer, string, PublicKeyFault][] = [
    ['a trailing byte', trailing, 'ssh-ed25519', 'malformed'],
    ['a trailing field', Buffer.concat([ED25519, wire('')]), 'ssh-ed25519', 'malformed'],
    ['31 bytes', wire('ssh-ed25519', Buffer.alloc(31, 7)), 'ssh-ed25519', 'malformed'],
    ['33 bytes', wire('ssh-ed25519', Buffer.alloc(33, 7)), 'ssh-ed25519', 'malformed'],
    [
      'a compressed point',
      wire('ecdsa-sha2-nistp256', 'nistp256', Buffer.concat([Buffer.of(2), point])),
      'ecdsa-sha2-nistp256',
      'malformed',
    ],
    [
      'a point off the curve',
      wire('ecdsa-sha2-nistp256', 'nistp256', Buffer.concat([Buffer.of(4), point, point])),
      'ecdsa-sha2-nistp256',
      'malformed',
    ],
    [
      'the point at infinity',
      wire('ecdsa-sha2-nistp256', 'nistp256', Buffer.of(0)),
      'ecdsa-sha2-nistp256',
      'malformed',
    ],
    [
      'another curve name',
      wire('ecdsa-sha2-nistp256', 'nistp384', Buffer.alloc(65, 4)),
      'ecdsa-sha2-nistp256',
      'malformed',
    ],
    ['1024 bits', rsaBlob(1024), 'ssh-rsa', 'too_short'],
    [
      '2047 bits',
      wire('ssh-rsa', e, Buffer.concat([Buffer.of(0x7f), modulus.subarray(1)])),
      'ssh-rsa',
      'too_short',
    ],
    [
      '16392 bits',
      wire('ssh-rsa', e, Buffer.concat([Buffer.of(0), Buffer.alloc(2049, 0xff)])),
      'ssh-rsa',
      'too_large',
    ],
    ['exponent 0', wire('ssh-rsa', Buffer.alloc(0), mpint(modulus)), 'ssh-rsa', 'malformed'],
    ['exponent 1', wire('ssh-rsa', Buffer.of(1), mpint(modulus)), 'ssh-rsa', 'malformed'],
    ['an even exponent', wire('ssh-rsa', Buffer.of(2), mpint(modulus)), 'ssh-rsa', 'malformed'],
    ['an exponent of 72 bits', wire('ssh-rsa', Buffer.alloc(9, 1), mpint(modulus)), 'ssh-rsa', 'malformed'],
    ['a negative modulus', wire('ssh-rsa', e, modulus), 'ssh-rsa', 'malformed'],
    ['an even modulus', wire('ssh-rsa', e, mpint(even)), 'ssh-rsa', 'malformed'],
    ['a superfluous zero', wire('ssh-rsa', Buffer.of(0, 1, 0, 1), mpint(modulus)), 'ssh-rsa', 'malformed'],
    ['exponent and modulus swapped', wire('ssh-rsa', mpint(modulus), e), 'ssh-rsa', 'malformed'],
    [
      'a private ed25519 part',
      Buffer.concat([ED25519, wire(Buffer.alloc(64, 1))]),
      'ssh-ed25519',
      'malformed',
    ],
  ];
  test.each(blobs)('%s', (_name, blob, type, expected) => expect(reason(lineOf(blob, type))).toBe(expected));

  // The eight points of small order have five y coordinates; those with x ≠ 0 come with either sign.
  test.each([
    ['order 1', '01', '00'],
    ['order 2', 'ec', '7f'],
    ['order 4', '00', '00'],
    ['order 4, other sign', '00', '80'],
  ])('an ed25519 point of %s', (_name, first, last) => {
    const middle = first === 'ec' ? 'ff' : '00';
    const bytes = Buffer.from(first + middle.repeat(30) + last, 'hex');
    expect(reason(lineOf(wire('ssh-ed25519', bytes), 'ssh-ed25519'))).toBe('malformed');
  });
  test.each([
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
  ])('an ed25519 point of order 8: %s', (hex) => {
    expect(reason(lineOf(wire('ssh-ed25519', Buffer.from(hex, 'hex')), 'ssh-ed25519'))).toBe('malformed');
  });
  test('an ed25519 point with y not reduced, or off the curve', () => {
    const notReduced = Buffer.concat([Buffer.of(0xf0), Buffer.alloc(30, 0xff), Buffer.of(0x7f)]);
    expect(reason(lineOf(wire('ssh-ed25519', notReduced), 'ssh-ed25519'))).toBe('malformed');
    // y = 2 has no x (RFC 8032 section 5.1.3).
    const off = Buffer.concat([Buffer.of(2), Buffer.alloc(31)]);
    expect(reason(lineOf(wire('ssh-ed25519', off), 'ssh-ed25519'))).toBe('malformed');
  });
});

describe('properties', () => {
  test('any ed25519 and P-256 key is accepted', () => {
    fc.assert(
      fc.property(fc.constant(null), () => {
        expect(reason(lineOf(ed25519Blob(), 'ssh-ed25519'))).toBe('accepted');
        expect(reason(lineOf(ecdsaBlob('nistp256', 'P-256'), 'ecdsa-sha2-nistp256'))).toBe('accepted');
      }),
      { numRuns: 50 },
    );
  });

  test('arbitrary text never throws and is never accepted', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 300 }), (text) => {
        expect(parsePublicKey(text).ok).toBe(false);
        expect(parsePublicKey(`ssh-ed25519 ${text}`).ok).toBe(false);
      }),
      { numRuns: rounds(30, 100) },
    );
  });

  test('a blob that was cut or extended is never accepted', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...SAMPLES),
        fc.nat(),
        fc.uint8Array({ minLength: 1 }),
        (sample, cut, more) => {
          const { blob, type } = sample;
          expect(parsePublicKey(lineOf(blob.subarray(0, cut % blob.length), type)).ok).toBe(false);
          expect(parsePublicKey(lineOf(Buffer.concat([blob, more]), type)).ok).toBe(false);
        },
      ),
    );
  });

  test('a changed type, length or point on a NIST curve is never accepted', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...SAMPLES.slice(1, 4)),
        fc.nat(),
        fc.nat({ max: 7 }),
        (sample, at, bit) => {
          const blob = Buffer.from(sample.blob);
          const index = at % blob.length;
          blob[index] = (blob[index] ?? 0) ^ (1 << bit);
          expect(parsePublicKey(lineOf(blob, sample.type)).ok).toBe(false);
        },
      ),
    );
  });

  test('a mutated key that is accepted still has the structure of its type', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...SAMPLES),
        fc.nat(),
        fc.uint8Array({ minLength: 1, maxLength: 8 }),
        (sample, at, bytes) => {
          const blob = Buffer.from(sample.blob);
          const start = at % blob.length;
          Buffer.from(bytes).copy(blob, start);
          const result = parsePublicKey(lineOf(blob, sample.type));
          if (!result.ok) return;
          const peer = ssh2.utils.parseKey(result.key.line);
          if (peer instanceof Error || Array.isArray(peer)) throw new Error('the SSH library refuses it');
          // The library rebuilds the key from its parts: equal bytes prove that nothing is hidden between them.
          expect(peer.getPublicSSH().toString('base64')).toBe(blob.toString('base64'));
          expect(peer.type).toBe(sample.type);
          expect(Math.abs(result.key.bits - sample.bits)).toBeLessThan(16);
        },
      ),
      { numRuns: 500 },
    );
  });
});
