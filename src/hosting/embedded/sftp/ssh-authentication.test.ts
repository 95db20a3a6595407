import { EventEmitter } from 'node:events';
import pino from 'pino';
import ssh2, { type PublicKeyAuthContext } from 'ssh2';
import { expect, test } from 'vitest';
import { newSshKey } from '../../../../test/ssh-key.ts';
import { authenticate } from './ssh-authentication.ts';

const login = { install: { id: 'id', name: 'shop' }, userId: 'ada' };
const questions = { sshLogin: async () => login };
const log = pino({ level: 'silent' });
const ed25519 = parsed(newSshKey().private);
const rsa = parsed(newSshKey('rsa').private);
const blob = Buffer.from('what is signed');

function parsed(text: string): ssh2.ParsedKey {
  const key = ssh2.utils.parseKey(text);
  if (key instanceof Error) throw key;
  return key;
}

/** Signs as described by the attempt and returns the response. */
async function attempt(
  key: ssh2.ParsedKey,
  hash: string | undefined,
  more: Partial<PublicKeyAuthContext> = {},
): Promise<{ answer: string; who: unknown }> {
  let answer = 'none';
  const signature = key.sign(blob, hash);
  if (signature instanceof Error) throw signature;
  const context = Object.assign(new EventEmitter(), {
    method: 'publickey' as const,
    username: 'shop',
    user: 'shop',
    service: 'ssh-connection',
    key: { algo: key.type, data: key.getPublicSSH() },
    blob,
    signature,
    hashAlgo: hash,
    accept: () => {
      answer = 'accepted';
    },
    reject: () => {
      answer = 'rejected';
    },
    ...more,
  });
  const who = await authenticate(context, questions, log);
  return { answer, who };
}

test('a valid signature signs in', async () => {
  const who = { login, name: 'shop', fingerprintSha256: expect.stringMatching(/^[A-Za-z0-9+/]{43}$/) };
  expect(await attempt(ed25519, undefined)).toEqual({ answer: 'accepted', who });
  expect(await attempt(rsa, 'sha256')).toEqual({ answer: 'accepted', who });
  expect(await attempt(rsa, 'sha512')).toEqual({ answer: 'accepted', who });
});

test('probing whether a key is accepted does not sign in', async () => {
  expect(await attempt(ed25519, undefined, { signature: undefined })).toEqual({
    answer: 'accepted',
    who: null,
  });
});

test.each<[string, ssh2.ParsedKey, string | undefined, Partial<PublicKeyAuthContext>]>([
  ['RSA over SHA-1', rsa, 'sha1', { hashAlgo: undefined }],
  ['RSA over SHA-1, named', rsa, 'sha1', {}],
  ['RSA over SHA-1, only probing', rsa, 'sha1', { hashAlgo: undefined, signature: undefined }],
  ['a signature over something else', ed25519, undefined, { blob: Buffer.from('something else') }],
  ['a changed signature', ed25519, undefined, { signature: Buffer.alloc(64) }],
  ['an empty signature', ed25519, undefined, { signature: Buffer.alloc(0) }],
  ['a signature without signed content', ed25519, undefined, { blob: undefined }],
  [
    'a key of another algorithm than named',
    rsa,
    'sha256',
    { key: { algo: 'ssh-ed25519', data: rsa.getPublicSSH() } },
  ],
  [
    'a key with trailing bytes',
    ed25519,
    undefined,
    { key: { algo: 'ssh-ed25519', data: Buffer.concat([ed25519.getPublicSSH(), Buffer.of(0)]) } },
  ],
  [
    'a key in another format',
    ed25519,
    undefined,
    {
      key: {
        algo: 'ssh-ed25519',
        data: Buffer.from(`ssh-ed25519 ${ed25519.getPublicSSH().toString('base64')}`),
      },
    },
  ],
  ['no key', ed25519, undefined, { key: { algo: 'ssh-ed25519', data: Buffer.alloc(0) } }],
])('%s is refused', async (_name, key, hash, more) => {
  expect(await attempt(key, hash, more)).toEqual({ answer: 'rejected', who: null });
});
