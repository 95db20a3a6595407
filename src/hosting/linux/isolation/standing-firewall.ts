import type { Logger } from 'pino';
import type { Firewall } from './firewall.ts';

/** A minute in which websites could connect anywhere is already long. */
const LOOK_MS = 60_000;

/**
 * Keeps the firewall in force: what else manages a machine's rules may flush them, as Debian's nftables.service does
 * when it is reloaded.
 */
export function createStandingFirewall(
  firewall: Pick<Firewall, 'ensure' | 'check'>,
  { log, lookMs = LOOK_MS }: { log: Logger; lookMs?: number },
): { start(): Promise<void>; stop(): void } {
  let timer: NodeJS.Timeout | undefined;

  async function look(): Promise<void> {
    try {
      const fault = await firewall.check();
      if (fault === null) return;
      log.error({ fault }, 'the firewall around the websites was not in force and is put back');
      await firewall.ensure();
    } catch (err) {
      log.error({ err }, 'the firewall around the websites could not be looked at or put back');
    }
  }

  return {
    async start() {
      await firewall.ensure();
      timer = setInterval(() => void look(), lookMs).unref();
    },
    stop: () => clearInterval(timer),
  };
}
