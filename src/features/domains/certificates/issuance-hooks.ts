import type { Transaction } from '../../../database/database.ts';
import { timestamp } from '../../../lib/clock.ts';
import type { IssuanceHooks } from '../status-reports/job-kinds.ts';
import { requestOrders } from './attempts.ts';
import { failingDomain } from './attempts-store.ts';
import type { Issuance } from './issuance.ts';
import { refusalByCaa } from './precheck.ts';

/** What a check of a domain asks of the ordering of certificates, and tells it. */
export function issuanceHooks(issuance: Issuance): IssuanceHooks {
  const { platform } = issuance;
  return {
    refusalByCaa: (name, caa, signal) => refusalByCaa(issuance, name, caa, signal),
    /** A customer who has mended the DNS and looks at the report need not wait for the next try. */
    async checked(transaction: Transaction, { domainId, reached }) {
      if (reached !== true) return;
      const domain = await failingDomain(transaction.queries, timestamp(platform.clock), domainId);
      if (domain !== undefined) await requestOrders(transaction, platform, [domain]);
    },
  };
}
