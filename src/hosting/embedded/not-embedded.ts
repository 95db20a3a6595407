import { PermanentHostError, RefusedImportError } from '../contract/errors.ts';
import type { Host } from '../contract/host.ts';
import type { InstallRef } from '../contract/install-ref.ts';
import type { WordPressMarks } from '../contract/wordpress.ts';
import { NO_DATABASE, NO_LOGS, NOT_EMBEDDED, STATIC_ONLY } from '../policy/static-only.ts';

/** What needs a Linux host. */
type NotEmbedded = Pick<
  Host & WordPressMarks,
  | 'createDatabaseLink'
  | 'readWordPress'
  | 'wordpressMarks'
  | 'planUpdates'
  | 'updateWordpress'
  | 'changeItem'
  | 'readLog'
  | 'importWebsite'
  | 'lastImport'
  | 'runWpCli'
>;

/** Refuses what the embedded host does not do, with the reason. */
export function createNotEmbedded(hasWordPress: (installId: string) => boolean): NotEmbedded {
  const reasonFor = ({ id }: InstallRef, ofFiles: { reason: string }): string =>
    hasWordPress(id) ? NOT_EMBEDDED : ofFiles.reason;

  async function refuseFor(install: InstallRef): Promise<never> {
    throw new PermanentHostError(reasonFor(install, STATIC_ONLY));
  }

  return {
    createDatabaseLink: async (install) => ({ ...NO_DATABASE, reason: reasonFor(install, NO_DATABASE) }),
    async readWordPress(install) {
      return { refused: 'website', reason: reasonFor(install, STATIC_ONLY), mark: null };
    },
    wordpressMarks: async () => [],
    planUpdates: refuseFor,
    updateWordpress: refuseFor,
    changeItem: refuseFor,
    readLog: async (install) => ({ ...NO_LOGS, reason: reasonFor(install, NO_LOGS) }),
    async importWebsite(install) {
      throw new RefusedImportError(reasonFor(install, STATIC_ONLY));
    },
    lastImport: async () => null,
    runWpCli: async (install) => ({ ...STATIC_ONLY, reason: reasonFor(install, STATIC_ONLY) }),
  };
}
