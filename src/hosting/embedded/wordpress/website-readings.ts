import type { Logger } from 'pino';
import { BrokenWebsiteError } from '../../contract/errors.ts';
import { pageOf } from '../../contract/inventory.ts';
import type { WordPressMarks, WordPressReader } from '../../contract/wordpress.ts';
import { wasmFiles } from '../../runtime/wasm/wasm-runtime.ts';
import { readWebsite } from '../../websites/reading/read-website.ts';
import { wordpressMark } from '../../websites/reading/wordpress-mark.ts';
import type { Layout } from '../host-folder/layout.ts';
import type { EmbeddedWordPress, WordPressWebsite } from './embedded-wordpress.ts';
import { runtimeFoldersOf } from './site.ts';

interface WebsiteReadingsOptions {
  layout: Layout;
  /** Null without PHP on this machine. */
  wordpress: Pick<EmbeddedWordPress, 'php' | 'runtimeOf'> | null;
  /** Ids of all installs. */
  installs(): Promise<string[]>;
  /** Null if the install has no website, or one without WordPress. */
  websiteOf(installId: string): WordPressWebsite | null;
  /** The reason why an install has nothing to read. */
  refusal(hasWordPress: boolean): string;
  log: Logger;
}

/** Reads the WordPress of this host's websites. */
export function createWebsiteReadings(options: WebsiteReadingsOptions): WordPressReader & WordPressMarks {
  const { layout, wordpress, installs, websiteOf, refusal, log } = options;
  return {
    async readWordPress({ id }, { check }, signal) {
      const website = websiteOf(id);
      if (website === null || wordpress === null) {
        return { refused: 'website', reason: refusal(website !== null), mark: null };
      }
      if (wordpress.php.isHeld(id)) throw new Error('the website is being restored');
      const { version } = website.facts;
      try {
        return await readWebsite(
          { id, version, runtime: wordpress.runtimeOf(website) },
          { check, log, signal },
        );
      } catch (error) {
        if (!(error instanceof BrokenWebsiteError)) throw error;
        return { refused: 'website', reason: error.message, mark: null };
      }
    },

    async wordpressMarks(after) {
      const found = await Promise.all(
        pageOf(await installs(), after).map(async (installId) => {
          const website = websiteOf(installId);
          if (website === null) return [];
          const files = wasmFiles(runtimeFoldersOf(layout, installId));
          return [{ installId, mark: await wordpressMark(files, website.facts.version) }];
        }),
      );
      return found.flat();
    },
  };
}
