import type { Caller } from '../../../access/caller.ts';
import { authorize, isAllowed } from '../../../access/permissions.ts';
import type { CertificateSource } from '../../../database/tables/certificates.ts';
import { NotFound } from '../../../lib/failures.ts';
import type { Platform } from '../../../platform/platform.ts';
import { findInstallAccess } from '../../websites/installs/store.ts';
import { findCertificate } from './store.ts';

/** The certificate of a domain for the API. */
export interface CertificateView {
  seq: number;
  domain: string;
  account_id: string;
  source: CertificateSource;
  chain: string;
  /** PEM; null for users who may not see the key. */
  key: string | null;
  /** URL of the order at the authority; null for a self-signed certificate. */
  order_url: string | null;
  /** When it was stored. */
  created_at: string;
  not_after: string;
  expired: boolean;
}

export type CertificateService = ReturnType<typeof createCertificateService>;

export function createCertificateService({
  database,
  sealer,
  clock,
}: Pick<Platform, 'database' | 'sealer' | 'clock'>) {
  const { reader } = database;
  return {
    /** The certificate that the edge serves for a domain. Throws NotFound without one. */
    async get(caller: Caller, installId: string, domainId: string): Promise<CertificateView> {
      const install = await findInstallAccess(reader, caller, installId);
      authorize('install.read', 'install.read', install);
      const row = await findCertificate(reader, installId, domainId);
      if (!row) throw new NotFound();
      const { sealed_key, ...certificate } = row;
      const maySeeKey = caller.limits?.readOnly !== true && isAllowed('certificate.key', install);
      return {
        ...certificate,
        account_id: install.account_id,
        key: maySeeKey ? sealer.open(sealed_key) : null,
        expired: Date.parse(row.not_after) <= clock.now().getTime(),
      };
    },
  };
}
