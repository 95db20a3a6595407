import ssh2 from 'ssh2';
import { expect, test } from 'vitest';
import { newSshKey } from '../../../../test/ssh-key.ts';
import { newEd25519KeyFile, publicHalfOfEd25519 } from './ed25519-key-file.ts';

function publicHalfBySsh2(text: string): string {
  const key = ssh2.utils.parseKey(text);
  if (key instanceof Error) throw key;
  return `${key.type} ${key.getPublicSSH().toString('base64')}`;
}

test('the SSH library reads new keys', () => {
  for (let n = 0; n < 100; n++) {
    const file = newEd25519KeyFile();
    expect(publicHalfOfEd25519(file)).toBe(publicHalfBySsh2(file));
  }
});

test('keys that the SSH library wrote are read', () => {
  const { private: bySsh2 } = newSshKey('ed25519');
  expect(publicHalfOfEd25519(bySsh2)).toBe(publicHalfBySsh2(bySsh2));
});

test('other keys and damaged ones are null', () => {
  expect(publicHalfOfEd25519(newSshKey('ecdsa').private)).toBeNull();
  expect(publicHalfOfEd25519('')).toBeNull();
  const file = newEd25519KeyFile();
  const [begin = '', ...lines] = file.trim().split('\n');
  const bytes = Buffer.from(lines.slice(0, -1).join(''), 'base64');
  const rewritten = (changed: Buffer) => [begin, changed.toString('base64'), lines.at(-1)].join('\n');
  expect(publicHalfOfEd25519(rewritten(bytes))).not.toBeNull();
  for (let at = 0; at < bytes.length; at++) {
    const damaged = Buffer.from(bytes);
    damaged.writeUInt8((bytes[at] ?? 0) ^ 1, at);
    expect([at, publicHalfOfEd25519(rewritten(damaged))]).toEqual([at, null]);
    expect(publicHalfOfEd25519(rewritten(bytes.subarray(0, at)))).toBeNull();
  }
});
