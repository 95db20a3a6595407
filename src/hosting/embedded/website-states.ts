import { stat } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { untilAborted } from '../../lib/concurrency.ts';
import { ifThere } from '../../lib/if-there.ts';
import { MissingWebsiteError, PermanentHostError } from '../contract/errors.ts';
import type { Host } from '../contract/host.ts';
import type { InstallRef } from '../contract/install-ref.ts';
import type { AppliedInstall, InstallState } from '../contract/install-state.ts';
import type { ReportProgress } from '../contract/progress.ts';
import type { ChangeableWebsite } from '../websites/changes/changeable-website.ts';
import type { Layout } from './host-folder/layout.ts';
import type { ServedWordPress, VhostFile } from './host-folder/vhost.ts';
import type { EmbeddedAddresses, EmbeddedHostOptions } from './host-options.ts';
import type { HostedWebsites } from './hosted-websites.ts';
import type { EmbeddedInventory } from './inventory.ts';
import type { ServedWebsites } from './served-websites.ts';
import type { Snapshots } from './snapshots/snapshots.ts';
import type { WebsiteFiles } from './website-files.ts';
import type { WebsiteLogs } from './website-logs.ts';
import type { EmbeddedWordPress } from './wordpress/embedded-wordpress.ts';
import { waitForFetch } from './wordpress/fetch-wait.ts';
import { hasNothing, missingData } from './wordpress/missing-data.ts';
import { isSameButPort, originOf } from './wordpress/origin.ts';
import { phpOf, tryPhpLimits } from './wordpress/php-limits-change.ts';

export const NO_PHP =
  'This machine cannot run WordPress, so it serves static websites only. The log says why. Create the install with the runtime "static".';

interface WebsiteStatesOptions {
  /** The configured ones. */
  edge: Pick<EmbeddedHostOptions, 'edgeHttp' | 'edgeHttps'>;
  /** Null before the start, and if this process does not serve the websites. */
  addresses(): EmbeddedAddresses | null;
  layout: Layout;
  websites: HostedWebsites;
  /** Null: this process runs no PHP. */
  wordpress: EmbeddedWordPress | null;
  served: ServedWebsites;
  files: WebsiteFiles;
  snapshots: Pick<Snapshots, 'recover'>;
  inventory: Pick<EmbeddedInventory, 'takeBack'>;
  logs: Pick<WebsiteLogs, 'provide'>;
  /** Serializes work on each vhost file. */
  serially<Result>(installId: string, work: () => Promise<Result>): Promise<Result>;
  /** Resolves once the edge serves that revision of the install's vhost file. */
  showing(install: InstallRef, revision: string, signal?: AbortSignal): Promise<void>;
  recordWordPress(install: InstallRef, version: string): Promise<void>;
  changeable(install: InstallRef): Promise<ChangeableWebsite>;
}

/** Brings the websites of this host into the states that the platform asks for. */
export function createWebsiteStates(options: WebsiteStatesOptions): Pick<Host, 'apply' | 'makeForRestore'> {
  const { edge, layout, websites, wordpress, served, files, snapshots, serially } = options;

  /** Switches a website with its database to another WordPress of this host. Without all its data, it stays as it is. */
  async function switchWordPress(install: InstallRef, version: string): Promise<void> {
    const website = websites.usableWebsite(install.id);
    if (wordpress === null || website === null || website.facts.version === version) return;
    if (!(await wordpress.versions()).includes(version) || missingData(layout, install.id).length > 0) return;
    await wordpress.switchCore(website, version, (to) => options.recordWordPress(install, to));
  }

  /** The WordPress that the website is to have; null if it consists of files. Fetches it if needed. */
  async function wordpressFor(
    state: InstallState,
    report: ReportProgress | undefined,
    signal: AbortSignal | undefined,
  ): Promise<ServedWordPress | null> {
    const present = await served.read(state.id);
    if ((state.runtime ?? 'static') === 'static' || (present && present.wordpress === undefined)) return null;
    if (wordpress === null) throw new PermanentHostError(NO_PHP);
    if (state.wordpressVersion !== null) await switchWordPress(state, state.wordpressVersion);
    const wanted = websites.usableWebsite(state.id)?.facts.version ?? state.wordpressVersion;
    const exists = (await ifThere(stat(layout.filesOf(state.id)))) !== null;
    const { versionFor, versionForPresent } = wordpress.sites;
    const fetching =
      exists && wanted !== null ? versionForPresent(wanted, report) : versionFor(wanted, report);
    return {
      version: await waitForFetch(untilAborted(fetching, signal)),
      origin: originFor(state, present?.wordpress?.origin),
      ...(state.mail ? { mailsPerHour: state.mail.perHour } : {}),
      ...phpOf(state),
    };
  }

  /** A port that the system chose, as for a command beside the stopped server, says nothing about the visitors' address. */
  function originFor(state: InstallState, present: string | undefined): string {
    const origin = originOf(state, options.addresses() ?? edge);
    const isChosen = edge.edgeHttp.port === 0 || edge.edgeHttps.port === 0;
    return isChosen && present !== undefined && isSameButPort(origin, present) ? present : origin;
  }

  /** Without its files, a static website would become an empty one, and one with WordPress a new one. A known one is closed to visitors. */
  async function requireFiles({ id, name }: InstallRef, present: VhostFile | null): Promise<void> {
    const isThere = async () => (await ifThere(stat(layout.filesOf(id)))) !== null;
    if (present?.wordpress !== undefined || (await isThere())) return;
    // A restore that was killed may have moved them.
    await snapshots.recover(id);
    if (!(await isThere())) throw new MissingWebsiteError(name);
  }

  /** Brings the website into this state. */
  async function put(
    state: InstallState,
    signal: AbortSignal | undefined,
    report: ReportProgress | undefined,
    { isEmpty = false }: { isEmpty?: boolean } = {},
  ): Promise<AppliedInstall> {
    const present = await served.read(state.id);
    if (state.isMade && !isEmpty) await requireFiles(state, present);
    const wanted = await wordpressFor(state, report, signal);
    const facts = wanted && { ...wanted, passKey: state.rules?.password?.passKey ?? null };
    const revision = await serially(state.id, async () => {
      await options.logs.provide(state.id);
      const write = await served.plan(state, wanted);
      await snapshots.recover(state.id);
      // Without its files, it is closed to visitors.
      if (facts === null && !isEmpty) await files.provide(state);
      else if (facts !== null && !isEmpty) {
        const isNew = present === null || (state.isMade === false && hasNothing(layout, state.id));
        await wordpress?.sites.provide(state, facts, isNew, signal);
      }
      const revision = await write();
      await options.inventory.takeBack(state.id);
      return revision;
    });
    await options.showing(state, revision, signal);
    if (facts === null || wordpress === null) {
      return { phpVersion: null, wordpressVersion: null, stableIps: null };
    }
    const here = await wordpress.here();
    return {
      phpVersion: 'version' in here ? here.version : null,
      wordpressVersion: facts.version,
      stableIps: null,
      hasFormerUrls:
        missingData(layout, state.id).length === 0 && (await wordpress.sites.hasFormerUrls(state.id, facts)),
    };
  }

  return {
    async makeForRestore(state, signal) {
      signal?.throwIfAborted();
      if (websites.isKnown(state.id)) return;
      await put(state, signal, undefined, { isEmpty: true });
    },

    async apply(state, signal, report) {
      signal?.throwIfAborted();
      const present = websites.usableWebsite(state.id);
      const { php = null } = phpOf(state);
      if (present === null || wordpress === null || isDeepStrictEqual(present.facts.php ?? null, php)) {
        return put(state, signal, report);
      }
      const { withLimits } = wordpress.sites;
      return tryPhpLimits(await options.changeable(state), {
        name: state.name,
        withLimits: (work) => withLimits(state.id, php, work),
        keep: () => put(state, signal, report),
        signal,
      });
    },
  };
}
