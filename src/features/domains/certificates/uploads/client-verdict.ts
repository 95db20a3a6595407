import '../../../../lib/certificates/safe-peer-certificate.ts';
import type { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { duplexPair } from 'node:stream';
import { connect, createSecureContext, type SecureContext, TLSSocket } from 'node:tls';
import { messageOf } from '../../../../lib/error-message.ts';
import { uploadFault } from './certificate-fault.ts';

/** OpenSSL uses the time of the machine. The validity was checked against the clock. */
const OF_TIME = ['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID'];
/** X509_V_ERR_PERMITTED_VIOLATION and its relatives have no codes in Node. */
const OF_NAMES = /subtree violation|name constraint/i;

const refuse = (code: string, message: string) => uploadFault('certificate', code, message);

/**
 * Makes a TLS handshake in memory with the certificate, as servers and clients will: a client checks the whole path of RFC 5280 section 6,
 * with name constraints, key usages and critical extensions. Throws InvalidRequest.
 */
export async function requireAccepted(
  { cert, key }: { cert: string; key: string },
  anchors: readonly X509Certificate[],
): Promise<void> {
  let server: SecureContext;
  try {
    // One certificate that TLS cannot load would stop the edge for all websites.
    server = createSecureContext({ cert, key });
  } catch {
    throw refuse(
      'unusable',
      'TLS servers refuse this certificate as too weak or malformed. Get a new one from the certificate authority.',
    );
  }
  const reason = await refusalOfClient(server, anchors);
  if (reason === null) return;
  if (OF_NAMES.test(reason)) {
    throw refuse(
      'name_not_permitted',
      `An authority of the chain may not certify the names of this certificate, because a certificate of the chain limits them (${reason}). ` +
        'Get a certificate for names that the authority may certify, or from another authority.',
    );
  }
  throw refuse(
    'unusable',
    `Browsers refuse this certificate or its chain: ${reason}. Get a new one from the certificate authority.`,
  );
}

/** Why a client that trusts the anchors refuses the server, in OpenSSL's words; null if it does not. */
async function refusalOfClient(
  secureContext: SecureContext,
  anchors: readonly X509Certificate[],
): Promise<string | null> {
  const [near, far] = duplexPair();
  const server = new TLSSocket(far, { isServer: true, secureContext });
  // The client says what is wrong.
  server.on('error', () => {});
  const client = connect({
    socket: near,
    ca: anchors.map((anchor) => anchor.toString()),
    allowPartialTrustChain: true,
    // Names of hosts are checked when the certificate meets the domains.
    checkServerIdentity: () => undefined,
  });
  try {
    await once(client, 'secureConnect');
    return null;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    return OF_TIME.includes(code) ? null : messageOf(error);
  } finally {
    client.destroy();
    server.destroy();
  }
}
