import type { Transaction } from '../../../database/database.ts';
import { timestamp } from '../../../lib/clock.ts';
import type { IssuanceHooks } from '../status-reports/job-kinds.ts';
import { requestOrders } from './attempts.ts';
import { failingDomain } from './attempts-store.ts';
import type { Issuance } from './issuance.ts';
import { refusalByCaa } from './precheck.ts';

/** Connects checks of domains with certificate issuance. */
export function issuanceHooks(issuance: Issuance): IssuanceHooks {
  const { platform } = issuance;
  return {
    refusalByCaa: (name, caa, signal) => refusalByCaa(issuance, name, caa, signal),
    /** Retries at once after a report shows that the DNS has been fixed. */
    async checked(transaction: Transaction, { domainId, reached }) {
      if (reached !== true) return;
      const domain = await failingDomain(transaction.queries, timestamp(platform.clock), domainId);
      if (domain !== undefined) await requestOrders(transaction, platform, [domain]);
    },
  };
}
