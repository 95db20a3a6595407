import { fingerprintSha256 } from '../../identity/ssh-keys/public-key.ts';

/** A key by which SSH clients know a host. */
export interface HostKey {
  /** As OpenSSH's client names it when it asks: `ED25519`. */
  type: string;
  /** As it shows it: `SHA256:…`. */
  fingerprint: string;
  /** The line of known_hosts(5) with which it asks nothing. */
  known_hosts: string;
}

const SSH_PORT = 22;

/** What people compare of a host's public key (`type base64`), or take over, who reach it by that name and port. */
export function shownHostKey(publicKey: string, { host, port }: { host: string; port: number }): HostKey {
  const [algorithm = '', blob = ''] = publicKey.split(' ');
  const place = port === SSH_PORT ? host : `[${host}]:${port}`;
  return {
    type: typeOf(algorithm),
    fingerprint: `SHA256:${fingerprintSha256(Buffer.from(blob, 'base64'))}`,
    known_hosts: `${place} ${algorithm} ${blob}`,
  };
}

/** `ED25519` of `ssh-ed25519`, `ECDSA` of `ecdsa-sha2-nistp256`. */
function typeOf(algorithm: string): string {
  const [first = '', second = ''] = algorithm.split('-');
  return (first === 'ssh' ? second : first).toUpperCase();
}
