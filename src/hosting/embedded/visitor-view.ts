import type { ListenAddress } from '../../network/connections/inherited-sockets.ts';
import { PermanentHostError } from '../contract/errors.ts';
import { CACHE_KINDS } from '../contract/host.ts';
import type { InstallRef } from '../contract/install-ref.ts';
import { ask, probe } from '../policy/probe.ts';
import type { EmbeddedAddresses, EmbeddedHostOptions } from './host-options.ts';
import type { HostedWebsites } from './hosted-websites.ts';
import type { ServedWebsites } from './served-websites.ts';
import type { Serving } from './serving.ts';
import { requireHomePage, visitorsWarning } from './wordpress/home-page.ts';
import type { SiteFacts } from './wordpress/site.ts';

/** The websites as visitors see them, at the edge of this process or of the one that serves them. */
export interface VisitorView {
  /** Resolves once the edge serves that revision of the install's vhost file. */
  showing(install: InstallRef, revision: string, signal?: AbortSignal): Promise<void>;
  /** The same after a purge. Null: the install has no website, which rejects. */
  showingPurged(install: InstallRef, revision: string | null): Promise<void>;
  /** Shows the files that have replaced those of a website. */
  showReplaced(install: InstallRef, signal?: AbortSignal): Promise<void>;
  /** Resolves once the edge no longer serves an install that was removed. */
  showRemoved(install: InstallRef): Promise<void>;
  /** Rejects if the home page does not answer. Resolves if another process serves the website. */
  requireHomePage(install: InstallRef, facts: SiteFacts, signal?: AbortSignal): Promise<void>;
  /** What does not work; null if everything does, or if another process serves the website. */
  warning(install: InstallRef, facts: SiteFacts, signal?: AbortSignal): Promise<string | null>;
}

interface VisitorViewOptions extends Pick<EmbeddedHostOptions, 'edgeHttp' | 'siteDomain'> {
  /** Null: another process serves the websites. */
  serving: Serving | null;
  /** Null before the start, and if another process serves the websites. */
  addresses(): EmbeddedAddresses | null;
  websites: Pick<HostedWebsites, 'namesOf'>;
  served: Pick<ServedWebsites, 'purge'>;
}

export function createVisitorView(options: VisitorViewOptions): VisitorView {
  const { serving, addresses, websites, served, siteDomain } = options;
  const platformName = ({ name }: InstallRef) => `${name}.${siteDomain}`;

  /** HTTP address of the edge: this process's own, or the configured one. */
  function edgeAddress(): ListenAddress {
    if (serving === null) return options.edgeHttp;
    const own = addresses();
    if (own === null) throw new Error('the host has not been started');
    return own.edgeHttp;
  }

  async function showing(install: InstallRef, revision: string, signal?: AbortSignal): Promise<void> {
    serving?.vhosts.refresh(install.id);
    await probe(edgeAddress(), platformName(install), { installId: install.id, revision }, signal);
  }

  const namedSite = async ({ id }: InstallRef, facts: SiteFacts) => ({
    ...facts,
    names: await websites.namesOf(id),
  });

  return {
    showing,
    async showingPurged(install, revision) {
      if (revision === null) throw new PermanentHostError(`there is no website ${install.name} on this host`);
      await showing(install, revision);
    },
    async showReplaced(install, signal) {
      const revision = await served.purge(install.id, CACHE_KINDS);
      if (revision !== null) await showing(install, revision, signal);
    },
    async showRemoved(install) {
      if (serving !== null) serving.vhosts.refresh(install.id);
      // Asking makes it refresh. An edge that does not answer serves nothing either.
      else await ask(edgeAddress(), platformName(install), { installId: install.id, revision: 'removed' });
    },
    async requireHomePage(install, facts, signal) {
      const at = addresses();
      if (at !== null) await requireHomePage(await namedSite(install, facts), at, signal);
    },
    async warning(install, facts, signal) {
      const at = addresses();
      return at && visitorsWarning(await namedSite(install, facts), at, signal);
    },
  };
}
