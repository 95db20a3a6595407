import type { Clock } from '../../../lib/clock.ts';
import { serializeByKey } from '../../../lib/concurrency.ts';
import type { WordPressChanger } from '../../contract/wordpress-changes.ts';
import type { WordPressUpdater } from '../../contract/wordpress-updates.ts';
import type { ChangeableWebsites } from './changeable-website.ts';
import { createItemChanges } from './item-changes.ts';
import { createWordPressUpdates } from './wordpress-updates.ts';

/**
 * Changes and updates websites of a host, each website one change after the other. A change goes on when its job has ended, and the next
 * attempt would take it for an interrupted one. Only the look for updates runs beside other work.
 */
export function createWebsiteChanges(
  options: ChangeableWebsites & { clock: Clock },
): WordPressChanger & WordPressUpdater {
  const serially = serializeByKey();
  const changes = createItemChanges(options);
  const updates = createWordPressUpdates(options);
  return {
    changeItem: (install, ...order) => serially(install.id, () => changes.changeItem(install, ...order)),
    planUpdates: updates.planUpdates,
    updateWordpress: (install, ...order) =>
      serially(install.id, () => updates.updateWordpress(install, ...order)),
  };
}
