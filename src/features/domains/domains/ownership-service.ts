import type { Caller } from '../../../access/caller.ts';
import { authorize } from '../../../access/permissions.ts';
import { changeFor } from '../../../access/request-transactions.ts';
import { lockRow } from '../../../database/lock.ts';
import { NotFound, RateLimited } from '../../../lib/failures.ts';
import type { Platform } from '../../../platform/platform.ts';
import { takeTurn } from '../../websites/installs/operation-limits.ts';
import { findInstallAccess } from '../../websites/installs/store.ts';
import { challengeOf, ownershipDomainOf } from './ownership.ts';
import type { DomainService, DomainView } from './service.ts';
import { findDomain } from './store.ts';
import { beginVerification, concludeCheck } from './verifications.ts';
import type { Verification } from './verifications-store.ts';

/** Looks up the TXT records of a name; null if that failed. Network errors never throw. */
export type LookUpTxtRecords = (name: string, signal: AbortSignal) => Promise<string[] | null>;

export const LOOK_UP_MS = 10_000;
/** Limit of parallel look-ups for requests in this process. */
const MOST_AT_ONCE = 20;

export type DomainOwnershipService = ReturnType<typeof createDomainOwnershipService>;

export function createDomainOwnershipService(
  platform: Platform,
  domains: Pick<DomainService, 'get'>,
  lookUpTexts: LookUpTxtRecords,
) {
  const { database, clock } = platform;
  let underWay = 0;

  /** Counts against the rate limit. Returns the verification to check, or null for a name that needs none. */
  async function beginCheck(
    caller: Caller,
    installId: string,
    domainId: string,
  ): Promise<Verification | null> {
    return changeFor(database, caller, async (transaction) => {
      const { queries } = transaction;
      await lockRow(transaction, 'installs', installId);
      const install = await findInstallAccess(queries, caller, installId);
      authorize('install.work', 'install.read', install);
      const domain = await findDomain(queries, installId, domainId);
      if (!domain) throw new NotFound();
      await takeTurn(transaction, installId, 'verify_domain', clock.now());
      if (domain.is_cname) return null;
      return beginVerification(transaction, platform, install.account_id, ownershipDomainOf(domain.name));
    });
  }

  return {
    /**
     * Looks up the TXT record that verifies a domain. If it is right, the account owns the registrable domain from now on, and
     * its installs serve their names of it. Returns the updated domain. Throws NotFound, Forbidden, RateLimited.
     */
    async verify(caller: Caller, installId: string, domainId: string): Promise<DomainView> {
      if (underWay >= MOST_AT_ONCE) {
        throw new RateLimited(5, 'Too many domains are being verified; try again in a few seconds');
      }
      underWay += 1;
      try {
        const verification = await beginCheck(caller, installId, domainId);
        if (verification !== null && verification.verified_at === null) {
          const { key } = challengeOf(verification.registrable, verification.token);
          const texts = await lookUpTexts(key, AbortSignal.timeout(LOOK_UP_MS));
          await changeFor(database, caller, (transaction) =>
            concludeCheck(transaction, platform, verification, texts, caller),
          );
        }
      } finally {
        underWay -= 1;
      }
      return domains.get(caller, installId, domainId);
    },
  };
}
