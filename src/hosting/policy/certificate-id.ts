import { createHash } from 'node:crypto';
import type { ServedCertificate } from '../contract/install-state.ts';

/** Names a certificate after its chain and key. 32 hex digits. */
export function certificateId({ chain, key }: Pick<ServedCertificate, 'chain' | 'key'>): string {
  return createHash('sha256').update(chain).update('\0').update(key).digest('hex').slice(0, 32);
}
