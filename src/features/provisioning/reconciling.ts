import type { Inventory } from '../../hosting/contract/inventory.ts';
import { serializeByKey } from '../../lib/concurrency.ts';
import type { Platform } from '../../platform/platform.ts';
import { settleImportsAgain } from '../backups/imports/settle-again.ts';
import { requestReconciliation } from '../backups/reconcile-backups.ts';
import { EMBEDDED } from './orphan-store.ts';
import { applyChanged, reconcileHost } from './reconciliation.ts';

/** Reconciles hosts with the database, one run at a time for each host. */
export interface Reconciling {
  /**
   * Never rejects; failures are logged and left to the next run. Resolves once unknown websites are set aside. Websites
   * that differ from the database are then applied, and unsettled imports settled, in the background. Backups are compared
   * at the first run, and with `isBack`: the host answers after an outage.
   */
  run(host: string, inventory: Inventory, options?: { isBack?: boolean }): Promise<void>;
  /** Starts nothing more and waits for the runs in progress. */
  stop(): Promise<void>;
}

export function createReconciling(platform: Platform): Reconciling {
  const serially = serializeByKey();
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  /** Hosts whose backups this process has asked to compare. */
  const compared = new Set<string>();

  async function run(host: string, inventory: Inventory, isBack: boolean): Promise<void> {
    if (stopping.signal.aborted) return;
    try {
      const { known } = await reconcileHost(platform, inventory, host);
      follow(applyChanged(platform, known, stopping.signal), {
        host,
        failure: 'could not compare the websites of a host with the database',
      });
      if (isBack || !compared.has(host)) {
        compared.add(host);
        follow(requestReconciliation(platform, host === EMBEDDED ? null : host), {
          host,
          failure: 'could not compare the backups of a host with the database',
        });
      }
      follow(
        settleImportsAgain(
          platform,
          known.map(({ id }) => id),
        ),
        { host, failure: 'could not settle the imports of a host' },
      );
    } catch (err) {
      platform.log.warn({ err, host }, 'could not reconcile a host with the database; will retry');
    }
  }

  function follow(work: Promise<void>, { host, failure }: { host: string; failure: string }): void {
    const followed = work
      .catch((err: unknown) => platform.log.warn({ err, host }, failure))
      .finally(() => running.delete(followed));
    running.add(followed);
  }

  return {
    run(host, inventory, { isBack = false } = {}) {
      const work = serially(host, () => run(host, inventory, isBack));
      const followed = work.finally(() => running.delete(followed));
      running.add(followed);
      return work;
    },
    async stop() {
      stopping.abort();
      while (running.size > 0) await Promise.all(running);
    },
  };
}
