import type { Inventory } from '../../hosting/contract/inventory.ts';
import { serializeByKey } from '../../lib/concurrency.ts';
import type { Platform } from '../../platform/platform.ts';
import { applyChanged, reconcileHost } from './reconciliation.ts';

/** Reconciles hosts with the database, each one at a time, for a process that serves. */
export interface Reconciling {
  /**
   * Never rejects: what fails is logged, and left to the next run. Resolves once what the database does not know is put aside;
   * websites that differ from the database are compared and applied afterwards.
   */
  run(host: string, inventory: Inventory): Promise<void>;
  /** Begins nothing more, and waits for what is being done. */
  stop(): Promise<void>;
}

export function createReconciling(platform: Platform): Reconciling {
  const serially = serializeByKey();
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();

  async function run(host: string, inventory: Inventory): Promise<void> {
    if (stopping.signal.aborted) return;
    try {
      const { known } = await reconcileHost(platform, inventory, host);
      follow(applyChanged(platform, known, stopping.signal), host);
    } catch (err) {
      platform.log.warn({ err, host }, 'a host could not be reconciled with the database; it is tried again');
    }
  }

  function follow(work: Promise<void>, host: string): void {
    const followed = work
      .catch((err: unknown) =>
        platform.log.warn({ err, host }, 'the websites of a host could not be compared with the database'),
      )
      .finally(() => running.delete(followed));
    running.add(followed);
  }

  return {
    run(host, inventory) {
      const work = serially(host, () => run(host, inventory));
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
