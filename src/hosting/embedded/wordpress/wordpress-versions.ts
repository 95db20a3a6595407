import type { Logger } from 'pino';
import { PermanentHostError } from '../../contract/errors.ts';
import type { ReportProgress } from '../../contract/progress.ts';
import { compareVersions } from '../../policy/wordpress-version.ts';
import type { WordPressCores } from '../../wordpress/cores.ts';

/** Which WordPress a website gets. */
export interface WordPressVersions {
  /**
   * The version for a new website: `wanted`, or the newest. Fetches what this host does not have; if it cannot have `wanted`, the newest.
   * Rejects with a {@link PermanentHostError} that says what to do if this host has no WordPress.
   */
  versionFor(wanted: string | null, report?: ReportProgress): Promise<string>;
  /**
   * The version for a present website, whose database no older WordPress may use: `present`. Fetches it if needed. Only a host whose
   * WordPress is not the official download may give a newer one instead. Rejects, so that the caller tries again, if it has neither.
   */
  versionForPresent(present: string, report?: ReportProgress): Promise<string>;
}

/** The step of an operation that downloads WordPress. */
const WORDPRESS_STEP = 'wordpress';

export function createWordPressVersions(cores: WordPressCores, log: Logger): WordPressVersions {
  async function versionFor(wanted: string | null, report?: ReportProgress): Promise<string> {
    const held = await cores.list();
    const [newest] = held;
    if (wanted === null && newest !== undefined) return newest;
    if (wanted !== null && held.includes(wanted)) return wanted;
    if (wanted !== null && cores.isOfficial) {
      try {
        await cores.addRelease(wanted);
        return wanted;
      } catch (err) {
        log.warn(
          { err, version: wanted },
          `WordPress ${wanted} cannot be downloaded, so the website gets another version`,
        );
      }
    }
    return newest ?? addAny(report);
  }

  async function versionForPresent(present: string, report?: ReportProgress): Promise<string> {
    if ((await cores.list()).includes(present)) return present;
    try {
      if (cores.isOfficial) {
        await cores.addRelease(present);
        return present;
      }
      const newest = await versionFor(null, report);
      if (compareVersions(newest, present) >= 0) return newest;
    } catch (cause) {
      throw new Error(`WordPress ${present}, which the website has, cannot be downloaded`, { cause });
    }
    throw new Error(`this host lacks WordPress ${present}, which the website has, or a newer one`);
  }

  async function addAny(report: ReportProgress | undefined): Promise<string> {
    try {
      await cores.ensureAny((done, total) => report?.(done, total, WORDPRESS_STEP));
    } catch (cause) {
      if (cause instanceof PermanentHostError) throw cause;
      throw new PermanentHostError(
        'WordPress cannot be downloaded. Connect this machine to the Internet, or set HOMEPORT_WORDPRESS_SOURCE to a folder or an archive with WordPress; then create the install again.',
        { cause },
      );
    }
    const [added] = await cores.list();
    if (added === undefined) throw new Error('this host has no WordPress');
    return added;
  }

  return { versionFor, versionForPresent };
}
