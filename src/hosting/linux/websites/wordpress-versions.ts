import { messageOf } from '../../../lib/error-message.ts';
import { PermanentHostError } from '../../contract/host.ts';
import { findPhpRuntimes } from '../machine/php-runtimes.ts';
import type { LateStarts } from './late-starts.ts';
import type { LinuxHostParts } from './linux-host-parts.ts';

/** The versions of WordPress that websites of this host can have: each is installed once before any website gets it. */
export interface WordPressVersions {
  /** Makes the newest ready, and fetches one where there is none. What is not ready yet is tried again: present websites go on. */
  prepare(): Promise<void>;
  /**
   * Fetches one from `source`, and gives its version. Rejects with a {@link PermanentHostError} if it cannot be installed, and takes
   * it away again unless a website has it.
   */
  add(source: string | null): Promise<string>;
}

export function createWordPressVersions(
  { layout, cores, templates, compiledCores, records, log }: LinuxHostParts,
  late: LateStarts,
): WordPressVersions {
  /** New websites get the newest version: one that cannot be installed must not be it. */
  async function proveInstallable(version: string): Promise<void> {
    try {
      await templates.ensure(version);
    } catch (cause) {
      const isUsed = (await records.all()).some(({ placement }) => placement.wordpressVersion === version);
      if (!isUsed) await cores.remove(version);
      const fate = isUsed ? 'stays for the websites that have it' : 'was taken away again';
      const why = messageOf(cause);
      throw new PermanentHostError(`WordPress ${version} cannot be installed, and ${fate}: ${why}`, {
        cause,
      });
    }
  }

  /** For each PHP of this machine. Websites run without it, only their first page takes longer. */
  async function compile(wordpressVersion: string): Promise<void> {
    for (const php of await findPhpRuntimes(layout)) {
      await compiledCores.ensure(php, wordpressVersion).catch((err: unknown) => {
        log.warn({ err }, `WordPress ${wordpressVersion} could not be compiled for PHP ${php.version}`);
      });
    }
  }

  return {
    async prepare() {
      await cores.ensureAny();
      const [newest] = await cores.list();
      if (newest === undefined) return;
      await late.begin('wordpress', `WordPress ${newest} for new websites`, async () => {
        await templates.ensure(newest);
        await compile(newest);
      });
    },
    async add(source) {
      const version = await cores.add(source);
      await proveInstallable(version);
      await compile(version);
      return version;
    },
  };
}
