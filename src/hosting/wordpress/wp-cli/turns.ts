import { serializeByKey } from '../../../lib/concurrency.ts';
import type { WpCliOutcome } from '../../contract/wp-cli.ts';

const REPLACED =
  'The website is being replaced by a restore, a copy or an import. Run the command again when that has ended.';

/** Commands of WP-CLI take turns: one of each website runs at a time. */
export interface WpCliTurns {
  run(installId: string, work: () => Promise<WpCliOutcome>): Promise<WpCliOutcome>;
  /** Replaces a website: waits for its command to end, and refuses others until then. */
  whileRefused<Result>(installId: string, work: () => Promise<Result>): Promise<Result>;
}

export function createWpCliTurns(): WpCliTurns {
  const serially = serializeByKey();
  const replaced = new Set<string>();
  return {
    async run(installId, work) {
      if (replaced.has(installId)) return { refused: 'website', reason: REPLACED };
      return serially(installId, work);
    },
    async whileRefused(installId, work) {
      replaced.add(installId);
      try {
        return await serially(installId, work);
      } finally {
        replaced.delete(installId);
      }
    },
  };
}
