import type { Clock } from '../../../lib/clock.ts';
import { changesAt } from './names.ts';
import type { Vhost } from './vhost.ts';

/** Each website as it was last requested and accepted. It is rendered again when a certificate expires. */
export interface WantedWebsites {
  /** Null: the install is removed. */
  remember(installId: string, vhost: Vhost | null): void;
  clear(): void;
  all(): Vhost[];
  has(installId: string): boolean;
  /** The install's name for people; its id if it is not wanted. */
  nameOf(installId: string): string;
  /** Websites to render again, because a certificate used for redirects has expired. */
  due(): Vhost[];
  /** Id of the install that answers a name, which several may claim. */
  holderOf(hostname: string): string | undefined;
}

export function createWantedWebsites(clock: Clock): WantedWebsites {
  const wanted = new Map<string, { vhost: Vhost; changesAt: number }>();

  const all = () => [...wanted.values()].map(({ vhost }) => vhost);

  return {
    remember(installId, vhost) {
      if (vhost === null) wanted.delete(installId);
      else wanted.set(installId, { vhost, changesAt: changesAt(vhost.state.hostnames, clock.now()) });
    },
    clear: () => wanted.clear(),
    all,
    has: (installId) => wanted.has(installId),
    nameOf: (installId) => wanted.get(installId)?.vhost.state.name ?? installId,
    due() {
      const now = clock.now().getTime();
      return [...wanted.values()].filter((one) => one.changesAt <= now).map(({ vhost }) => vhost);
    },
    holderOf: (hostname) =>
      all()
        .filter(({ state }) => state.hostnames.some(({ name }) => name === hostname))
        .map(({ state }) => state.id)
        .toSorted()[0],
  };
}
