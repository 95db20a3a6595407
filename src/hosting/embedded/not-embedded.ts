import type { Capability } from '../contract/capabilities.ts';
import { PermanentHostError } from '../contract/errors.ts';
import type { Host } from '../contract/host.ts';
import type { InstallRef } from '../contract/install-ref.ts';
import { refusalOfEmbedded } from '../policy/capabilities.ts';

/** The operations that need a Linux host. */
type NotEmbedded = Pick<Host, 'planUpdates' | 'updateWordpress'>;

/** Refuses what the embedded host does not do. Services have asked before; this is for work that was queued on another host. */
export function createNotEmbedded(hasWordPress: (installId: string) => boolean): NotEmbedded {
  const reasonFor = ({ id }: InstallRef, capability: Capability): string =>
    refusalOfEmbedded(capability, hasWordPress(id) ? 'wordpress' : 'static');

  const refuseFor =
    (capability: Capability) =>
    async (install: InstallRef): Promise<never> => {
      throw new PermanentHostError(reasonFor(install, capability));
    };

  return {
    planUpdates: refuseFor('wordpress_updates'),
    updateWordpress: refuseFor('wordpress_updates'),
  };
}
