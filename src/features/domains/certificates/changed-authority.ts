import type { Transaction } from '../../../database/database.ts';
import { timestamp } from '../../../lib/clock.ts';
import type { WatchedSettings } from '../../../platform/changed-settings.ts';
import type { Platform } from '../../../platform/platform.ts';
import { resolveNotifications } from '../../accounts/notifications/resolving-store.ts';
import { forgetUnreachable } from '../status-reports/reachability-store.ts';
import { forgetFailedOrders, retryFailedOrders } from './attempts-store.ts';
import { settleSslStatuses } from './served.ts';
import { forgetRefusals } from './store.ts';

/**
 * The settings of the authority, and those that checks of domains depend on. A failed order is forgotten when they change. `roots`: the
 * certificates of HOMEPORT_ACME_CA.
 */
export function watchedDomainSettings(
  { config, clock }: Pick<Platform, 'config' | 'clock'>,
  roots: readonly string[],
): WatchedSettings[] {
  async function forget(transaction: Transaction): Promise<void> {
    await forgetRefusals(transaction.queries);
    await settleSslStatuses(transaction, { config, clock });
    await resolveNotifications(transaction.queries, timestamp(clock));
  }
  const { acmeContact, acmeTermsAgreed, resolvers, allowPrivateTargets } = config;
  return [
    {
      name: 'certificate authority',
      values: [config.acmeDirectory],
      async changed(transaction) {
        await forgetFailedOrders(transaction.queries);
        await forget(transaction);
      },
    },
    {
      name: 'domain checks',
      values: [
        [acmeContact, acmeTermsAgreed, roots, resolvers, allowPrivateTargets],
        [config.edgeHttp, config.edgeHttps, config.edgeAddresses],
        // Of requests to the authority.
        [config.httpProxy, config.httpsProxy, config.noProxy],
      ],
      async changed(transaction) {
        await retryFailedOrders(transaction.queries, timestamp(clock));
        await forgetUnreachable(transaction.queries);
        await forget(transaction);
      },
    },
  ];
}
