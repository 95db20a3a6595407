import type { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { connect, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';
import '../../lib/certificates/safe-peer-certificate.ts';
import { codeOf } from '../../lib/error-code.ts';
import { hostAndPort } from '../../lib/host-and-port.ts';
import { connectionProblem, connectionSentence } from './connection-problem.ts';
import { type PeerCertificate, parsePeerCertificate } from './peer-certificate.ts';
import { timeLimit } from './time-limit.ts';
import { type TlsFailure, tlsVerdict } from './tls-verdict.ts';
import { trustedPem, trustedRoots } from './trusted-roots.ts';
import { quotable } from './untrusted-text.ts';

/** Result of a TLS handshake. */
export interface Handshake {
  /** Null if the server presented no certificate. */
  certificate: PeerCertificate | null;
  /** Null if browsers would accept the certificate. */
  failure: TlsFailure | null;
}

export interface HandshakeRequest {
  /** For SNI, and to be covered by the certificate. */
  host: string;
  /** An IP address. */
  address: string;
  port: number;
  now: Date;
  /** Extra PEM to trust, besides the well-known roots. */
  extraRoots: readonly string[];
  /** Timeout in milliseconds. */
  limitMs: number;
}

/** Makes a TLS handshake. Network errors never throw. A task of the strangers' process: nothing else loads this module. */
export async function makeHandshake(
  { host, address, port, now, extraRoots, limitMs }: HandshakeRequest,
  signal: AbortSignal,
): Promise<Handshake> {
  const trust = trustOf(extraRoots);
  const limit = timeLimit(signal, limitMs);
  const where = `${quotable(host)} at ${hostAndPort({ host: address, port })}`;
  const socket = connect({
    host: address,
    port,
    // SNI is for names only (RFC 6066 section 3).
    servername: isIP(host) === 0 ? host : '',
    ALPNProtocols: ['h2', 'http/1.1'],
    secureContext: trust.context,
    // The handshake must succeed, so that the verdict can name the problem.
    rejectUnauthorized: false,
    checkServerIdentity: () => undefined,
  });
  try {
    const leaf = await peerCertificate(socket, limit.signal);
    const shown = {
      leaf,
      verifyError: verifyErrorOf(socket),
      host,
      now,
      roots: trust.roots,
    };
    const handshake = { certificate: parsePeerCertificate(leaf), failure: tlsVerdict(shown) };
    // The last handshake message may still be in flight. If it were cut off, the server would log a failure.
    socket.setTimeout(limitMs, () => socket.destroy());
    socket.destroySoon();
    return handshake;
  } catch (error) {
    socket.destroy();
    return { certificate: null, failure: failureOf(error, limit.signal.aborted, where) };
  } finally {
    limit.end();
  }
}

interface Trust {
  context: SecureContext;
  roots(): X509Certificate[];
}

/** By the extra roots, which rarely change. */
const trusts = new Map<string, Trust>();

/** Creates the context of the roots on first use, and only once, because that is slow. */
function trustOf(extraRoots: readonly string[]): Trust {
  const key = extraRoots.join('\n');
  const found = trusts.get(key);
  if (found !== undefined) return found;
  let roots: X509Certificate[] | undefined;
  const made = {
    context: createSecureContext({ ca: trustedPem(extraRoots) }),
    roots: () => (roots ??= trustedRoots(extraRoots)),
  };
  trusts.set(key, made);
  return made;
}

function peerCertificate(socket: TLSSocket, signal: AbortSignal): Promise<X509Certificate> {
  const { promise, resolve, reject } = Promise.withResolvers<X509Certificate>();
  const abort = () => reject(new Error('The handshake timed out.'));
  socket.on('secureConnect', () => {
    const leaf = socket.getPeerX509Certificate();
    if (leaf) resolve(leaf);
    else reject(new Error('The server presented no certificate.'));
  });
  // Stays after the promise is settled, because errors after the certificate do not matter.
  socket.on('error', reject);
  socket.on('close', () => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' })));
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  return promise;
}

/** Node's types say Error, but Node gives the name of OpenSSL's error. */
function verifyErrorOf(socket: TLSSocket): string | null {
  if (socket.authorized) return null;
  const error: unknown = socket.authorizationError;
  return typeof error === 'string' ? error : (codeOf(error) ?? 'UNSPECIFIED');
}

function failureOf(error: unknown, outOfTime: boolean, where: string): TlsFailure {
  const problem = outOfTime ? 'timeout' : connectionProblem(error);
  if (problem !== null) return { problem, sentence: connectionSentence(problem, where) };
  const code = codeOf(error) ?? '';
  const alert = /^ERR_SSL_(?:SSLV3_|TLSV1_|TLSV13_)(?:ALERT_)?(.+)$/.exec(code)?.[1];
  if (alert !== undefined) {
    return {
      problem: 'alert',
      sentence: `${where} refuses the TLS handshake (${words(alert)}); check that HTTPS is set up for this name there.`,
    };
  }
  if (code === 'ERR_SSL_UNSUPPORTED_PROTOCOL') {
    return {
      problem: 'alert',
      sentence: `${where} supports only TLS versions that browsers no longer accept; enable TLS 1.2 or 1.3 there.`,
    };
  }
  return {
    problem: 'no_tls',
    sentence: `${where} does not speak TLS; check that HTTPS is set up on this port.`,
  };
}

const words = (name: string): string => quotable(name.toLowerCase().replaceAll('_', ' '));
