import { join } from 'node:path';
import type { Logger } from 'pino';
import { MINUTE_MS } from '../../../lib/durations.ts';
import { hasCode } from '../../../lib/error-code.ts';
import { messageOf } from '../../../lib/error-message.ts';
import { isFullDisk } from '../../../lib/full-disk.ts';
import { PermanentHostError, RefusedRestoreError } from '../../contract/errors.ts';
import type { InstallRef } from '../../contract/install-ref.ts';
import type { LibraryScript } from '../../runtime/wasm/library-script.ts';
import { PhpFailure } from '../../runtime/wasm/php-sites.ts';
import type { Layout, WebsiteFolders } from '../host-folder/layout.ts';
import { requirePlainFolder } from '../host-folder/plain-folder.ts';
import { NAMES_FILE, parseNames, unicodeName, writeHostNames } from './host-names-file.ts';
import { PRIVATE, type SiteFacts } from './site.ts';
import { readWebsiteText } from './website-text.ts';

/** Changes the addresses in the database of a website after its main name changed, or after it was copied. */
export interface UrlReplacement {
  /** Whether the database names other addresses than the present one. */
  hasFormerUrls(installId: string, facts: SiteFacts): Promise<boolean>;
  /** See `Host.replaceUrls`. */
  replaceUrls(install: InstallRef, facts: SiteFacts, signal?: AbortSignal): Promise<void>;
  /**
   * Does the same in restored folders before they replace the website's own, so that a failure changes nothing. No PHP uses them
   * afterwards.
   *
   * @throws RefusedRestoreError if the database cannot be changed
   */
  replaceRestoredUrls(
    restored: WebsiteFolders & { install: InstallRef },
    facts: SiteFacts,
    signal?: AbortSignal,
  ): Promise<void>;
}

export interface UrlReplacementOptions {
  layout: Layout;
  /** Runs one of our scripts in the website's own PHP. Returns its output. */
  run(installId: string, facts: SiteFacts, script: LibraryScript, signal?: AbortSignal): Promise<string>;
  /** Does the same in other folders, with a process that ends afterwards. */
  runIn(
    folders: WebsiteFolders,
    facts: SiteFacts,
    script: LibraryScript,
    signal?: AbortSignal,
  ): Promise<string>;
  log: Logger;
}

/** Of the file with the host names: thousands of them. */
const MOST_NAMES_BYTES = 256 * 1024;
const REPLACE_MS = 30 * MINUTE_MS;
const NOT_ADDRESSED =
  'The addresses in the copied database could not be changed to those of this website, so nothing was replaced.';

export function createUrlReplacement({ layout, run, runIn, log }: UrlReplacementOptions): UrlReplacement {
  /** @throws if the website has something else in its place */
  async function privateIn(files: string): Promise<string> {
    const folder = join(files, PRIVATE);
    await requirePlainFolder(folder);
    return folder;
  }

  /** The former names in the database of a website. */
  async function formerNames(files: string, present: string): Promise<string[]> {
    const file = join(await privateIn(files), NAMES_FILE);
    try {
      const names = parseNames(await readWebsiteText(file, MOST_NAMES_BYTES));
      return names.filter((name) => name !== present);
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return [];
      throw error;
    }
  }

  const noteName = async (files: string, host: string) => writeHostNames(await privateIn(files), [host]);

  /** Runs `work` with the script that replaces `names`. */
  async function replace(
    install: InstallRef,
    names: readonly string[],
    { origin }: SiteFacts,
    work: (script: LibraryScript) => Promise<string>,
  ): Promise<void> {
    const { host, protocol } = new URL(origin);
    const from = [...new Set(names.flatMap((name) => [name, unicodeName(name)]))];
    const args = [protocol.slice(0, -1), host, ...from];
    const rows = await work({ script: 'replace-urls.php', args, timeoutMs: REPLACE_MS });
    log.info({ install: install.id, from, to: host, rows }, 'replaced URLs');
  }

  return {
    hasFormerUrls: async (installId, { origin }) =>
      (await formerNames(layout.filesOf(installId), new URL(origin).host)).length > 0,

    async replaceUrls(install, facts, signal) {
      const files = layout.filesOf(install.id);
      const { host } = new URL(facts.origin);
      const names = await formerNames(files, host);
      try {
        if (names.length > 0) {
          await replace(install, names, facts, (script) => run(install.id, facts, script, signal));
        }
      } catch (error) {
        signal?.throwIfAborted();
        if (isPassing(error)) throw error;
        // Repeating it with each later change of the website would let those fail.
        await noteName(files, host);
        throw new PermanentHostError(
          `The URLs of ${names.join(', ')} in the database could not be replaced: ${messageOf(error)}`,
          { cause: error },
        );
      }
      await noteName(files, host);
    },

    async replaceRestoredUrls({ install, ...folders }, facts, signal) {
      const { files } = folders;
      const { host } = new URL(facts.origin);
      const names = await formerNames(files, host);
      try {
        if (names.length > 0) {
          await replace(install, names, facts, (script) => runIn(folders, facts, script, signal));
        }
      } catch (error) {
        signal?.throwIfAborted();
        if (isPassing(error)) throw error;
        throw new RefusedRestoreError(
          `The URLs of ${names.join(', ')} in the restored database could not be replaced: ${messageOf(error)}`,
          { shown: NOT_ADDRESSED, cause: error },
        );
      }
      await noteName(files, host);
    },
  };
}

/** Whether the machine is at fault: it is busy, or its disk is full. */
const isPassing = (error: unknown): boolean =>
  isFullDisk(error) || (error instanceof PhpFailure && error.reason === 'busy');
