import { fingerprintSha256 } from '../../identity/ssh-keys/public-key.ts';

/** An SSH host key. */
export interface HostKey {
  /** The type as OpenSSH's client shows it: `ED25519`. */
  type: string;
  /** The fingerprint as OpenSSH's client shows it: `SHA256:…`. */
  fingerprint: string;
  /** The line for known_hosts(5) that spares the question. */
  known_hosts: string;
}

const SSH_PORT = 22;

/** Presents a host's public key (`type base64`) for users who connect to that name and port. */
export function shownHostKey(publicKey: string, { host, port }: { host: string; port: number }): HostKey {
  const [algorithm = '', blob = ''] = publicKey.split(' ');
  const place = port === SSH_PORT ? host : `[${host}]:${port}`;
  return {
    type: typeOf(algorithm),
    fingerprint: `SHA256:${fingerprintSha256(Buffer.from(blob, 'base64'))}`,
    known_hosts: `${place} ${algorithm} ${blob}`,
  };
}

/** Returns `ED25519` for `ssh-ed25519`, `ECDSA` for `ecdsa-sha2-nistp256`. */
function typeOf(algorithm: string): string {
  const [first = '', second = ''] = algorithm.split('-');
  return (first === 'ssh' ? second : first).toUpperCase();
}
