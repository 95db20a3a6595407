import type { Caller } from '../../../access/caller.ts';
import { authorize, isAllowed, type ResourceAccess } from '../../../access/permissions.ts';
import { RATE_LIMITS, type RateCounter, rateLimitKey } from '../../../access/rate-limits.ts';
import { changeFor } from '../../../access/request-transactions.ts';
import { lockRow } from '../../../database/lock.ts';
import type { CertificateSource } from '../../../database/tables/certificates.ts';
import { NotFound, RateLimited } from '../../../lib/failures.ts';
import type { PageRequest } from '../../../lib/page.ts';
import type { Platform } from '../../../platform/platform.ts';
import { takeTurn } from '../../websites/installs/operation-limits.ts';
import { findInstallAccess } from '../../websites/installs/store.ts';
import { requestOrderOfUser } from './attempts.ts';
import { pageOfCertificates } from './list-store.ts';
import { findCertificate, findDomainToOrder } from './store.ts';

/** A certificate of an install. */
export interface ListedCertificate {
  seq: number;
  /** The domain that has it; the first one of an uploaded certificate. */
  domain: string;
  account_id: string;
  source: CertificateSource;
  chain: string;
  /** Whether the caller may see private keys of the install. */
  may_see_key: boolean;
  /** URL of the order at the authority; null for other sources. */
  order_url: string | null;
  /** When it was stored. */
  created_at: string;
  not_after: string;
  expired: boolean;
}

/** The certificate of a domain for the API. */
export interface CertificateView extends ListedCertificate {
  /** PEM; null for users who may not see it, and for an uploaded certificate. */
  key: string | null;
}

export type CertificateService = ReturnType<typeof createCertificateService>;

/** Checks the present password of a user. Throws InvalidRequest, RateLimited. */
type RequirePassword = (userId: string, password: string) => Promise<unknown>;

export function createCertificateService(
  platform: Platform,
  counter: RateCounter,
  requirePassword: RequirePassword,
) {
  const { database, sealer, clock, activity } = platform;
  const { reader } = database;

  const maySeeKeys = ({ limits }: Caller, install: ResourceAccess) =>
    limits?.readOnly !== true && isAllowed('certificate.key', install);
  /** Users have the key of what they uploaded. */
  const keyOf = ({ source, sealed_key }: { source: CertificateSource; sealed_key: string }) =>
    source === 'THIRD_PARTY' ? null : sealer.open(sealed_key);
  const isExpired = (notAfter: string) => Date.parse(notAfter) <= clock.now().getTime();

  return {
    /**
     * The certificate that the edge serves for a domain. Its key is for API credentials only: a browser that someone left open asks for the
     * password ({@link readKey}). Throws NotFound without one.
     */
    async get(caller: Caller, installId: string, domainId: string): Promise<CertificateView> {
      const install = await findInstallAccess(reader, caller, installId);
      authorize('install.read', 'install.read', install);
      const row = await findCertificate(reader, installId, domainId);
      if (!row) throw new NotFound();
      const { sealed_key: _, ...certificate } = row;
      const may_see_key = maySeeKeys(caller, install);
      return {
        ...certificate,
        account_id: install.account_id,
        may_see_key,
        key: may_see_key && caller.origin.means !== 'portal' ? keyOf(row) : null,
        expired: isExpired(row.not_after),
      };
    },

    /** The private key of a domain's certificate, PEM. Throws NotFound, Forbidden; InvalidRequest if the password is wrong, RateLimited. */
    async readKey(
      caller: Caller,
      { installId, domainId, password }: { installId: string; domainId: string; password: string },
    ): Promise<string> {
      authorize('certificate.key', 'install.read', await findInstallAccess(reader, caller, installId));
      await requirePassword(caller.userId, password);
      return changeFor(database, caller, async (transaction) => {
        const { queries } = transaction;
        const install = await findInstallAccess(queries, caller, installId);
        authorize('certificate.key', 'install.read', install);
        const row = await findCertificate(queries, installId, domainId);
        const key = row === undefined ? null : keyOf(row);
        if (row === undefined || key === null) throw new NotFound();
        await activity.record(transaction, caller, install.account_id, {
          action: 'certificate.read_key',
          subject: { id: domainId, name: row.domain },
          installId,
        });
        return key;
      });
    },

    /** The certificates of an install, and one more than the page has, if there is one. Throws NotFound. */
    async list(caller: Caller, installId: string, page: PageRequest): Promise<ListedCertificate[]> {
      const install = await findInstallAccess(reader, caller, installId);
      authorize('install.read', 'install.read', install);
      const rows = await pageOfCertificates(reader, installId, { ...page, limit: page.limit + 1 });
      return rows.map((row) => ({
        ...row,
        account_id: install.account_id,
        may_see_key: maySeeKeys(caller, install),
        expired: isExpired(row.not_after),
      }));
    },

    /** Orders a certificate for a domain now. Returns the id of the operation. Throws NotFound, Forbidden, RateLimited. */
    async order(caller: Caller, installId: string, domainId: string): Promise<string> {
      const seen = await findInstallAccess(reader, caller, installId);
      authorize('install.work', 'install.read', seen);
      await countOrder(seen.account_id);
      return changeFor(database, caller, async (transaction) => {
        const { queries } = transaction;
        await lockRow(transaction, 'installs', installId);
        const install = await findInstallAccess(queries, caller, installId);
        authorize('install.work', 'install.read', install);
        const domain = await findDomainToOrder(queries, installId, domainId);
        if (!domain) throw new NotFound();
        await takeTurn(transaction, installId, 'order_certificate', clock.now());
        await activity.record(transaction, caller, install.account_id, {
          action: 'certificate.order',
          subject: { id: domainId, name: domain.name },
          installId,
        });
        return requestOrderOfUser(transaction, platform, domain, caller.origin.requestId);
      });
    },
  };

  /** Authorities limit the orders of all accounts together, so one account must not use them up. */
  async function countOrder(accountId: string): Promise<void> {
    const limit = RATE_LIMITS.certificateOrders;
    const key = rateLimitKey(limit, accountId);
    const { allowed, resetSeconds } = await counter.spend(key, limit.size, limit.windowSeconds);
    if (!allowed) {
      throw new RateLimited(resetSeconds, 'Too many certificate orders of this account');
    }
  }
}
