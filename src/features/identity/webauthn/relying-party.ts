import { isIP } from 'node:net';

/** The website that passkeys are bound to: a passkey works at this host name only (WebAuthn, section 5.1.2). */
export interface RelyingParty {
  /** The host name of the public URL. */
  id: string;
  origin: string;
}

/**
 * The relying party of a portal; null if browsers offer no passkeys there. They need HTTPS, or localhost, and a host name instead of an
 * IP address. It comes from the configuration, because a request could name any host.
 */
export function relyingPartyOf(publicUrl: string): RelyingParty | null {
  const { protocol, hostname, origin } = new URL(publicUrl);
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost');
  const isAddress = isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
  return isAddress || (protocol !== 'https:' && !isLocal) ? null : { id: hostname, origin };
}
