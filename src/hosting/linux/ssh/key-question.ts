import { createHash } from 'node:crypto';

/** The question of `authorized-keys.pl`: may this key sign in as this user? */
export interface KeyQuestion {
  /** sshd's process for the connection, according to the script. */
  monitor: number;
  user: string;
  /** As in authorized_keys(5): `ssh-ed25519`. */
  type: string;
  /** The public key in base64. */
  key: string;
  /** SHA-256 of the key, base64 without padding, as OpenSSH shows it. */
  fingerprintSha256: string;
}

/** Plain keys only. A certificate (`…-cert-v01@openssh.com`) has the fingerprint of its key but is something else. */
const KEY_TYPES =
  /^(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(256|384|521)|sk-(ssh-ed25519|ecdsa-sha2-nistp256)@openssh\.com)$/;

/** Null if `line` is not a question, or names a kind of key that no one can sign in with. */
export function parseKeyQuestion(line: string): KeyQuestion | null {
  const [, pid, user, type, key] =
    /^(\d{1,10}) ([a-z][a-z0-9-]{0,62}) (\S+) ([A-Za-z0-9+/]+={0,2})$/.exec(line) ?? [];
  if (pid === undefined || user === undefined || type === undefined || key === undefined) return null;
  if (!KEY_TYPES.test(type)) return null;
  const fingerprintSha256 = createHash('sha256')
    .update(Buffer.from(key, 'base64'))
    .digest('base64')
    .replace(/=+$/, '');
  return { monitor: Number(pid), user, type, key, fingerprintSha256 };
}

/** The line of authorized_keys(5) that admits the key, for a session only, with or without a terminal. */
export function keyLine({ type, key }: Pick<KeyQuestion, 'type' | 'key'>): string {
  return `restrict,pty ${type} ${key}\n`;
}
