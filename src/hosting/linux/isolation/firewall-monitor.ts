import type { Logger } from 'pino';
import { type Repetition, repeatEvery } from '../../../lib/concurrency.ts';
import type { Firewall } from './firewall.ts';

/** Websites could connect anywhere during this time, so it is short. */
const CHECK_EVERY_MS = 60_000;

/**
 * Checks the firewall regularly and restores it: other tools that manage the machine's rules may flush them, as Debian's
 * nftables.service does on reload.
 */
export function createFirewallMonitor(
  firewall: Pick<Firewall, 'ensure' | 'check'>,
  { log, checkEveryMs = CHECK_EVERY_MS }: { log: Logger; checkEveryMs?: number },
): { start(): Promise<void>; stop(): void } {
  let checks: Repetition | undefined;

  async function checkAndRestore(): Promise<void> {
    const fault = await firewall.check();
    if (fault === null) return;
    log.error({ fault }, 'firewall rules of websites were missing or changed; restoring them');
    await firewall.ensure();
  }

  return {
    async start() {
      await firewall.ensure();
      checks = repeatEvery(checkAndRestore, {
        delayMs: checkEveryMs,
        onError: (err) => log.error({ err }, 'could not check or restore the firewall rules of websites'),
      });
    },
    stop: () => void checks?.stop(),
  };
}
