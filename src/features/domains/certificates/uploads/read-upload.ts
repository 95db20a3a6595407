import type { X509Certificate } from 'node:crypto';
import { type Fault, InvalidRequest } from '../../../../lib/failures.ts';
import { trustedRoots } from '../../../../network/probe/trusted-roots.ts';
import { type CertificateChain, readChain } from './certificate-chain.ts';
import { requireAccepted } from './client-verdict.ts';
import { readPrivateKey, requireMatch } from './private-key.ts';

export interface SentUpload {
  /** PEM. */
  certificate: string;
  /** PEM. */
  private_key: string;
  now: Date;
  /** PEM of roots that are trusted beside the well-known ones. */
  extraRoots: string[];
}

/** A certificate from elsewhere that servers can use. */
export interface ReadUpload extends Omit<CertificateChain, 'leaf' | 'anchors'> {
  /** PKCS#8 PEM. */
  key: string;
  /** Hexadecimal, upper case. */
  serialNumber: string;
}

/**
 * Checks a chain and its private key, and returns them in the form in which they are served, or a fault of each field. A task of the
 * strangers' process: nothing else loads this module.
 */
export async function readUpload(sent: SentUpload): Promise<{ upload: ReadUpload } | { faults: Fault[] }> {
  const faults: Fault[] = [];
  const chain = await collecting(faults, () => readChain(sent.certificate, { now: sent.now, roots }));
  const key = await collecting(faults, () => readPrivateKey(sent.private_key));
  if (chain === undefined || key === undefined) return { faults };
  const { leaf, anchors, ...read } = chain;
  await collecting(faults, () => requireMatch(key, leaf));
  if (faults.length > 0) return { faults };
  const pem = key.export({ type: 'pkcs8', format: 'pem' }).toString();
  await collecting(faults, () => requireAccepted({ cert: read.pem, key: pem }, anchors));
  return faults.length > 0 ? { faults } : { upload: { ...read, key: pem, serialNumber: leaf.serialNumber } };

  function roots(): X509Certificate[] {
    return trustedRoots(sent.extraRoots);
  }
}

async function collecting<Result>(
  faults: Fault[],
  step: () => Result | Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await step();
  } catch (error) {
    if (!(error instanceof InvalidRequest)) throw error;
    faults.push(...error.faults);
    return undefined;
  }
}
