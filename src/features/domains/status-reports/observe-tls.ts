import { NameNotResolved } from '../../../network/dns/resolver.ts';
import { addressKind } from '../../../network/probe/address-kind.ts';
import type {
  Handshake,
  PeerCertificate,
  Prober,
  Target,
  TlsFailure,
} from '../../../network/probe/prober.ts';

/** TLS as visitors of a name see it. */
export interface TlsObservation {
  status: 'verified' | 'self_signed' | 'failed' | 'none';
  certificate: PeerCertificate | null;
  /** Null if browsers would accept the certificate. */
  failure: TlsFailure | null;
}

/** Makes a handshake at the first allowed address of each family. The worse result counts. */
export async function observeTls(
  hostname: string,
  prober: Prober,
  signal: AbortSignal,
): Promise<TlsObservation> {
  let targets: Target[];
  try {
    targets = await prober.targets(hostname, signal);
  } catch (error) {
    if (error instanceof NameNotResolved) return nowhere(error.message);
    throw error;
  }
  if (targets.length === 0) return nowhere(`${hostname} has no address.`);
  const visited = ([4, 6] as const).flatMap((family) => {
    const first = targets.find((target) => target.family === family && target.allowed);
    return first ? [first.address] : [];
  });
  if (visited.length === 0) {
    const address = targets[0]?.address ?? '';
    const sentence = `${hostname} has the ${addressKind(address)} address ${address}, which visitors cannot reach.`;
    return { status: 'none', certificate: null, failure: { problem: 'private_address', sentence } };
  }
  return worst(await Promise.all(visited.map((address) => prober.handshake(hostname, address, signal))));
}

function nowhere(sentence: string): TlsObservation {
  return { status: 'none', certificate: null, failure: { problem: 'unreachable', sentence } };
}

/**
 * The worst result, with another result's certificate if it has none. A missing route is usually a limit of this machine,
 * so it is ignored if the other family gives a result.
 */
export function worst(handshakes: Handshake[]): TlsObservation {
  const telling = handshakes.filter(({ failure }) => failure?.problem !== 'unreachable');
  const [first] = (telling.length > 0 ? telling : handshakes).toSorted(
    (one, other) => gravity(other) - gravity(one),
  );
  const failure = first?.failure ?? null;
  const seen = [first, ...handshakes].flatMap((handshake) => handshake?.certificate ?? []);
  const certificate = seen[0] ?? null;
  return { status: statusOf(failure, certificate), certificate, failure };
}

function gravity({ failure, certificate }: Handshake): number {
  if (failure === null) return 0;
  if (failure.problem === 'self_signed') return 1;
  return certificate === null ? 3 : 2;
}

function statusOf(failure: TlsFailure | null, certificate: PeerCertificate | null): TlsObservation['status'] {
  if (failure === null) return 'verified';
  if (failure.problem === 'self_signed') return 'self_signed';
  return certificate === null ? 'none' : 'failed';
}
