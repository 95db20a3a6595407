import { createFleet } from '../features/hosts/fleet.ts';
import type { HostingAddresses } from '../features/hosts/hosting-addresses.ts';
import { hostQuestions } from '../features/provisioning/host-questions.ts';
import type { MovingFleet } from '../features/provisioning/moves/run-move.ts';
import { requireNameFree } from '../features/provisioning/orphans.ts';
import { createReconciling } from '../features/provisioning/reconciling.ts';
import type { FetchingHost } from '../features/updates/fetch-releases.ts';
import type { AnsweringHost } from '../features/usage/job-kinds.ts';
import type {
  PreparedWordPress,
  WordPressHere,
  WordPressLacking,
} from '../hosting/contract/embedded-wordpress.ts';
import type { Host } from '../hosting/contract/host.ts';
import type { ReportProgress } from '../hosting/contract/progress.ts';
import { connectHost } from '../hosting/remote/client.ts';
import { HOUR_MS } from '../lib/durations.ts';
import type { Platform } from '../platform/platform.ts';

/** The websites, on any kind of host. */
export interface Websites {
  host: Host;
  /** The host of an install, which holds its backups. */
  hostOf(installId: string): Promise<Host>;
  /** The machines between which installs move; left out without a fleet. */
  moving?: MovingFleet;
  /** Null while unknown, and in processes that do not serve them. */
  addresses(): HostingAddresses | null;
  /** Whether the host of this process runs WordPress; left out by a fleet. */
  wordpressHere?(): Promise<WordPressHere>;
  /** Makes WordPress ready for new websites on the host of this process; left out by a fleet. */
  prepareWordPress?(report?: ReportProgress): Promise<PreparedWordPress | WordPressLacking>;
  /** The hosts that fetch releases of WordPress, as far as they answer now. */
  fetching(): Promise<FetchingHost[]>;
  /** The hosts that can be asked for usage and figures now. */
  answering(): Promise<AnsweringHost[]>;
  /**
   * Reconciles the hosts with the database: now, every hour, and when a host answers again. Once it resolves, a host in
   * this process serves no unknown website.
   */
  startReconciling(): Promise<{ stop(): Promise<void> }>;
}

export const RECONCILE_MS = HOUR_MS;

/** Websites on Linux hosts, in other processes and on other machines. */
export function createLinuxFleet(platform: Platform): Websites {
  const fleet = createFleet(platform, {
    connect: (target) => connectHost(target, {}, platform.tracing?.callHost),
    questionsOf: (hostId) => hostQuestions(platform, hostId),
    requireNameFree: (hostId, install) => requireNameFree(platform.database.reader, hostId, install),
  });
  const { edgeHttp, edgeHttps, sshListen } = platform.config;
  return {
    host: fleet,
    hostOf: fleet.machineOf,
    moving: {
      machine: fleet.machine,
      forward: (installId, at, to) => fleet.edges.forward(installId, { at, to }),
      announce: fleet.edges.announce,
    },
    fetching: () =>
      Promise.all(fleet.met().map(async (hostId) => ({ hostId, machine: await fleet.machine(hostId) }))),
    answering: () =>
      Promise.all(fleet.met().map(async (id) => ({ host: id, hostId: id, source: await fleet.machine(id) }))),
    async startReconciling() {
      const reconciling = createReconciling(platform);
      const reconcile = async (hostId: string, isBack: boolean) => {
        await reconciling.run(hostId, await fleet.machine(hostId), { isBack });
        // A new host belongs to the platform from now on.
        fleet.edges.claimed(hostId);
      };
      const logged = (hostId: string, isBack: boolean) =>
        void reconcile(hostId, isBack).catch((err: unknown) =>
          platform.log.warn({ err, host: hostId }, 'could not reconcile a host with the database'),
        );
      const edges = fleet.edges.start();
      const unsubscribe = fleet.onMet((hostId) => logged(hostId, true));
      const reconcileAll = () => {
        for (const hostId of fleet.met()) logged(hostId, false);
      };
      const timer = setInterval(reconcileAll, RECONCILE_MS).unref();
      return {
        async stop() {
          clearInterval(timer);
          unsubscribe();
          await edges.stop();
          await reconciling.stop();
        },
      };
    },
    addresses() {
      const ports = fleet.ports();
      if (ports === null) return null;
      return {
        edgeHttp: { host: edgeHttp.host, port: ports.http },
        edgeHttps: { host: edgeHttps.host, port: ports.https },
        ssh: { host: sshListen.host, port: ports.ssh },
      };
    },
  };
}
