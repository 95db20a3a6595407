import type { Host } from './hosting/host.ts';
import type { HostingAddresses } from './hosting/hosting-addresses.ts';
import { connectHost } from './hosting/remote/client.ts';
import type { Platform } from './platform.ts';
import { createFleet } from './resources/hosts/fleet.ts';
import { hostQuestions } from './resources/hosts/questions.ts';

/** The websites, whatever runs them. */
export interface Websites {
  host: Host;
  /** The machine that an install is on, where alone a backup of it may lie. */
  hostOf(installId: string): Promise<Host>;
  /** Null while nothing is known of them, and where others than this process listen. */
  addresses(): HostingAddresses | null;
}

/** Websites on Linux hosts, in processes and on machines of their own. */
export function createLinuxFleet(platform: Platform): Websites {
  const fleet = createFleet(platform, {
    connect: connectHost,
    questionsOf: (hostId) => hostQuestions(platform, hostId),
  });
  const { edgeHttp, edgeHttps, sshListen } = platform.config;
  return {
    host: fleet,
    hostOf: fleet.machineOf,
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
