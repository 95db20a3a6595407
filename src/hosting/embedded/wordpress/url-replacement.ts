import { join } from 'node:path';
import type { Logger } from 'pino';
import { PermanentHostError } from '../../contract/errors.ts';
import type { InstallRef } from '../../contract/install-ref.ts';
import type { Programs } from '../../runtime/runtime.ts';
import {
  inRestoredDatabase,
  replaceUrls,
  type UrlChange,
  type UrlPorts,
  UrlsNotReplacedError,
} from '../../websites/urls/replace-urls.ts';
import type { Layout, WebsiteFolders } from '../host-folder/layout.ts';
import { requirePlainFolder } from '../host-folder/plain-folder.ts';
import { formerHosts, noteAddresses, notedAddresses } from './noted-addresses.ts';
import { PRIVATE, type SiteFacts } from './site.ts';

/** Changes the addresses in the database of a website after its main name changed, or after it was copied. */
export interface UrlReplacement {
  /** Whether the database names other addresses than the present one. */
  hasFormerUrls(installId: string, facts: SiteFacts): Promise<boolean>;
  /** See `Host.replaceUrls`. */
  replaceUrls(install: InstallRef, facts: SiteFacts, signal?: AbortSignal): Promise<void>;
  /**
   * Does the same in restored folders before they replace the website's own, so that a failure changes nothing. No PHP uses them
   * afterwards. `isCopy`: the backup is of another install, so all URLs get the scheme of this one.
   *
   * @throws RefusedRestoreError if the database cannot be changed
   */
  replaceRestoredUrls(
    restored: WebsiteFolders & { install: InstallRef; isCopy: boolean },
    facts: SiteFacts,
    signal?: AbortSignal,
  ): Promise<void>;
  /** The address of a website as its URLs get it; with `keepsScheme`, those with HTTPS keep theirs. */
  addressOf(facts: Pick<SiteFacts, 'origin'>, options?: { keepsScheme?: boolean }): UrlAddress;
}

export type UrlAddress = Omit<UrlChange, 'from'>;

export interface UrlReplacementOptions {
  layout: Pick<Layout, 'filesOf'>;
  programsOf(installId: string, facts: SiteFacts): Programs;
  /** Runs `work` with the programs of a website in other folders, whose process ends afterwards. */
  inFolders<Result>(
    folders: WebsiteFolders,
    facts: SiteFacts,
    work: (programs: Programs) => Promise<Result>,
  ): Promise<Result>;
  /** Of this host now. */
  ports(): UrlPorts;
  log: Logger;
}

export function createUrlReplacement(options: UrlReplacementOptions): UrlReplacement {
  const { layout, programsOf, inFolders, log } = options;

  /** @throws if the website has something else in its place */
  async function privateIn(files: string): Promise<string> {
    const folder = join(files, PRIVATE);
    await requirePlainFolder(folder);
    return folder;
  }

  const formerIn = async (files: string, origin: string) =>
    formerHosts(await notedAddresses(await privateIn(files)), origin);

  const noteIn = async (files: string, origin: string) => noteAddresses(await privateIn(files), [origin]);

  function addressOf({ origin }: Pick<SiteFacts, 'origin'>, { keepsScheme = false } = {}): UrlAddress {
    const { protocol, hostname, port } = new URL(origin);
    const scheme = protocol === 'https:' ? 'https' : 'http';
    const ports = { ...options.ports(), [scheme]: port };
    return { to: hostname, scheme: keepsScheme && scheme === 'http' ? null : scheme, ports };
  }

  async function replace(
    install: InstallRef,
    change: UrlChange,
    programs: Programs,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const rows = await replaceUrls(programs, change, signal);
    if (rows !== null) log.info({ install: install.id, ...change, rows }, 'replaced URLs');
  }

  return {
    addressOf,

    hasFormerUrls: async (installId, { origin }) =>
      (await formerIn(layout.filesOf(installId), origin)).length > 0,

    async replaceUrls(install, facts, signal) {
      const files = layout.filesOf(install.id);
      const from = await formerIn(files, facts.origin);
      const change = { from, ...addressOf(facts, { keepsScheme: true }) };
      try {
        if (from.length > 0) await replace(install, change, programsOf(install.id, facts), signal);
      } catch (error) {
        if (!(error instanceof UrlsNotReplacedError)) throw error;
        // Repeating it with each later change of the website would let those fail.
        await noteIn(files, facts.origin);
        throw new PermanentHostError(error.message, { cause: error });
      }
      await noteIn(files, facts.origin);
    },

    async replaceRestoredUrls({ install, isCopy, ...folders }, facts, signal) {
      const { files } = folders;
      const from = await formerIn(files, facts.origin);
      const change = { from, ...addressOf(facts, { keepsScheme: !isCopy }) };
      if (from.length > 0) {
        await inFolders(folders, facts, (programs) =>
          inRestoredDatabase(replace(install, change, programs, signal)),
        );
      }
      await noteIn(files, facts.origin);
    },
  };
}
