import type { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { TSchema } from 'typebox';
import { FaultCollection } from '../../../../lib/fault-collection.ts';
import { type CertificateChain, readChain } from './certificate-chain.ts';
import { uploadFault } from './certificate-fault.ts';
import { readPrivateKey, requireMatch } from './private-key.ts';

/** A certificate from elsewhere that servers can use. */
export interface ReadUpload extends Omit<CertificateChain, 'leaf'> {
  /** PKCS#8 PEM. */
  key: string;
}

/**
 * Checks a chain and its private key, and returns them in the form in which they are served. `schema`: of the request, for
 * the order of the faults. Throws InvalidRequest with a fault of each field.
 */
export async function readUpload(
  { certificate, private_key }: { certificate: string; private_key: string },
  { schema, ...trust }: { schema: TSchema; now: Date; roots: () => X509Certificate[] },
): Promise<ReadUpload> {
  const faults = new FaultCollection(schema);
  const chain = await faults.from(() => readChain(certificate, trust));
  const key = await faults.from(() => readPrivateKey(private_key));
  if (chain !== undefined && key !== undefined) await faults.from(() => requireMatch(key, chain.leaf));
  faults.refuse();
  if (chain === undefined || key === undefined) throw new Error('a refused upload has faults');
  const { leaf: _, ...read } = chain;
  const pem = key.export({ type: 'pkcs8', format: 'pem' }).toString();
  requireLoadable(read.pem, pem);
  return { ...read, key: pem };
}

/** One certificate that TLS cannot load would stop the edge for all websites. */
function requireLoadable(cert: string, key: string): void {
  try {
    createSecureContext({ cert, key });
  } catch {
    throw uploadFault(
      'certificate',
      'unusable',
      'TLS servers refuse this certificate as too weak or malformed. Get a new one from the certificate authority.',
    );
  }
}
